"""States of runs and files with the moves between them, and the stages, as closed sets.

The tables are what the ledger's scripts go by (`scheduler.scripts` hands them over): a move that is not
in them is refused there as a fault of the code.
"""

from collections.abc import Mapping
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

RUN_MOVES: Mapping[RunState, frozenset[RunState]] = {
    RunState.OPEN: frozenset({RunState.RUNNING, RunState.CANCELLING}),
    RunState.RUNNING: frozenset({RunState.PAUSED, RunState.CANCELLING, RunState.FINALIZING, RunState.DONE}),
    RunState.PAUSED: frozenset({RunState.RUNNING, RunState.CANCELLING, RunState.FINALIZING, RunState.DONE}),
    RunState.CANCELLING: frozenset({RunState.FINALIZING, RunState.CANCELLED}),
    RunState.FINALIZING: frozenset({RunState.RUNNING, RunState.DONE, RunState.CANCELLED}),
    RunState.DONE: frozenset({RunState.RUNNING}),
    RunState.CANCELLED: frozenset(),
}
"""What each state of a run may become. Staying what it is is no move: who may be called twice asks first."""


class WorkState(StrEnum):
    """Where a file stands that has no outcome yet."""

    PENDING = "pending"
    """Never dispatched; it has no record but its line in the manifest."""
    WAITING = "waiting"
    """It is in no batch, and due for one now or at an instant."""
    QUEUED = "queued"
    """It is in a batch, and its next stage has not begun."""
    RUNNING = "running"
    """A task holds it."""


class FileState(StrEnum):
    """The fate of a file in a run; exactly one is recorded for each."""

    WRITTEN = "written"
    """Its document is in the graph, completely, by this run."""
    UPDATED = "updated"
    """Its document was in the graph, and is now as the file is: by its content, its settings or its name."""
    REMOVED = "removed"
    """Its document has left the graph, as was asked."""
    UNCHANGED = "unchanged"
    """The graph holds this very content already."""
    CHANGED = "changed"
    """The graph holds it as it was made with other settings, and that stays."""
    SKIPPED = "skipped"
    """It holds no text for a graph: empty, a scan without text, or a kind nobody reads."""
    FAILED = "failed"
    """It could not be ingested; code and message say why."""
    CANCELLED = "cancelled"
    """Its run was cancelled before it was finished; it left nothing in the graph."""


FILE_MOVES: Mapping[WorkState | FileState, frozenset[WorkState | FileState]] = {
    WorkState.PENDING: frozenset({WorkState.QUEUED, FileState.SKIPPED, FileState.FAILED, FileState.CANCELLED}),
    WorkState.WAITING: frozenset({WorkState.QUEUED, FileState.CANCELLED}),
    WorkState.QUEUED: frozenset({WorkState.RUNNING, WorkState.WAITING, FileState.FAILED, FileState.CANCELLED}),
    # From running to running it changes hands: a task that was sent twice finds the lease of the first one expired.
    WorkState.RUNNING: frozenset({WorkState.RUNNING, WorkState.QUEUED, WorkState.WAITING, *FileState}),
    FileState.WRITTEN: frozenset({WorkState.WAITING}),
    FileState.UPDATED: frozenset({WorkState.WAITING}),
    FileState.REMOVED: frozenset({WorkState.WAITING}),
    FileState.UNCHANGED: frozenset({WorkState.WAITING}),
    FileState.CHANGED: frozenset(),
    FileState.SKIPPED: frozenset(),
    FileState.FAILED: frozenset({WorkState.WAITING}),
    FileState.CANCELLED: frozenset(),
}
"""What each state of a file may become; out of an outcome only by going round again."""


STAGES = ("load", "chunk", "extract", "write")
"""What a batch goes through, in order; a claim names its place."""
