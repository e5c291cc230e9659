"""Values of the ledger: runs, batches, claimed files, outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.ids import FILE_PREFIX, file_document_id
from pipeline.models import Usage
from scheduler.states import ENDED_STATES, FileState, RunState


class Op(StrEnum):
    """What is to be done with a file or document of a run."""

    INGEST = "ingest"
    """Its document comes into the graph, or follows its content."""
    REEXTRACT = "reextract"
    """Likewise, also where only settings differ."""
    DELETE = "delete"
    """Its document leaves the graph."""
    RENAME = "rename"
    """The document of another path, `from`, gets this one, if it has its content still."""
    CLEAR = "clear"
    """Only what is left of its past version goes: a worker died there."""
    RESTAMP = "restamp"
    """Its document stays, and notes from which folder and bytes it is now."""


def begun(run: str) -> str:
    """Give the part of a run's id that tells its beginning, to the second, and sorts by it."""
    return run[: len("20261130-235959")]


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file for a run's manifest: its escaped relative path, its size in bytes, and its fate where that is known.

    `order` says what is wanted of it where that is not to ingest it: `op`, and what that needs.
    """

    relative: str
    size: int
    outcome: "Outcome | None" = None
    order: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file; `stage` names where it was decided."""

    state: FileState
    code: str = "ok"
    message: str = ""
    stage: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """Give the form that the scripts store."""
        row: dict[str, Any] = {"state": self.state.value, "code": self.code, "stage": self.stage}
        if self.message:
            row["message"] = self.message
        if self.details:
            row["details"] = self.details
        return row


@dataclass(frozen=True, slots=True)
class Spent:
    """What a task extracted for one file: passages, and what calls of a model for them cost."""

    passages: int = 0
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: "Spent") -> "Spent":
        """Add up."""
        return Spent(self.passages + other.passages, self.usage + other.usage)

    def as_row(self) -> dict[str, Any]:
        """Give the form that the scripts add up; a price that is unknown counts by itself."""
        usage = self.usage
        row = {"passages": self.passages, "calls": usage.calls, "in": usage.tokens_in, "out": usage.tokens_out}
        return {**row, "usd": usage.usd or 0.0, "unpriced": usage.calls if usage.usd is None else 0}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend on calls of models; None: no limit."""

    usd: float | None = None
    tokens: int | None = None

    def as_fields(self) -> dict[str, float | int]:
        """Give the fields of the run's record."""
        fields = {"max_usd": self.usd, "max_tokens": self.tokens}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Terms:
    """How a run calls models: what it may spend, and how many files travel together, lest calls wait for batches."""

    budget: Budget
    batch_files: int

    def as_fields(self) -> dict[str, float | int]:
        """Give the fields of the run's record."""
        return {**self.budget.as_fields(), "batch_files": self.batch_files}


@dataclass(frozen=True, slots=True)
class Batch:
    """Files of one run that travel through the stages together; this is all that a message carries."""

    run: str
    generation: int
    graph: str
    token: str
    files: tuple[int, ...]
    discard: bool = False
    """What the files left in the graph is to be removed, as their run was cancelled."""


@dataclass(frozen=True, slots=True)
class ClaimedFile:
    """A file that this task now works on: `ref` is what the stage before left, `defers` how often it waited.

    The last `waits` of those in a row were for the same thing, `waited_for` (a code).
    """

    index: int
    relative: str
    size: int
    ref: dict[str, str]
    defers: int
    starts: int
    waited_for: str = ""
    waits: int = 0
    order: Mapping[str, str] = field(default_factory=dict)
    round: int = 0
    """How often it was sent round again after it had an outcome."""

    @property
    def op(self) -> Op:
        """What is to be done with it."""
        return Op(self.order.get("op", Op.INGEST))

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.order.get("id") or file_document_id(self.relative)

    @property
    def is_given(self) -> bool:
        """Whether its text was given, and there is no file to read."""
        return not self.document.startswith(FILE_PREFIX)

    @property
    def renamed_from(self) -> str:
        """The id of the document that is to get its name; '' where none is."""
        return self.order.get("from", "")


@dataclass(frozen=True, slots=True)
class FileReport:
    """One line of a run's report."""

    index: int
    relative: str
    size: int
    state: str
    code: str = ""
    message: str = ""
    stage: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    document: str = ""
    """The id of its document, whether the graph holds it or not."""
    renamed_from: str = ""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run at one instant. `counts` by file state always sum up to `total - pending - in_flight`."""

    run: str
    state: RunState
    graph: str
    root: str
    total: int
    pending: int
    in_flight: int
    counts: dict[str, int]
    created_at: float
    sealed_at: float | None
    ingested_at: float | None
    ended_at: float | None
    error: str
    reason: str
    """Why the run is paused."""
    priority: int
    options: dict[str, Any]
    internal_errors: int = 0
    """How many of the failed files failed by a fault of the code; the traceback is in the log of the file's worker."""
    dropped: bool = False
    """Whether its graph was dropped after it ended: what it tells is of the past."""
    usage: Usage = field(default_factory=Usage)
    """What it has spent on calls of models, also on those that failed."""
    tokens_lost: int = 0
    """Most that calls may have used which ended without telling it; its budget counts them."""
    budget: Budget = field(default_factory=Budget)
    passages_read: int = 0
    """Passages that calls of a model were made for."""
    passages_cached: int = 0
    """Passages that needed none, as they had been read before."""

    @property
    def ended(self) -> int:
        """How many files have an outcome."""
        return sum(self.counts.values())

    @property
    def over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDED_STATES

    @property
    def failed(self) -> int:
        """How many files failed."""
        return self.counts.get(FileState.FAILED.value, 0)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What the Redis of ledger and queues holds, in bytes, of how much (0: there is no limit)."""

    used: int
    limit: int
    mark: float
    """Share of the limit above which nothing new is taken in or dispatched: at its end it refuses every write."""

    @property
    def above_mark(self) -> bool:
        """Whether new work has to wait."""
        return self.used > self.mark * self.limit > 0

    def __str__(self) -> str:
        """Say how much that is, and where the mark is."""
        side = "above" if self.above_mark else "below"
        used, limit = self.used / 2**20, self.limit / 2**20
        return f"Redis holds {used:,.0f} of {limit:,.0f} MB, {side} the mark of {self.mark:.0%}"


@dataclass(frozen=True, slots=True)
class FinalizeStatus:
    """A graph's finalize at one instant."""

    graph: str
    state: str
    number: int
    phase: str
    shards: int
    left: int
    report: dict[str, int]
    error: str
    waiting: int
    began_at: float = 0.0
