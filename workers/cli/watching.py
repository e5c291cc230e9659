"""Watch a run, or a finalize, to its end."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scheduler.states import RunState
from workers.cli.driving import drive
from workers.cli.progress import Display, Step
from workers.cli.steps import finalize_steps, needed_queues, run_steps
from workers.running import System

if TYPE_CHECKING:
    from scheduler.records import FinalizeStatus, RunStatus


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


def show_listing(system: System, display: Display) -> Callable[[int], None]:
    """Give what is called while files are listed: it shows how many, and looks after the stack meanwhile."""

    def listed(files: int) -> None:
        for death in system.supervise():
            display.note(str(death))
        display.show([Step("list", files)])

    return listed
