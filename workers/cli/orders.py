"""Runs that a command makes: with workers for them, watched to their end, and told of."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from scheduler.states import RunState
from workers.cli.exits import ExitCode
from workers.cli.output import Output
from workers.cli.progress import Display, open_display

if TYPE_CHECKING:
    from scheduler.records import RunStatus
    from workers.running import System
    from workers.settings import Settings


@contextmanager
def open_workers(
    output: Output, settings: "Settings", *, may_be_new: bool = False, idle: bool = False, reads_first: bool = False
) -> "Iterator[System]":
    """Open a system that works on runs, unless it is to stay `idle`; raises as `open_system`.

    A command that `reads_first` does not look after the system meanwhile, so all its workers start at once.
    """
    from workers.running import INGEST_QUEUES, INGEST_ROLES, open_system

    roles, queues = ((), ()) if idle else (INGEST_ROLES, INGEST_QUEUES)
    later = () if idle or reads_first else ("query",)
    with open_system(settings, output.note, roles=roles, queues=queues, later=later, may_be_new=may_be_new) as system:
        yield system


def follow_run(
    system: "System",
    display: Display,
    submit: Callable[..., str],
    flags: str,
    *,
    begun: Callable[[str], None] | None = None,
    detach: bool = False,
) -> "RunStatus | None":
    """Make a run by `submit`, and watch it unless told to `detach`; None where that made none.

    `flags` name the data folder. `begun` says what there is to say once there is a run.
    """
    from workers.cli.driving import PASSING, interruptible
    from workers.cli.watching import show_listing, watch_run

    made: list[str] = []

    def opened(run: str) -> None:
        made.append(run)
        if begun:
            begun(run)
        else:
            display.note(f"Run {run}: graph {system.client.status(run).graph}")

    def begin() -> None:
        # What cannot be reached now is asked again by whoever watches the run.
        with suppress(*PASSING):
            system.client.tick()

    def hint() -> str:
        return how_to_go_on(system, made[0], flags) if made else "no run was made yet."

    with interruptible(hint, display.note):
        # Nobody waits for the workers of a run that is left alone, so their messages would be lost with the stack.
        how = {} if detach else {"sealed": begin}
        run = submit(opened=opened, listed=show_listing(system, display), **how)
        if not run:
            return None
        return system.client.status(run) if detach else watch_run(system, display, run)


def how_to_go_on(system: "System", run: str, flags: str) -> str:
    """Say how a run goes on that was interrupted; one whose list nobody can make again does not."""
    from workers.cli.driving import PASSING

    resume = f"graphmill resume {run}{flags}"
    try:
        status = system.client.status(run)
    except PASSING:
        # That says itself whether it can.
        return resume
    if status.state is RunState.OPEN and not status.options["paths"]:
        return f"run {run} had not begun. Give the command again (graphmill cancel {run}{flags} puts that run away)."
    return resume


def run_orders(output: Output, system: "System", submit: Callable[..., str], flags: str) -> ExitCode:
    """Make a run by `submit`, watch it, and show what came of it."""
    from workers.cli.summary import show_summary

    with open_display(output) as display:
        status = follow_run(system, display, submit, flags)
    return show_summary(output, system.client, status, flags) if status else ExitCode.OK
