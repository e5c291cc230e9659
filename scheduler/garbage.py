"""Which stage results may go: none that a run or a finalize that goes on may still ask for."""

from scheduler.finalize import FinalizeLedger
from scheduler.ledger import Ledger

SLACK_SECONDS = 2 * 3600.0
"""The time of an artifact is renewed once an hour at most, and the clocks of hosts differ."""


def unneeded_since(ledger: Ledger, finalizes: FinalizeLedger, now: float, keep_seconds: float) -> float:
    """Tell the instant before which nothing was last used that is still needed, in seconds since 1970.

    What a run asks for it has made or read itself, after it was opened; a finalize likewise. Both may stand
    still for longer than unused results are kept: a paused run keeps what was used since it was opened.
    """
    begun = [ledger.status(run).created_at for run in ledger.active_runs()]
    finalizing = [status for graph in finalizes.graphs() if (status := finalizes.status(graph)).state == "running"]
    begun += [status.began_at for status in finalizing]
    return min([now - keep_seconds, *(instant - SLACK_SECONDS for instant in begun)])
