"""`graphmill leases`: who holds and who waits for graphs and documents. It starts no workers."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, JsonOption, read_settings
from workers.cli.output import Output, as_row, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.leases import LeaseReport

_DIGITS = 1


def leases(
    graph: Annotated[
        str | None, typer.Option("--graph", "-g", metavar="NAME", help="One graph only. Default: every graph.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show who holds graphs and documents, and who waits for them.

    With --json, each graph is a line of its own.
    """
    from scheduler.leases import Leases
    from workers.connections import connect_redis
    from workers.running import NothingStored, open_system

    output = Output(as_json=as_json)
    try:
        with open_system(read_settings(data_dir=data_dir), output.note) as system:
            settings = system.settings
            with connect_redis(settings) as client:
                reader = Leases(client, ttl_ms=int(settings.graph_lease_seconds * 1000))
                show_leases(output, [reader.read(name) for name in ([graph] if graph else reader.graphs())])
    except NothingStored as nothing:
        output.note(str(nothing))
    return ExitCode.OK


def show_leases(output: Output, found: "Sequence[LeaseReport]") -> None:
    """Write the leases of graphs, as text or as a line of JSON each."""
    if output.as_json:
        for one in found:
            output.document(_rounded(as_row(one)))
        return
    if not found:
        output.line("No graph was ever leased.")
    for one in found:
        output.line(f"graph {one.graph}: epoch {one.epoch}, {'in use' if one.uses else 'nobody holds or waits'}")
        if one.uses:
            rows = [(use.holder, use.standing, use.access, seconds_text(use.seconds_left)) for use in one.uses]
            output.table(("holder", "stands", "access", "left"), rows, right=(3,))
        if one.documents:
            output.line(f"documents held: {one.documents:,}")
            held = [(use.document, use.holder, seconds_text(use.seconds_left)) for use in one.first]
            output.table(("document", "holder", "left"), held, right=(2,))
            if one.documents > len(one.first):
                output.line(f"... and {one.documents - len(one.first):,} more")


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    for use in (*row["uses"], *row["first"]):
        use["seconds_left"] = round(use["seconds_left"], _DIGITS)
    return row
