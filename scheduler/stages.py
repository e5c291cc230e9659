"""One batch through one stage: claim, work file by file, settle every file by what happened to it.

This is where errors become fates: transient ones defer, permanent ones are outcomes, a programming
error is logged with its traceback and ends the file alone. Nothing is raised for somebody else to
handle, except what ends the process or the whole task.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from pipeline.errors import (
    SKIP_CODES,
    ArtifactMissing,
    HaltsRun,
    LeaseLost,
    LoadCode,
    LoadError,
    PermanentError,
    TransientError,
    is_time_limit,
)
from scheduler.ledger import Ledger
from scheduler.records import Batch, ClaimedFile, Outcome, Spent
from scheduler.states import FileState

_log = structlog.get_logger(__name__)
LONGEST_DEFER_SECONDS = 60.0
LONGEST_ASKED_SECONDS = 3600.0
"""How long a file waits at most, whatever a service asks for."""
HASTY_DEFERS = 5
"""A missing artifact is made again at once, unless that keeps happening."""


class OutOfTurn(TransientError):
    """A document needs another turn; what was done so far is kept."""


@dataclass(slots=True)
class StageRun:
    """The files of one batch in the hands of one task, and what was decided of them so far."""

    batch: Batch
    stage: str
    holder: str
    files: dict[int, ClaimedFile]
    ledger: Ledger
    started: float = field(default_factory=time.monotonic)
    current: int | None = None
    ended: dict[int, Outcome] = field(default_factory=dict)
    passed: dict[int, dict[str, str]] = field(default_factory=dict)
    deferred: dict[int, float] = field(default_factory=dict)
    alone: dict[int, float] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    errors: dict[int, dict[str, str]] = field(default_factory=dict)
    spent: dict[int, Spent] = field(default_factory=dict)
    halt: str = ""
    """Why a person must act before anything of the run can go on; '' where it can."""
    lost: set[int] = field(default_factory=set)
    renewals: list[Callable[[], None]] = field(default_factory=list)
    """What else is to be renewed with the claims."""

    def open_files(self) -> list[ClaimedFile]:
        """List the files whose fate in this stage is open."""
        decided = self.ended.keys() | self.passed.keys() | self.deferred.keys() | self.alone.keys() | self.lost
        return [f for i, f in self.files.items() if i not in decided]

    def progress(self) -> None:
        """Raise `LeaseLost` once the current file was taken by another worker (the heartbeat learns it)."""
        if self.current in self.lost:
            raise LeaseLost(f"File {self.current} of run {self.batch.run} was taken by another worker.")

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Renew the claims for as long as this process works on them, a third of the lease apart.

        One page of a document may take longer than a lease, and a slow worker is not a dead one; a task
        that hangs is ended by its time limit. A process that stands still renews nothing.
        """
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self.ledger.lease_seconds / 3):
                held = [i for i in self.files if i not in self.lost]
                try:
                    self.lost.update(self.ledger.renew(self.batch.run, self.holder, held))
                    for renew in self.renewals:
                        renew()
                except TransientError as error:
                    _log.warning("claims_not_renewed", run=self.batch.run, reason=str(error))

        beating = threading.Thread(target=beat, name="heartbeat", daemon=True)
        beating.start()
        try:
            yield
        finally:
            over.set()
            beating.join()

    def decide(self, index: int, result: "Outcome | dict[str, str]") -> None:
        """Note what a file's work came to: its fate, or its reference for the next stage."""
        if isinstance(result, Outcome):
            self.ended[index] = result
        else:
            self.passed[index] = result

    def defer(self, f: ClaimedFile, error: TransientError, *, advanced: bool = False) -> None:
        """Let a file wait, for as long as the error and its history ask for; one that has `advanced`, no longer."""
        self.deferred[f.index] = defer_seconds(error, 0 if advanced else f.defers)
        self.errors[f.index] = {"code": error.code, "message": str(error)[:300]}
        if isinstance(error, HaltsRun):
            self.halt = str(error)

    @contextmanager
    def working_on(self, f: ClaimedFile) -> Iterator[None]:
        """Turn what is raised over one file into its fate; what ends the whole task goes on."""
        self.current = f.index
        began = time.monotonic()
        try:
            self.progress()
            yield
        except LeaseLost:
            if f.index not in self.lost:
                raise
        except TransientError as error:
            self.defer(f, error)
        except Exception as error:
            if is_time_limit(error):
                raise
            if not isinstance(error, PermanentError):
                _log.exception("stage_failed", run=self.batch.run, stage=self.stage, file=f.relative)
            self.ended[f.index] = outcome_of(error, self.stage)
        self.seconds[f.index] = time.monotonic() - began
        self.current = None

    def elapsed(self) -> float:
        """Tell for how many seconds this task has worked."""
        return time.monotonic() - self.started


Work = Callable[[StageRun], None]
"""A stage: decides the fate of every open file of a `StageRun`."""
FileWork = Callable[[StageRun, ClaimedFile], "Outcome | dict[str, str]"]
"""A stage for one file: its outcome, or its reference for the next stage."""


def run_stage(ledger: Ledger, batch: Batch, stage: str, work: Work, worker: str) -> int:
    """Run a stage over a batch; gives how many files go on to the next stage."""
    holder = secrets.token_hex(8)
    claimed = ledger.claim(batch, stage, holder, worker)
    if not claimed:
        return 0
    run = StageRun(batch, stage, holder, {f.index: f for f in claimed}, ledger)
    try:
        with run.heartbeat():
            work(run)
    except TransientError as error:
        for f in run.open_files():
            run.defer(f, error)
    except Exception as error:  # noqa: BLE001 - whatever it was, every claimed file gets its fate
        if is_time_limit(error):
            _end_overdue(run)
        else:
            _log.exception("stage_failed", run=batch.run, stage=stage)
            for f in run.open_files():
                run.ended[f.index] = outcome_of(error, stage)
    settle(run)
    return len(run.passed)


def settle(run: StageRun) -> None:
    """Report to the ledger what was decided, leaving out what was lost."""
    # Where files were worked on together, each bears its part.
    share = run.elapsed() / len(run.files)
    mine = {
        name: {i: value for i, value in getattr(run, name).items() if i not in run.lost}
        for name in ("ended", "passed", "deferred", "alone")
    }
    seconds = {i: run.seconds.get(i, share) for i in run.files}
    if run.halt:
        # First: what waits now must not be dispatched once more.
        run.ledger.halt(run.batch.run, run.halt, seconds=run.elapsed())
    lost = run.ledger.settle(run.batch.run, run.holder, **mine, seconds=seconds, errors=run.errors, spent=run.spent)
    if lost or run.lost:
        _log.warning("files_lost", run=run.batch.run, stage=run.stage, files=sorted({*lost, *run.lost}))


def each_file(work: FileWork) -> Work:
    """Make a stage of a function on one file, with the rules by which errors become fates."""

    def over_all(run: StageRun) -> None:
        for f in run.open_files():
            with run.working_on(f):
                run.decide(f.index, work(run, f))

    return over_all


def outcome_of(error: Exception, stage: str) -> Outcome:
    """Make the outcome of a file whose work raised."""
    if isinstance(error, LoadError) and error.load_code in SKIP_CODES:
        return Outcome(FileState.SKIPPED, error.code, str(error), stage)
    if isinstance(error, PermanentError):
        return Outcome(FileState.FAILED, error.code, str(error), stage)
    if isinstance(error, MemoryError):
        message = f"It took more memory than its worker may have in the {stage} stage."
        return Outcome(FileState.FAILED, LoadCode.LIMIT_EXCEEDED.value, message, stage)
    message = f"A fault of graphmill, not of the file: {type(error).__name__}: {str(error)[:300]}"
    return Outcome(FileState.FAILED, "internal_error", message, stage)


def defer_seconds(error: TransientError, defers: int) -> float:
    """Tell how long a file waits after a transient error: with jitter, longer each time, a minute at most.

    Where the other side asks for more it gets that, up to an hour.
    """
    if isinstance(error, (OutOfTurn, HaltsRun)) or (isinstance(error, ArtifactMissing) and defers < HASTY_DEFERS):
        return 0.0
    longest = min(LONGEST_DEFER_SECONDS, 0.5 * 2.0 ** min(defers, 7))
    usual = longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
    # Never sooner than asked; spread, lest all that were refused together come back together.
    asked = max(0.0, error.retry_after) * random.uniform(1.0, 1.25)  # noqa: S311 - jitter, not a secret
    return min(LONGEST_ASKED_SECONDS, max(usual, asked))


def _end_overdue(run: StageRun) -> None:
    """The soft time limit struck: the file at work is overdue, its batch mates are not to blame.

    Where all are at work together, each gets its time alone.
    """
    overdue = run.current if run.current is not None else (next(iter(run.files)) if len(run.files) == 1 else None)
    for f in run.open_files():
        if f.index == overdue:
            message = f"It took longer than the time limit in the {run.stage} stage ({run.elapsed():.0f} s)."
            run.ended[f.index] = Outcome(FileState.FAILED, "timeout", message, run.stage)
        elif overdue is None:
            run.alone[f.index] = 0.0
        else:
            run.deferred[f.index] = 0.0
