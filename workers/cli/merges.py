"""`graphmill merges`: which entities were made one, why, and back. It starts no workers."""

from typing import TYPE_CHECKING, Annotated

import typer

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, as_row, one_line

if TYPE_CHECKING:
    from pipeline.ports.merges import Explanation

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of an entity; `merges list` shows those merged.")]
_QUOTE_CHARS = 100


def list_merges(
    limit: LimitOption = 100, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """List entities that were merged into others, and why.

    With --json, each is a line of its own.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        found = system.client.merges(settings.graph, limit=limit)
    if as_json:
        for one in found:
            output.document(as_row(one))
    elif found:
        rows = [(one.id, one.into, one.why.phase, one.why.reason, one.why.judge) for one in found]
        output.table(("id", "went into", "phase", "as", "by"), rows)
    else:
        output.line(f"Nothing was merged in graph {settings.graph}.")
    return ExitCode.OK


def undecided(
    limit: LimitOption = 100, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """List pairs of entities that may be one and that no judge could decide about; they stay two.

    With --json, each is a line of its own.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        found = system.client.undecided(settings.graph, limit)
    if as_json:
        for one in found:
            output.document(as_row(one))
    elif found:
        rows = [(*one.judged.pair, *map(one_line, one.names), one.judged.reason, one.judged.judge) for one in found]
        output.table(("id", "id", "name", "name", "as", "by"), rows)
    else:
        output.line(f"No pair of entities of graph {settings.graph} is undecided.")
    return ExitCode.OK


def explain(
    identity: IdArgument, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Tell what an entity is made of: what was merged into it, why, and what each part says where."""
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    with open_system(settings, output.note) as system:
        found = system.client.explain_merge(settings.graph, identity)
    if as_json:
        output.document(as_row(found))
    else:
        _show(output, found, settings.graph, flags)
    return ExitCode.OK


def undo(
    identity: IdArgument, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Take an entity out again of what it was merged into. The two are not merged again.

    Both have exactly their own mentions, facts and properties afterwards; the next finalize embeds what changed.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    with open_system(settings, output.note) as system:
        system.client.undo_merge(settings.graph, identity)
    if as_json:
        output.document({"graph": settings.graph, "undone": identity})
    else:
        output.line(f"{identity} is an entity of its own again.")
        output.line(f"To bring names and vectors up to date: graphmill finalize --graph {settings.graph}{flags}")
    return ExitCode.OK


def _show(output: Output, found: "Explanation", graph: str, flags: str) -> None:
    output.line(f"{found.name or found.id} ({found.id})", "bold")
    for one in found.merges:
        output.line(
            f"{one.id} went into {one.into}: {one.why.reason or 'no reason on record'} ({one.why.judge or '?'})"
        )
    for member in found.members:
        output.line(f"\n{member.name} ({member.id}): {member.mentions:,} mentions, {member.facts:,} facts")
        for place in member.places:
            quote = one_line(place.quote)[:_QUOTE_CHARS]
            output.paragraph(f"{place.source or place.document}: {quote}")
    if found.merges:
        last = found.merges[-1].id
        output.line(f"\nTo take one out again: graphmill merges undo {last!r} --graph {graph}{flags}")
