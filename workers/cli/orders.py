"""Runs of orders (remove, read anew, follow a folder): made, watched to their end, and told of."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workers.cli.exits import ExitCode
from workers.cli.output import Output
from workers.cli.progress import Display, open_display

if TYPE_CHECKING:
    from scheduler.records import RunStatus
    from workers.running import System
    from workers.settings import Settings


@contextmanager
def open_workers(output: Output, settings: "Settings", *, may_be_new: bool = False) -> "Iterator[System]":
    """Open a system that works on runs; raises as `open_system`."""
    from workers.bootstrap import check_parts
    from workers.running import INGEST_QUEUES, INGEST_ROLES, open_system

    if not settings.configured:
        # A mistake in them would stop every worker of the embedded stack.
        check_parts(settings)
    with open_system(settings, output.note, roles=INGEST_ROLES, queues=INGEST_QUEUES, may_be_new=may_be_new) as system:
        yield system


def follow_run(system: "System", display: Display, submit: Callable[..., str], flags: str) -> "RunStatus | None":
    """Make a run by `submit`, and watch it; None where that made none. `flags` name the data folder."""
    from workers.cli.driving import interruptible
    from workers.cli.watching import show_listing, watch_run

    made: list[str] = []

    def opened(run: str) -> None:
        made.append(run)
        display.note(f"Run {run}: graph {system.client.status(run).graph}")

    def how_to_go_on() -> str:
        return f"graphmill resume {made[0]}{flags}" if made else "no run was made yet."

    with interruptible(how_to_go_on, display.note):
        run = submit(opened=opened, listed=show_listing(system, display))
        return watch_run(system, display, run) if run else None


def run_orders(output: Output, system: "System", submit: Callable[..., str], flags: str) -> ExitCode:
    """Make a run by `submit`, watch it, and show what came of it."""
    from workers.cli.summary import show_summary

    with open_display(output) as display:
        status = follow_run(system, display, submit, flags)
    return show_summary(output, system.client, status, flags) if status else ExitCode.OK
