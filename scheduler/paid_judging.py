"""Judging whose calls of a language model have an account: what that was charged is what a report tells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.models import Usage
from pipeline.resolve.judging import Judge, Judgement
from pipeline.resolve.values import Named
from scheduler.accounts import Accounts


@dataclass(slots=True)
class PaidJudge:
    """A judge that tells what its account was charged, in place of what its answers say that they cost.

    That counts calls of an attempt that did not come to its end, too, and those without an answer. `Judge`.
    """

    asked: Judge
    """Who judges, at the account's cost."""
    accounts: Accounts
    account: str
    _told: Usage = Usage()  # noqa: RUF009 - frozen

    def judge(self, sets: Sequence[Sequence[Named]]) -> Iterator[Judgement]:
        """See `Judge.judge`; the last step tells what was charged since the last one that told it."""
        for step in self.asked.judge(sets):
            yield replace(step, usage=Usage())
        charged = self.accounts.charged(self.account)
        yield Judgement({}, usage=_since(self._told, charged))
        self._told = charged


def _since(before: Usage, now: Usage) -> Usage:
    usd = None if now.usd is None or before.usd is None else now.usd - before.usd
    return Usage(now.calls - before.calls, now.tokens_in - before.tokens_in, now.tokens_out - before.tokens_out, usd)
