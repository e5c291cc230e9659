"""What calls of language models are counted and limited by: the run that they are for, or an account.

A finalize belongs to its graph and to no run, so each has an account of its own, where a run has its record: the
next finalize begins with a new budget, and finds what was answered before. Questions have one a day.
"""

import shlex
from collections.abc import Mapping
from datetime import date
from typing import cast

import redis

from pipeline.models import Usage
from scheduler.keys import read_name, spell_name
from scheduler.records import Budget
from scheduler.scripts import reaching_ledger

_FINALIZE, _QUESTIONS = "finalize", "questions"
_SPENT = ["llm_calls", "llm_tokens_in", "llm_tokens_out", "llm_unpriced", "llm_usd"]
USD_SETTING, TOKENS_SETTING = "GRAPHMILL_JUDGE_MAX_USD", "GRAPHMILL_JUDGE_MAX_TOKENS"
DAILY_USD, DAILY_TOKENS = "GRAPHMILL_ANSWERS_MAX_USD", "GRAPHMILL_ANSWERS_MAX_TOKENS"


class Accounts:
    """The accounts of finalizes and of questions; a run's is its own record.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        keep_seconds: An account is forgotten so long after it was last opened.
    """

    def __init__(self, client: "redis.Redis", *, keep_seconds: float) -> None:
        self._redis = client
        self._keep_ms = int(keep_seconds * 1000)

    @reaching_ledger()
    def open(self, graph: str, number: int, budget: Budget) -> str:
        """Give the name of a finalize's account, which may spend so much in all.

        Raises `LedgerUnavailable`.
        """
        return self._open(f"{_FINALIZE}:{spell_name(graph)}:{number}", budget, {"graph": graph})

    @reaching_ledger()
    def open_questions(self, day: date, budget: Budget) -> str:
        """Give the name of the account of all questions of a day, which may spend so much in all.

        Raises `LedgerUnavailable`.
        """
        return self._open(f"{_QUESTIONS}:{day.isoformat()}", budget, {})

    def _open(self, name: str, budget: Budget, more: Mapping[str, str]) -> str:
        pipe = self._redis.pipeline(transaction=True)
        pipe.hdel(_key(name), "max_usd", "max_tokens")
        for field, value in {"account": name, **more, **budget.as_fields()}.items():
            pipe.hset(_key(name), field, value)
        pipe.pexpire(_key(name), self._keep_ms)
        pipe.execute()
        return name

    @reaching_ledger()
    def charged(self, name: str) -> Usage:
        """Tell what the calls of an account came to so far; raises `LedgerUnavailable`."""
        read = cast("list[str | None]", self._redis.hmget(_key(name), _SPENT))
        calls, tokens_in, tokens_out, unpriced = (int(value or 0) for value in read[:4])
        return Usage(calls, tokens_in, tokens_out, None if unpriced else float(read[4] or 0))


def spell_spent(account: str, kind: str, spent: float, limit: float) -> str:
    """Say that a budget is spent, and how to go on. `kind` is `usd` or `tokens`."""
    usd = kind == "usd"
    what = f"${spent:,.4f} of ${limit:,.2f}" if usd else f"{int(spent):,} of {int(limit):,} tokens"
    if finalize := _read_finalize(account):
        graph, number = finalize
        return (
            f"The budget of finalize {number} of graph {graph!r} is spent: {what}. What was answered is kept, and "
            f"nothing was merged. To go on with the same budget anew: graphmill finalize --graph {shlex.quote(graph)} "
            f"(a larger one: {USD_SETTING if usd else TOKENS_SETTING}, on the workers)"
        )
    if account.startswith(f"{_QUESTIONS}:"):
        return (
            f"The budget of today's questions is spent: {what}. It begins anew tomorrow (UTC); a larger one: "
            f"{DAILY_USD if usd else DAILY_TOKENS}, on the workers"
        )
    return (
        f"The budget of run {account} is spent: {what}. What was answered is kept. "
        f"To go on: graphmill resume {account} {'--max-usd' if usd else '--max-tokens'} N, with a larger N"
    )


def spell_unpriced(account: str, model: str) -> str:
    """Say that a budget in money cannot be kept, and what to set."""
    if finalize := _read_finalize(account):
        graph, number = finalize
        whose, usd, tokens = f"finalize {number} of graph {graph!r}", USD_SETTING, TOKENS_SETTING
    elif account.startswith(f"{_QUESTIONS}:"):
        whose, usd, tokens = "a day's questions", DAILY_USD, DAILY_TOKENS
    else:
        whose, usd, tokens = "its run", "--max-usd", "--max-tokens"
    return (
        f"The price of {model} is unknown, so {whose} cannot keep to {usd}. Set "
        "GRAPHMILL_CALLS__USD_PER_MILLION_IN and GRAPHMILL_CALLS__USD_PER_MILLION_OUT, "
        f"or limit it by {tokens} in place of {usd}"
    )


def _key(name: str) -> str:
    return f"gm:run:{name}"


def _read_finalize(account: str) -> tuple[str, int] | None:
    """Give graph and number of a finalize's account; None for a run, as a run's name has no colon."""
    kind, *place = account.split(":")
    return (read_name(place[0]), int(place[1])) if kind == _FINALIZE and place else None
