"""What the task shells of this process work with; bound once by the process entry, built on first use.

Built after the fork, never before: sockets, models and locks of a parent must not be shared.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog
from kombu.exceptions import OperationalError

from pipeline.errors import TransientError
from scheduler.finalize import FinalizeLedger, Shard
from scheduler.jobs import QueryJobs
from scheduler.ledger import Ledger
from scheduler.query_kinds import QueryKinds
from scheduler.stages import Work
from scheduler.tick import DispatchConfig, Sender, TickReport, tick
from scheduler.verbs import RunVerbs

_log = structlog.get_logger(__name__)


class FinalizeSteps(Protocol):
    """The work of a finalize."""

    def run(self, shard: Shard) -> None:
        """Do one shard of a phase and record its end."""

    def advance(self, shard: Shard) -> list[Shard]:
        """Once a phase is over, give the shards of the next one (to one caller only)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Everything that a shell hands its message to."""

    ledger: Ledger
    verbs: RunVerbs
    finalizes: FinalizeLedger
    stages: Mapping[str, Work]
    """The stages of ingest and `discard`, by the names that claims use."""
    finalize_steps: FinalizeSteps
    queries: QueryKinds
    sender: Sender
    dispatch: Callable[[], DispatchConfig]
    jobs: QueryJobs
    warm_up: Callable[[], object]
    """Loads what every question needs."""

    def tick(self) -> TickReport:
        """Do all control work that is due now."""
        return tick(self.ledger, self.verbs, self.finalizes, self.sender, self.dispatch())

    def tick_after_work(self) -> None:
        """Fill the place of a batch that ended; a tick that cannot be made now is made by the next one."""
        try:
            self.tick()
        except (TransientError, OperationalError) as error:
            _log.warning("tick_postponed", reason=str(error))


_build: Callable[[], Resources] | None = None
_built: tuple[int, Resources] | None = None


def bind(build: Callable[[], Resources]) -> None:
    """Say how this process's resources are made."""
    global _build, _built
    _build, _built = build, None


def current() -> Resources:
    """Give the resources of this very process (not of the parent that it was forked from)."""
    global _built  # noqa: PLW0603 - built once per process
    if _built is None or _built[0] != os.getpid():
        if _build is None:
            raise RuntimeError("No resources are bound: tasks run only in a process that workers.app started.")
        _built = (os.getpid(), _build())
    return _built[1]
