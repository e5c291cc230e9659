"""What a run, or a finalize, looks like while it goes on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scheduler.states import RunState
from workers.cli.progress import Step

if TYPE_CHECKING:
    from scheduler.records import FinalizeStatus, RunStatus


_STAGES = ("load", "chunk", "extract", "write", "queued", "waiting")


def run_steps(status: "RunStatus", stages: dict[str, int], finalize: "FinalizeStatus") -> list[Step]:
    """Give the steps of a run that goes on."""
    if status.state is RunState.OPEN:
        return [Step("list", status.total)]
    if status.state is RunState.RUNNING:
        parts = [f"{name} {stages[name]}" for name in _STAGES if stages.get(name)]
        parts += [f"{status.counts[name]} {name}" for name in ("failed", "skipped") if status.counts.get(name)]
        return [Step("ingest", status.ended, status.total, ", ".join(parts))]
    ended = Step("ingest", status.ended, status.total)
    return [ended, *finalize_steps(finalize)] if status.state is RunState.FINALIZING else [ended]


def finalize_steps(finalize: "FinalizeStatus") -> list[Step]:
    """Give the step of a finalize that runs."""
    if finalize.state != "running":
        return []
    return [Step(finalize.phase, finalize.shards - finalize.left, finalize.shards)]


def needed_queues(status: "RunStatus") -> Sequence[str]:
    """Name the queues without whose workers a run stands still."""
    if status.state is RunState.RUNNING:
        return ("load", "extract", "write")
    return ("finalize",) if status.state is RunState.FINALIZING else ()
