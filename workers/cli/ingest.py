"""`graphmill ingest` and `graphmill resume`: make a run, or take one up, and watch it to its end."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.estimate import estimate_ingest
from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.giving import check_table, check_text_options, read_order, read_text
from workers.cli.options import (
    DataDirOption,
    GraphOption,
    JsonOption,
    MaxTokensOption,
    MaxUsdOption,
    RunArgument,
    data_dir_flag,
    read_budget,
    read_settings,
)
from workers.cli.orders import follow_run, open_workers
from workers.cli.output import Output
from workers.cli.places import resolve_place
from workers.cli.progress import open_display

if TYPE_CHECKING:
    from scheduler.records import Budget, RunStatus
    from workers.running import System
    from workers.settings import Settings


class Finalize(StrEnum):
    """When the graph is finalized."""

    AUTO = "auto"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class _How:
    """How a run is made."""

    finalize: str
    priority: int
    detach: bool
    budget: "Budget | None" = None

    @property
    def options(self) -> dict[str, Any]:
        """What `submit_files` is told of it."""
        return {"finalize": self.finalize, "priority": self.priority, "budget": self.budget}


def ingest(  # noqa: PLR0913, PLR0917 - each is an option
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", show_default=False, help="Files and folders to ingest.")
    ] = None,
    graph: GraphOption = None,
    root: Annotated[
        Path | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="Folder that documents are named relative to. Default: GRAPHMILL_FILES_ROOT, the one folder given, "
            "or what all paths share.",
        ),
    ] = None,
    finalize: Annotated[
        Finalize, typer.Option("--finalize", help="Merge, embed and index when all files are written, or leave that.")
    ] = Finalize.AUTO,
    priority: Annotated[
        int, typer.Option("--priority", min=-9, max=9, help="Files of runs with a higher one go first.")
    ] = 0,
    detach: Annotated[
        bool, typer.Option("--detach", help="End once the files are listed, and leave the work to the workers.")
    ] = False,
    text: Annotated[
        str | None,
        typer.Option(
            "--text", metavar="FILE", help="Ingest one text that is no file, from FILE or - (standard input)."
        ),
    ] = None,
    identity: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Id of that text's document; the same id replaces it.")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="PATH is one CSV file, whose rows become entities; needs --label and --key.")
    ] = False,
    label: Annotated[str | None, typer.Option("--label", metavar="LABEL", help="What the rows of a table are.")] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="COLUMN", help="Column of a table that tells its rows apart.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="COLUMN", help="Column that names them. Default: the key's.")
    ] = None,
    refs: Annotated[
        list[str] | None,
        typer.Option("--ref", metavar="COLUMN=LABEL", help="Column that holds the key of another row, and its label."),
    ] = None,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only tell what it would take: files, passages, calls, tokens, money, time."),
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Ingest files into a graph.

    Watches until they are in it. Run it again on the same folder at any time: what is in the graph already costs
    next to nothing. Ctrl-C is safe at any moment.
    """
    order = read_order(table, label, key, name, refs or ())
    check_text_options(text, identity, paths, root or order)
    if dry_run and (text is not None or order is not None):
        raise UsageMistake("--dry-run estimates files of text: it goes neither with --text nor with --table.")
    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    how = _How(finalize.value, priority, detach, read_budget(max_usd, max_tokens))
    if text is not None and identity is not None:
        said, named = read_text(output, settings, text), identity
        return _ingest(output, settings, named, how, flags, lambda c, **how: c.ingest_text(said, id=named, **how))
    places = [resolve_place(path) for path in paths or ()]
    # Where hosts see the files under a common place, names are relative to that on all of them.
    given = root or settings.files_root
    top = resolve_place(given) if given is not None else _common_folder(places)
    if order is not None:
        check_table(places, top, order)
        what = str(places[0])
        return _ingest(
            output, settings, what, how, flags, lambda c, **how: c.ingest_table(places[0], top, order, **how)
        )
    if not _any_file(top, places):
        return _report_nothing(output, places)
    if dry_run:
        return estimate_ingest(output, settings, top, places, how.budget)
    return _ingest(output, settings, str(top), how, flags, lambda c, **how: c.submit(places, top, **how))


def resume(
    run: RunArgument,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Take up an interrupted run where it stopped, or follow one that runs; one that is done is shown."""
    from workers.cli.driving import interruptible
    from workers.cli.summary import show_summary
    from workers.cli.watching import show_listing, watch_run
    from workers.running import INGEST_QUEUES, INGEST_ROLES, open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(data_dir=data_dir), data_dir_flag(data_dir)
    with open_system(settings, output.note, roles=INGEST_ROLES, queues=INGEST_QUEUES) as system:
        client = system.client
        with open_display(output) as display, interruptible(lambda: f"graphmill resume {run}{flags}", display.note):
            status = client.resume(run, budget=read_budget(max_usd, max_tokens), listed=show_listing(system, display))
            if status.over:
                display.note(f"Run {run} is done already: nothing is left to resume.{_tell_more(status, flags)}")
            else:
                status = watch_run(system, display, run)
        return show_summary(output, client, status, flags)


def _tell_more(status: "RunStatus", flags: str) -> str:
    """Say what else can be done about a run that is done."""
    root, graph = shlex.quote(status.root), shlex.quote(status.graph)
    new = f"\nNew and changed files need a new run: graphmill ingest {root} --graph {graph}{flags}"
    failed = f"\nFiles that failed are tried again by: graphmill retry {status.run} --failed{flags}"
    return (failed if status.failed else "") + (new if status.root else "")


def _ingest(
    output: Output, settings: "Settings", what: str, how: _How, flags: str, submit: Callable[..., str]
) -> ExitCode:
    """Make a run by `submit`, which is given the client and how, and watch it; `what` is shown."""
    from workers.cli.summary import show_summary

    def begun(run: str) -> None:
        tell = output.note if output.as_json else output.line
        tell(f"Run {run}: {what} into graph {settings.graph}")
        if settings.language_notice:
            output.note(settings.language_notice)

    with open_workers(output, settings, may_be_new=True, idle=how.detach) as system:
        client = system.client
        make = partial(submit, client, graph=settings.graph, **how.options)
        with open_display(output) as display:
            status = follow_run(system, display, make, flags, begun=begun, detach=how.detach)
        if status is None:
            return ExitCode.OK
        if how.detach:
            return _report_detached(output, system, status, flags)
        code = show_summary(output, client, status, flags)
        if how.finalize == Finalize.NEVER and not output.as_json:
            output.line(f"Not finalized: graphmill finalize --graph {settings.graph}{flags}")
        return code


def _report_detached(output: Output, system: "System", status: "RunStatus", flags: str) -> ExitCode:
    from workers.cli.summary import run_document

    if output.as_json:
        output.document(run_document(status))
    elif system.owned:
        output.line(f"{status.total:,} files wait. They are worked on by: graphmill resume {status.run}{flags}")
        output.line(f"or by: graphmill up{flags}")
    else:
        follow = f"graphmill status {status.run} --watch{flags}"
        output.line(f"{status.total:,} files wait for the workers. To follow: {follow}")
    return ExitCode.OK


def _report_nothing(output: Output, paths: Sequence[Path]) -> ExitCode:
    where = ", ".join(str(path) for path in paths)
    if output.as_json:
        output.document({"run": None, "files": {"total": 0}})
    else:
        output.line(f"No file was found in {where} (names with a leading dot are passed over).")
    return ExitCode.OK


def _common_folder(paths: Sequence[Path]) -> Path:
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))


def _any_file(root: Path, paths: Sequence[Path]) -> bool:
    """Tell whether there is anything to ingest, before anything is started; raises where a path is wrong."""
    from pipeline.load import walk_files

    return next(walk_files(root, paths), None) is not None
