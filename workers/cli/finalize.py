"""`graphmill finalize`: merge, embed and index what is new in a graph."""

from typing import TYPE_CHECKING, Annotated

import typer

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, as_row, one_line, seconds_text
from workers.cli.progress import open_display

if TYPE_CHECKING:
    from workers.settings import Settings


def finalize(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which entities would be merged, by the rules, and change nothing.")
    ] = False,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Merge, embed and index what is new in a graph.

    `ingest` does it by itself, unless it was told `--finalize never`.
    """
    import time

    from workers.cli.driving import interruptible
    from workers.cli.watching import watch_finalize
    from workers.running import INGEST_ROLES, open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    if dry_run:
        return _show_plan(output, settings)
    began = time.monotonic()

    def how_to_go_on() -> str:
        return f"graphmill finalize --graph {settings.graph}{flags}"

    with (
        open_system(settings, output.note, roles=INGEST_ROLES, queues=("finalize",)) as system,
        open_display(output) as display,
        interruptible(how_to_go_on, display.note),
    ):
        number = system.client.finalize(settings.graph)
        status = watch_finalize(system, display, settings.graph, number)
    seconds = time.monotonic() - began
    if as_json:
        output.document({**as_row(status), "seconds": round(seconds, 3)})
    elif status.error:
        what = f"Finalize {number} of graph {settings.graph} failed: {one_line(status.error)}"
        output.paragraph(what, indent=0, style="red")
    else:
        output.line(f"Graph {settings.graph} is finalized ({seconds_text(seconds)}).", "bold")
        output.table(("", ""), [(name, f"{count:,}") for name, count in sorted(status.report.items())], right=(1,))
    return ExitCode.FAILED if status.error else ExitCode.OK


def _show_plan(output: Output, settings: "Settings") -> ExitCode:
    from workers.running import open_system

    with open_system(settings, output.note) as system:
        decision = system.client.plan_merges(settings.graph)
    plan = decision.plan
    rows = [(one.duplicate, one.survivor, one.because.reason, one.because.judge) for one in plan.merges]
    if output.as_json:
        merges = [dict(zip(("id", "into", "reason", "judge"), row, strict=True)) for row in rows]
        output.document({"dry_run": True, "graph": settings.graph, "merges": merges, **decision.counts})
        return ExitCode.OK
    if rows:
        output.table(("would go", "into", "as", "by"), rows)
    output.line(f"Graph {settings.graph}: {len(rows):,} merges. Nothing was done.")
    output.note("Names without a vector are compared by their spelling only; a finalize gives them one first.")
    return ExitCode.OK
