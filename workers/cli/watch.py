"""`graphmill watch`: a graph follows a folder for as long as the command runs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from workers.cli.exits import ExitCode, UsageMistake, describe_error
from workers.cli.options import (
    DataDirOption,
    GraphOption,
    JsonOption,
    MaxTokensOption,
    MaxUsdOption,
    data_dir_flag,
    read_budget,
    read_settings,
)
from workers.cli.orders import how_to_go_on, open_workers
from workers.cli.output import Output, as_row
from workers.cli.sync import PathArgument, RootOption, describe_plan, resolve_sync

if TYPE_CHECKING:
    from scheduler.records import Budget
    from workers.cli.progress import Step
    from workers.running import System

DELAY_SECONDS = 2.0


def watch(  # noqa: PLR0913, PLR0917 - each is an option
    path: PathArgument,
    root: RootOption = None,
    graph: GraphOption = None,
    delay: Annotated[
        float, typer.Option("--delay", metavar="SECONDS", min=0.1, help="How long nothing may change before a sync.")
    ] = DELAY_SECONDS,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look at all files each second: network mounts send no news of changes.")
    ] = False,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Keep a graph in step with a folder until Ctrl-C.

    Does what `sync` does, at first and whenever something changed and is still again. A sync that fails is told, and
    the next change tries again.
    """
    from workers.cli.driving import drive
    from workers.watching import watch_folder

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    place, top = resolve_sync(path, root, settings)
    if not place.exists():
        raise UsageMistake(f"{place} does not exist, so there is nothing to watch.")
    with open_workers(output, settings, may_be_new=True, reads_first=True) as system:
        output.note(f"Watching {place} for graph {settings.graph}. Ctrl-C ends it.")
        follower = _Follower(output, system, place, top, flags, read_budget(max_usd, max_tokens))
        news = watch_folder(place, delay, poll=poll)
        try:
            drive(
                system,
                output.note,
                look=partial(next, news),
                show=lambda due: follower.follow() if due else None,
                over=lambda _: False,
                needed=lambda _: (),
            )
        except KeyboardInterrupt:
            # How `watch` is meant to end.
            output.note(f"Stopping; Ctrl-C again forces it.{follower.how_to_go_on()}")
    return ExitCode.OK


@dataclass(slots=True)
class _Follower:
    """Does one sync after the other, and says in a line what each did."""

    output: Output
    system: "System"
    place: Path
    root: Path
    flags: str
    budget: "Budget | None"
    """What the calls of one sync may cost."""
    _run: str = ""
    """The run that goes on; '' where none does."""

    def follow(self) -> None:
        """Do one sync; an error of the moment is told, one of the stack itself ends the command."""
        from pipeline.errors import PipelineError
        from workers.cli.driving import PASSING
        from workers.embedded.errors import EmbeddedError

        try:
            self._follow()
        except EmbeddedError:
            raise
        except (PipelineError, *PASSING) as error:
            failure = describe_error(error)
            if self.output.as_json:
                self.output.document({"error": failure.code, "message": failure.message})
            self.output.note(f"{_now()} not in step: {failure.message} The next change tries again.", "red")

    def how_to_go_on(self) -> str:
        """Say how the run goes on that was interrupted; '' where there is none."""
        if not self._run:
            return ""
        return f" Nothing is lost: {how_to_go_on(self.system, self._run, self.flags)}"

    def _follow(self) -> None:
        from workers.cli.watching import watch_run

        client, graph = self.system.client, self.system.settings.graph
        plan = client.plan_sync(self.place, self.root, graph=graph)
        self._run = run = client.sync(plan, opened=self._begin, budget=self.budget)
        if not run:
            self._say(f"in step: {describe_plan(plan)}", {"run": None, "kept": plan.kept, "unread": len(plan.unread)})
            return
        status = watch_run(self.system, _Silent(self.output), run)
        done = client.changes(run)
        # Of the files that were looked at, not only of those in the run.
        row = {**as_row(done), "adopted": len(plan.adopted), "kept": plan.kept, "unread": len(plan.unread)}
        parts = [f"{n:,} {name}" for name, n in row.items() if n or name == "kept"]
        wrong = f" (graphmill failures {run}{self.flags})" if done.failed else ""
        error = f"; {status.error}" if status.error else ""
        text = f"run {run} is {status.state.value}: {', '.join(parts)}{wrong}{error}"
        document = {"run": run, "state": status.state.value, "error": status.error, **row}
        self._say(text, document)
        self._run = ""

    def _begin(self, run: str) -> None:
        self._run = run

    def _say(self, text: str, document: dict[str, object]) -> None:
        if self.output.as_json:
            self.output.document(document)
        else:
            self.output.line(f"{_now()} {text}")


class _Silent:
    """A display of remarks alone: a line for each sync is enough."""

    def __init__(self, output: Output) -> None:
        self.note = output.note

    def show(self, steps: "Sequence[Step]") -> None:
        """Show nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""


def _now() -> str:
    return time.strftime("%H:%M:%S")
