"""`graphmill ontology`: the types that a graph knows, as they are kept in it; they change by adding only."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, read_settings
from workers.cli.output import Output, as_row, one_line

if TYPE_CHECKING:
    from pipeline.ontology import Ontology, OntologyDiff
    from pipeline.ports import StoredOntology
    from workers.client import Client

SourceArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="Ontology file (YAML, JSON, Turtle), or preset:NAME.", show_default=False)
]
_HASH_CHARS = 12


def show(graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Show the ontology that a graph keeps."""
    from pipeline.ontology.exports.plain import as_mapping
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        latest, ontology = _read(system.client, settings.graph)
    if as_json:
        types = as_mapping(ontology) if ontology else None
        output.document({"graph": settings.graph, **_version_row(latest), "ontology": types})
    elif latest is None or ontology is None:
        output.line(f"Graph {settings.graph} keeps no ontology. {_how_to_begin(settings.graph)}")
    else:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(latest.at))
        output.line(f"Graph {settings.graph}: version {latest.number} ({_short(latest.hash)}), of {day}", "bold")
        _show_types(output, ontology)
    return ExitCode.OK


def set(  # noqa: A001 - the command's name
    source: SourceArgument, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Give a graph its ontology, or a next version of it that declares all that the present one does.

    Descriptions may change, nothing may go. Documents that are stored already stay as they are until
    `reextract --all --present-settings`.
    """
    from pipeline.ontology import diff as compare
    from pipeline.ontology import extend as join
    from workers.ontologies import read_ontology
    from workers.running import open_system

    output = Output(as_json=as_json)
    given = read_ontology(source)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note, may_be_new=True) as system:
        latest, old = _read(system.client, settings.graph)
        if old is None:
            return _store(output, system.client, settings.graph, latest, given)
        change = compare(old, given)
        if not change.only_adds:
            raise UsageMistake(spell_refusal(change, settings.graph, source))
        return _store(output, system.client, settings.graph, latest, join(old, given), old)


def extend(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="File with what is added, or preset:NAME.", show_default=False),
    ] = None,
    entities: Annotated[
        list[str] | None, typer.Option("--entity", metavar="LABEL", help="Entity type to add. Repeatable.")
    ] = None,
    relations: Annotated[
        list[str] | None,
        typer.Option("--relation", metavar="TYPE:SOURCE->TARGET", help="Pattern of a relation type. Repeatable."),
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="TYPE.NAME:VALUE", help="Property, as Person.born:DATE. Repeatable."),
    ] = None,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Add types, patterns and properties to the ontology of a graph.

    What is declared already may be repeated. `--relation TYPE` alone is a new relation between any pair of types.
    """
    from pipeline.ontology import extend as join
    from pipeline.ontology.spelling import spelled_addition
    from workers.ontologies import read_addition
    from workers.running import open_system

    if not (source or entities or relations or properties):
        raise UsageMistake("Name a file with what is to be added, or give --entity, --relation or --property.")
    output = Output(as_json=as_json)
    addition = read_addition(source) if source else None
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        latest, old = _read(system.client, settings.graph)
        if old is None:
            raise UsageMistake(f"Graph {settings.graph} keeps no ontology. {_how_to_begin(settings.graph)}")
        joined = join(old, addition) if addition else old
        if entities or relations or properties:
            joined = join(joined, spelled_addition(joined, entities or (), relations or (), properties or ()))
        return _store(output, system.client, settings.graph, latest, joined, old)


def diff(
    source: SourceArgument, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Show what a file declares more, otherwise and less than the ontology of a graph.

    Exit status 1 says that `ontology set` would refuse it.
    """
    from pipeline.ontology import diff as compare
    from workers.ontologies import read_ontology
    from workers.running import open_system

    output = Output(as_json=as_json)
    given = read_ontology(source)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        _, old = _read(system.client, settings.graph)
    if old is None:
        raise UsageMistake(f"Graph {settings.graph} keeps no ontology. {_how_to_begin(settings.graph)}")
    change = compare(old, given)
    if as_json:
        output.document({"graph": settings.graph, "only_adds": change.only_adds, **as_row(change)})
    else:
        for line in spell_change(change) or ["Both declare the same."]:
            output.line(line)
    return ExitCode.OK if change.only_adds else ExitCode.FAILED


def export(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="File or preset:NAME to convert. Default: the graph's ontology."),
    ] = None,
    form: Annotated[
        str,
        typer.Option("--format", "-f", metavar="FORMAT", help="yaml, json, json-schema, json-ld, shacl, owl (Turtle)."),
    ] = "yaml",
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there. Default: standard output.")
    ] = None,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
) -> ExitCode:
    """Write the ontology of a graph, or of a file or preset, in a format of other programs."""
    from pipeline.ontology.exports import FORMATS
    from workers.ontologies import read_ontology

    if form not in FORMATS:
        raise UsageMistake(f"There is no format {form!r}. Choose from {', '.join(FORMATS)}.")
    text = FORMATS[form](read_ontology(source) if source else _read_whole(graph, data_dir))
    if to is None:
        sys.stdout.write(text)
        return ExitCode.OK
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageMistake(f"{to} cannot be written: {error.strerror}.") from error
    return ExitCode.OK


def _read_whole(graph: str | None, data_dir: Path | None) -> "Ontology":
    from workers.running import open_system

    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, Output(as_json=False).note) as system:
        _, ontology = _read(system.client, settings.graph)
    if ontology is None:
        raise UsageMistake(f"Graph {settings.graph} keeps no ontology. {_how_to_begin(settings.graph)}")
    return ontology


def spell_change(change: "OntologyDiff") -> list[str]:
    """Spell a comparison, a line each: + is added, ~ is described otherwise, - is gone, ! contradicts."""
    marked = (("+", change.added), ("~", change.described), ("-", change.removed), ("!", change.contradictions))
    return [f"{mark} {line}" for mark, lines in marked for line in lines]


def spell_refusal(change: "OntologyDiff", graph: str, source: str) -> str:
    """Say why an ontology cannot follow that of a graph, and what to do instead."""
    faults = [*(f"it lacks {line}" for line in change.removed), *change.contradictions]
    shown = "\n".join(f"  {fault}" for fault in faults)
    return (
        f"{source} cannot be the next ontology of graph {graph}, which only grows:\n{shown}\n"
        f"`graphmill ontology extend --graph {graph}` adds to it. Give other types another graph (--graph NAME), or "
        "single documents (`graphmill reextract DOCUMENT --ontology FILE`)."
    )


def _read(client: "Client", graph: str) -> "tuple[StoredOntology | None, Ontology | None]":
    """Read the latest version, and what it declares; a change in between is noticed when a next one is stored."""
    from pipeline.errors import GraphMissing

    try:
        versions = client.ontology_versions(graph)
    except GraphMissing:
        return None, None
    return max(versions, key=lambda version: version.number, default=None), client.ontology(graph)


def _store(
    output: Output,
    client: "Client",
    graph: str,
    latest: "StoredOntology | None",
    ontology: "Ontology",
    old: "Ontology | None" = None,
) -> ExitCode:
    """Keep a next version, and show what is new in it."""
    from pipeline.ontology import diff as compare

    number = client.set_ontology(graph, ontology, expected=latest.hash if latest else "")
    change = compare(old, ontology) if old else None
    row: dict[str, Any] = {"graph": graph, "version": number, "hash": ontology.fingerprint}
    if output.as_json:
        output.document({**row, "added": change.added if change else None})
        return ExitCode.OK
    if change is not None and change.empty:
        output.line(f"Graph {graph} declares that already: version {number} ({_short(ontology.fingerprint)}) stays.")
        return ExitCode.OK
    output.line(f"Graph {graph}: version {number} ({_short(ontology.fingerprint)})", "bold")
    for line in spell_change(change) if change else ():
        output.line(line)
    return ExitCode.OK


def _show_types(output: Output, ontology: "Ontology") -> None:
    entities = [
        (
            declared.label,
            ", ".join(declared.parents),
            ", ".join(f"{one.name}:{one.type}" for one in declared.properties),
            one_line(declared.description),
        )
        for declared in ontology.entity_types
    ]
    output.table(("entity type", "parents", "properties", "description"), entities)
    if not ontology.relation_types:
        output.line("Relations are open: any type between any pair.")
        return
    relations = [
        (
            declared.label,
            ", ".join(f"{source}->{target}" for source, target in declared.patterns) or "any pair",
            one_line(declared.description),
        )
        for declared in ontology.relation_types
    ]
    output.table(("relation type", "between", "description"), relations)


def _version_row(latest: "StoredOntology | None") -> dict[str, Any]:
    return {"version": latest.number if latest else None, "hash": latest.hash if latest else None}


def _how_to_begin(graph: str) -> str:
    return f"`graphmill ontology set FILE --graph {graph}` gives it one (or set preset:default)."


def _short(fingerprint: str) -> str:
    return fingerprint[:_HASH_CHARS]
