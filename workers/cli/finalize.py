"""`graphmill finalize`: merge, embed and index what is new in a graph."""

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, as_row, one_line, seconds_text
from workers.cli.progress import open_display


def finalize(graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Merge, embed and index what is new in a graph.

    `ingest` does it by itself, unless it was told `--finalize never`.
    """
    import time

    from workers.cli.driving import interruptible
    from workers.cli.watching import watch_finalize
    from workers.running import INGEST_ROLES, open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
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
        output.table(("", ""), [(name, f"{count:,}") for name, count in status.report.items()], right=(1,))
    return ExitCode.FAILED if status.error else ExitCode.OK
