"""`graphmill sync`: a graph follows a folder."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import ExitCode
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
from workers.cli.orders import follow_run, open_workers
from workers.cli.output import Output
from workers.cli.places import resolve_place
from workers.cli.progress import open_display

if TYPE_CHECKING:
    from scheduler.sync_plan import SyncPlan
    from workers.settings import Settings

PathArgument = Annotated[Path, typer.Argument(metavar="PATH", help="Folder (or file) that the graph follows.")]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder that documents are named relative to, as for ingest. Default: GRAPHMILL_FILES_ROOT, or PATH.",
    ),
]


def sync(  # noqa: PLR0913, PLR0917 - each is an option
    path: PathArgument,
    root: RootOption = None,
    graph: GraphOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Let all documents of PATH go where nothing is there any more.")
    ] = False,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Make a graph follow a folder.

    New files come into it, changed ones are updated, renamed ones keep all but their name, and documents of files that
    are gone leave it. Nothing else in the graph is touched.
    """
    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    place, top = resolve_sync(path, root, settings)
    if dry_run:
        return _show_plan(output, _plan_dry(output, settings, place, top, allow_empty=allow_empty))
    with open_workers(output, settings, may_be_new=True, reads_first=True) as system:
        client = system.client
        plan = client.plan_sync(place, top, graph=settings.graph, allow_empty=allow_empty)
        with open_display(output) as display:
            status = follow_run(
                system, display, partial(client.sync, plan, budget=read_budget(max_usd, max_tokens)), flags
            )
        return _show_done(output, system.client, plan, status, flags)


def resolve_sync(path: Path, root: Path | None, settings: "Settings") -> tuple[Path, Path]:
    """Give the place that is followed, and the folder that its documents are named from."""
    place = resolve_place(path)
    given = root or settings.files_root
    if given is not None:
        return place, resolve_place(given)
    # One that is not there was a folder, as far as we know.
    return place, place.parent if place.is_file() else place


def describe_plan(plan: "SyncPlan") -> str:
    """Count what is planned in one line."""
    counts = {
        name: len(getattr(plan, name)) for name in ("added", "updated", "renamed", "adopted", "removed", "unread")
    }
    parts = [f"{n:,} {name}" for name, n in counts.items() if n]
    return ", ".join([*parts, f"{plan.kept:,} kept"])


def plan_document(plan: "SyncPlan") -> dict[str, Any]:
    """Give a plan as JSON."""
    return {
        "graph": plan.graph,
        "root": plan.root,
        "added": [file.path for file in plan.added],
        "updated": [file.path for file in plan.updated],
        "renamed": [{"from": one.document.path, "to": one.file.path} for one in plan.renamed],
        "adopted": [file.path for file in plan.adopted],
        "removed": [document.path for document in plan.removed],
        "kept": plan.kept,
        "unread": _unread(plan),
    }


def _unread(plan: "SyncPlan") -> list[dict[str, str]]:
    return [{"path": file.path, "code": str(file.code)} for file in plan.unread]


def _plan_dry(output: Output, settings: "Settings", place: Path, top: Path, *, allow_empty: bool) -> "SyncPlan":
    from scheduler.syncing import plan_folder
    from workers.running import has_data, open_system

    if not settings.configured and not has_data(settings):
        # Nothing is stored, and nothing shall be made.
        return plan_folder(settings.graph, top, place, settings.load, (), allow_empty=allow_empty)
    with open_system(settings, output.note) as system:
        return system.client.plan_sync(place, top, graph=settings.graph, allow_empty=allow_empty)


def _show_plan(output: Output, plan: "SyncPlan") -> ExitCode:
    if output.as_json:
        output.document({"dry_run": True, **plan_document(plan)})
        return ExitCode.OK
    for file in plan.added:
        output.line(f"add     {file.path}")
    for file in plan.updated:
        output.line(f"update  {file.path}")
    for one in plan.renamed:
        output.line(f"rename  {one.document.path} -> {one.file.path}")
    for file in plan.adopted:
        output.line(f"adopt   {file.path}")
    for document in plan.removed:
        output.line(f"remove  {document.path}")
    _show_unread(output, plan)
    output.line(f"Graph {plan.graph} would follow {plan.root}: {describe_plan(plan)}. Nothing was done.")
    return ExitCode.OK


def _show_unread(output: Output, plan: "SyncPlan") -> None:
    for file in plan.unread:
        output.line(f"unread  {file.path} ({file.code}); its document stays as it is", "yellow")


def _show_done(output: Output, client: Any, plan: "SyncPlan", status: Any, flags: str) -> ExitCode:
    from workers.cli.summary import files_text, show_summary

    if not output.as_json:
        _show_unread(output, plan)
        if plan.adopted:
            output.line(
                f"{files_text(len(plan.adopted))} of documents that were named from another folder: now {plan.root}"
            )
    if status is not None:
        more = {"adopted": len(plan.adopted), "kept": plan.kept, "unread": _unread(plan)}
        code = show_summary(output, client, status, flags, more)
    else:
        code = ExitCode.OK
        if output.as_json:
            output.document({"run": None, "files": {"total": 0}, "kept": plan.kept, "unread": _unread(plan)})
        else:
            output.line(f"Graph {plan.graph} is as {plan.root}: {describe_plan(plan)}.")
    return ExitCode.FAILED if plan.unread else code
