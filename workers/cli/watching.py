"""Watch a run, or a finalize, to its end."""

from contextlib import suppress
from typing import TYPE_CHECKING

from scheduler.states import RunState
from workers.cli.driving import PASSING, ROOM_FIX, drive
from workers.cli.progress import Display, Step
from workers.cli.steps import finalize_steps, needed_queues, run_steps
from workers.running import System

if TYPE_CHECKING:
    from scheduler.records import FinalizeStatus, MemoryUse, RunStatus
    from workers.listing import Listed


def watch_run(system: System, display: Display, run: str) -> "RunStatus":
    """Drive a run until it is over, or paused."""
    client = system.client

    def show(status: "RunStatus") -> None:
        stages = client.stages(run) if status.state is RunState.RUNNING else {}
        display.show(run_steps(status, stages, client.finalize_status(status.graph)))

    return drive(
        system,
        display.note,
        look=lambda: client.status(run),
        show=show,
        over=lambda status: status.over or status.state is RunState.PAUSED,
        needed=needed_queues,
    )


def watch_finalize(system: System, display: Display, graph: str, number: int) -> "FinalizeStatus":
    """Drive a graph's finalize until the one of this number is over."""
    return drive(
        system,
        display.note,
        look=lambda: system.client.finalize_status(graph),
        show=lambda status: display.show(finalize_steps(status)),
        over=lambda status: status.state != "running" or status.number > number,
        needed=lambda _: ("finalize",),
    )


def show_listing(system: System, display: Display) -> "Listed":
    """Give what is called while files are listed: it shows how many, and looks after the stack meanwhile."""
    waits = False

    def listed(files: int, memory: "MemoryUse | None") -> None:
        nonlocal waits
        for death in system.supervise():
            display.note(str(death))
        if memory and not waits:
            display.note(f"{memory}: submission waits and goes on by itself; {ROOM_FIX} Ctrl-C ends it in good order.")
        elif waits and not memory:
            display.note("Redis is below its mark again: submission goes on.")
        waits = memory is not None
        display.show([Step("list", files, detail="waits for memory of Redis" if waits else "")])
        if waits:
            # What is in hand must come to its end, for there to be room: nobody else may be there to see to it.
            with suppress(*PASSING):
                system.client.tick()

    return listed
