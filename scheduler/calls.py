"""Leave to call language models, over all workers: rate, load, broken services, and what a run may cost.

Each decision is one script on the ledger's Redis, by the server's clock (`lua/call_*.lua` list the keys). A permit
lives as long as a call may take and a little more, so that a dead worker's goes by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import redis

from pipeline.config import CallConfig
from pipeline.models import Usage
from scheduler.accounts import spell_spent
from scheduler.keys import spell_name
from scheduler.scripts import Scripts, reaching_ledger

MARGIN_SECONDS = 5.0
"""How long a permit outlives the time limit of its call."""
LONGEST_STOP_SECONDS = 3600.0
"""What a service that asks for a longer pause is given."""
SOON_SECONDS = 0.03
"""When to ask again where nobody knows when there will be room."""
_BREAKING_FAILURES = 5
_PROOF_MS = 300_000
_KEEP_MS = 2 * 3600 * 1000
_LONGEST_REFUSAL = 500
_BILLION = 1_000_000_000


class Refusal(StrEnum):
    """Why there is no leave."""

    IN_FLIGHT = "in_flight"
    """As many calls are under way as may be."""
    RATE = "rate"
    """The requests or tokens of a minute are used up."""
    PROBING = "probing"
    """The model has not answered lately: its first call is under way."""
    STOPPED = "stopped"
    """The service asked to be left alone."""
    BROKEN = "broken"
    """It failed, and is tried once in a while until it answers."""
    REFUSED = "refused"
    """It has just refused a call for good: key, quota, no such model. `detail` is what it said."""
    BUDGET_WAITS = "budget_waits"
    """What is reserved for calls under way may use the run's budget up."""
    BUDGET_SPENT = "budget_spent"
    """The run's budget is spent."""
    PRICE_UNKNOWN = "price_unknown"
    """The run may cost so much money, and nobody knows what a call costs."""


class CallEnd(StrEnum):
    """What became of a call."""

    ANSWERED = "answered"
    BUSY = "busy"
    """Refused for load, or not reached; costs nothing."""
    TIMED_OUT = "timed_out"
    REFUSED = "refused"
    """Refused for good; costs nothing."""
    TOO_LONG = "too_long"
    """The prompt does not fit; costs nothing, and says nothing of the service."""
    REPHRASED = "rephrased"
    """The form of the question was refused; costs nothing, and says nothing of the service."""
    GARBLED = "garbled"
    """No answer that could be read."""
    ABANDONED = "abandoned"
    """Broken off by us."""
    UNSENT = "unsent"
    """Leave that was not used."""


_SAYS_NOTHING = frozenset({CallEnd.TOO_LONG, CallEnd.REPHRASED, CallEnd.ABANDONED, CallEnd.UNSENT})
_FREE = frozenset({CallEnd.BUSY, CallEnd.REFUSED, CallEnd.REPHRASED, CallEnd.TOO_LONG})


@dataclass(frozen=True, slots=True)
class Granted:
    """Leave for one call; `calls.report` wants it back."""

    model: str
    run: str
    permit: str
    bound: Usage
    in_flight: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Refused:
    """No leave now: why, and after how many seconds it is worth asking again."""

    reason: Refusal
    wait_seconds: float = 0.0
    detail: str = ""


class Calls:
    """Gives leave for calls of models, and takes reports of what they came to.

    Requests and tokens of a minute are counted over a sliding window that is longer than the minute by the time
    for which leave is good: whoever calls within `leave_seconds` after asking keeps the limit as the service sees it.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        minute_seconds: The minute of `requests_per_minute` and `tokens_per_minute`.
        leave_seconds: How long leave is good.
    """

    def __init__(self, client: "redis.Redis", *, minute_seconds: float = 60.0, leave_seconds: float = 1.0) -> None:
        self._redis = client
        self._scripts = Scripts(client, "call_common")
        self._window_ms = round((minute_seconds + leave_seconds) * 1000)
        self.leave_seconds = leave_seconds

    def ask(self, model: str, limits: CallConfig, bound: Usage, run: str, permit: str) -> Granted | Refused:
        """Ask for leave for one call of `model` that costs at most `bound`; the same permit is granted once.

        Raises `LedgerUnavailable`.
        """
        life_ms = round((limits.timeout_seconds + MARGIN_SECONDS) * 1000)
        row = self._scripts.call(
            "call_ask",
            *_common(model, run, permit, bound),
            *(limits.in_flight, limits.requests_per_minute, limits.tokens_per_minute),
            *(life_ms, self._window_ms, _PROOF_MS, _BREAKING_FAILURES),
            patient=True,
        )
        if row[0] == "granted":
            return Granted(model, run, permit, bound, limits.in_flight, int(row[1]))
        reason = Refusal(row[0])
        return Refused(reason, int(row[1]) / 1000 or SOON_SECONDS, _spell_detail(reason, run, row[2:]))

    def pardon(self, models: Iterable[str]) -> None:
        """Let models be called again that refused a call for good: a person has seen to it."""
        with reaching_ledger():
            for model in models:
                self._redis.hdel(f"gm:model:{spell_name(model)}", "refusal", "probe_at")

    def report(
        self,
        granted: Granted,
        end: CallEnd,
        usage: Usage | None = None,
        *,
        retry_after: float = 0.0,
        refusal: str = "",
        patient: bool = True,
    ) -> None:
        """Tell what a call came to; a second report of it changes nothing.

        Args:
            granted: Its leave.
            end: What became of it.
            usage: What it did cost. None: unknown; then the budget counts its bound, unless such an end is free.
            retry_after: For how many seconds the service asked to be left alone; for all workers.
            refusal: What a service said that takes no call of ours.
            patient: Wait for a ledger that restarts; `LedgerUnavailable` is raised otherwise, or in the end.
        """
        verdict = "good" if end is CallEnd.ANSWERED else "none" if end in _SAYS_NOTHING else "bad"
        cost = "unsent" if end is CallEnd.UNSENT else "known" if usage else "free" if end in _FREE else "bound"
        true = usage or Usage()
        self._scripts.call(
            "call_report",
            *_common(granted.model, granted.run, granted.permit, granted.bound),
            *(granted.since_ms, granted.in_flight, verdict, int(end is CallEnd.BUSY)),
            *(round(min(retry_after, LONGEST_STOP_SECONDS) * 1000), refusal[:_LONGEST_REFUSAL], cost),
            *(true.tokens_in, true.tokens_out, _nano(true.usd), _BREAKING_FAILURES, _KEEP_MS),
            patient=patient,
        )


def _common(model: str, run: str, permit: str, bound: Usage) -> tuple[str | int, ...]:
    """Give the arguments that both scripts have.

    A minute's tokens are those that the service counts: at first the longest answer, and of the prompt's bytes a
    third (English has four to a token, Chinese or Japanese about two to three); after the report the true ones.
    """
    estimate = bound.tokens_in // 3 + bound.tokens_out
    return spell_name(model), run, permit, bound.tokens_in + bound.tokens_out, _nano(bound.usd), estimate


def _nano(usd: float | None) -> str | int:
    """Give money in whole billionths of a dollar, so that no sum is off by more than half of one a call."""
    return "" if usd is None else round(usd * _BILLION)


def _spell_detail(reason: Refusal, run: str, details: Sequence[Any]) -> str:
    if reason is Refusal.BUDGET_SPENT:
        kind, spent, limit = details
        return spell_spent(run, kind, float(spent), float(limit))
    return str(details[0]) if details else ""
