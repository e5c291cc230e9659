"""States of runs and files, and the stages, as closed sets."""

from enum import StrEnum


class RunState(StrEnum):
    """Where a run stands. The ledger's scripts make the moves, each by compare-and-set."""

    OPEN = "open"
    """Its files are being listed; nothing is dispatched yet."""
    RUNNING = "running"
    """Sealed: files are dispatched until each has an outcome."""
    PAUSED = "paused"
    """Nothing new is dispatched until it is told to go on; work in hand ends its stage. `reason` says why."""
    CANCELLING = "cancelling"
    """Told to end: what waits is cancelled, half-written documents are removed."""
    FINALIZING = "finalizing"
    """Every file has an outcome; a finalize that begins now or later will cover its writes."""
    DONE = "done"
    """Every file has an outcome and the graph is finalized (or was told not to be)."""
    CANCELLED = "cancelled"
    """Every file has an outcome; those that were not finished when it was cancelled are `cancelled`."""


ENDED_STATES = frozenset({RunState.DONE, RunState.CANCELLED})


class FileState(StrEnum):
    """The fate of a file in a run; exactly one is recorded for each."""

    WRITTEN = "written"
    """Its document is in the graph, completely, by this run."""
    UNCHANGED = "unchanged"
    """The graph holds this very content already."""
    CHANGED = "changed"
    """The graph holds another version, which stays untouched."""
    SKIPPED = "skipped"
    """It holds no text for a graph: empty, a scan without text, or a kind nobody reads."""
    FAILED = "failed"
    """It could not be ingested; code and message say why."""
    CANCELLED = "cancelled"
    """Its run was cancelled before it was finished; it left nothing in the graph."""


STAGES = ("load", "chunk", "extract", "write")
"""What a batch goes through, in order; a claim names its place."""
