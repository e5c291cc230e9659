"""`graphmill finalize`: merge, embed and index what is new in a graph."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import ExitCode, Interrupted, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, as_row, count_text, one_line, seconds_text
from workers.cli.progress import open_display

if TYPE_CHECKING:
    from scheduler.plan_report import PlanReport
    from scheduler.records import FinalizeStatus
    from workers.settings import Settings


def finalize(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which entities would be merged, by the rules, and change nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Follow the finalize that runs, whoever began it, and begin none.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all held groups, collisions and undecided pairs, not the first few.")
    ] = False,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Merge, embed and index what is new in a graph.

    `ingest` does it by itself, unless it was told `--finalize never`.
    """
    if dry_run and watch:
        raise UsageMistake("--dry-run and --watch exclude each other: give one of them.")
    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    place = f" --graph {settings.graph}{data_dir_flag(data_dir)}"
    does = _show_plan if dry_run else _watch if watch else _finalize
    return does(output, settings, place, everything=everything)


def _finalize(output: Output, settings: "Settings", place: str, *, everything: bool) -> ExitCode:
    import time

    from workers.cli.driving import interruptible
    from workers.cli.watching import watch_finalize
    from workers.running import INGEST_ROLES, open_system

    began = time.monotonic()
    with (
        open_system(settings, output.note, roles=INGEST_ROLES, queues=("finalize",)) as system,
        open_display(output) as display,
        interruptible(lambda: f"graphmill finalize{place}", display.note),
    ):
        number = system.client.finalize(settings.graph)
        status = watch_finalize(system, display, settings.graph, number)
        plan = system.client.plan_report(status)
    seconds = time.monotonic() - began
    if output.as_json:
        output.document({**_document(status, plan), "seconds": round(seconds, 3)})
    else:
        _show_end(output, status, plan, f" ({seconds_text(seconds)})", place, everything=everything)
    return ExitCode.FAILED if status.error else ExitCode.OK


def _watch(output: Output, settings: "Settings", place: str, *, everything: bool) -> ExitCode:
    from workers.cli.watching import watch_finalize
    from workers.running import open_system

    with open_system(settings, output.note) as system:
        status = system.client.finalize_status(settings.graph)
        name = f"finalize {status.number} of graph {settings.graph}"
        ran = status.state == "running"
        if not ran:
            output.note(f"No finalize of graph {settings.graph} is running.")
        elif system.owned:
            output.note(
                f"Nothing is at work on this data folder, so {name} stands at {status.phase}. "
                f"To let it go on: graphmill finalize{place}"
            )
        else:
            try:
                output.note(f"Following {name}. Ctrl-C ends that, and leaves it running.")
                with open_display(output) as display:
                    status = watch_finalize(system, display, settings.graph, status.number)
            except KeyboardInterrupt:
                raise Interrupted(
                    f"Interrupted. The {name} goes on; to see how far it is: graphmill finalize --watch{place}"
                ) from None
        plan = system.client.plan_report(status)
    if output.as_json:
        output.document(_document(status, plan))
    elif status.number and status.state != "running":
        _show_end(output, status, plan, "", place, everything=everything)
    return ExitCode.FAILED if ran and status.error else ExitCode.OK


def _document(status: "FinalizeStatus", plan: "PlanReport | None") -> dict[str, Any]:
    return {**as_row(status), "plan": as_row(plan) if plan else None}


def _show_end(
    output: Output, status: "FinalizeStatus", plan: "PlanReport | None", time: str, place: str, *, everything: bool
) -> None:
    from workers.cli.outcomes import show_outcome

    if status.error:
        what = f"Finalize {status.number} of graph {status.graph} failed: {one_line(status.error)}"
        output.paragraph(what, indent=0, style="red")
    else:
        output.line(f"Graph {status.graph} is finalized{time}.", "bold")
    show_outcome(output, status.report, plan, place, everything=everything)


def _show_plan(output: Output, settings: "Settings", place: str, *, everything: bool) -> ExitCode:
    from workers.cli.outcomes import show_clashes, show_undecided
    from workers.running import open_system

    with open_system(settings, output.note) as system:
        preview = system.client.plan_merges(settings.graph)
    if output.as_json:
        row = as_row(preview)
        output.document({"dry_run": True, "graph": settings.graph, **row.pop("report"), **row})
        return ExitCode.OK
    if preview.merges:
        rows = [
            (one.id, one_line(one.name), one.into, one_line(one.into_name), one.reason, one.judge)
            for one in preview.merges
        ]
        output.table(("would go", "name", "into", "name", "as", "by"), rows)
    more = "" if everything else f"graphmill finalize --dry-run --all{place}"
    show_clashes(output, preview.report, more)
    show_undecided(output, preview.undecided, more)
    output.line(f"Graph {settings.graph}: {count_text(len(preview.merges), 'merge')}. Nothing was done.")
    if preview.not_embedded:
        names = count_text(preview.not_embedded, "new name has", "new names have")
        output.line(
            f"{names} no vector yet and could be compared by spelling only. A finalize embeds names first, so it may "
            "merge more.",
        )
    return ExitCode.OK
