"""`graphmill prune`: what a run left out of the graph, as the ontology does not declare it. It starts no workers."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from scheduler.states import FileState
from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, JsonOption, RunArgument, read_settings
from workers.cli.output import Output, one_line

_MOST_SHOWN = 20
_OF_UNCHANGED = " What was unchanged stands in the report of the run that wrote it."


def prune(
    run: RunArgument,
    document: Annotated[
        str | None, typer.Option("--document", metavar="DOCUMENT", help="One document only: its id, or its path.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show what a run left out of the graph: undeclared types and relations, and what no type fits.

    Each has the command by which the graph's ontology would take it in. Nothing is changed.
    """
    from pipeline.prune import extend_command, merge_pruned
    from workers.running import open_system

    output = Output(as_json=as_json)
    with open_system(read_settings(data_dir=data_dir), output.note) as system:
        graph = system.client.status(run).graph
        files = [one for one in system.client.files(run) if document in (None, one.document, one.relative)]
    if document is not None and not files:
        raise UsageMistake(f"Run {run} has no document {document!r}. `graphmill failures {run} --all` lists its files.")
    pruned = [one.details["pruned"] for one in files if one.details.get("pruned")]
    report = merge_pruned(pruned, _MOST_SHOWN)
    for item in (*report.get("types", ()), *report.get("relations", ())):
        item["command"] = extend_command(item, graph)
    if as_json:
        output.document({"run": run, "graph": graph, "documents": len(pruned), **report})
    elif report:
        _show_report(output, report, len(pruned))
    else:
        unchanged = any(one.state == FileState.UNCHANGED for one in files)
        output.line(f"Nothing was left out.{_OF_UNCHANGED if unchanged else ''}")
    return ExitCode.OK


def _show_report(output: Output, report: Mapping[str, Any], documents: int) -> None:
    output.line(f"Left out of {documents:,} document{'' if documents == 1 else 's'}", "bold")
    if report.get("types"):
        _show_items(output, "\nTypes that are not declared", report, "types")
    if report.get("relations"):
        _show_items(output, "\nRelations that are not declared", report, "relations")
    counted = (
        ("unknown_entities", "Entities of no type at all"),
        ("unknown_ends", "Relations with such an entity at an end"),
    )
    for section, title in counted:
        if told := report.get(section):
            output.line(f"\n{title}: {told['count']:,} ({_samples(told)})")
    if dropped := report.get("dropped"):
        reasons = [(reason, f"{count:,}") for reason, count in sorted(dropped.items(), key=lambda row: -row[1])]
        output.line("\nAll that was left out, by reason")
        output.table(("", ""), reasons, right=(1,))


def _show_items(output: Output, title: str, report: Mapping[str, Any], section: str) -> None:
    output.line(title)
    for item in report[section]:
        output.line(f"{_spell(item)}: {item['count']:,} ({_samples(item)})")
        if item["command"]:
            output.line(f"    {item['command']}", "dim")
    if more := report.get("more", {}).get(section):
        output.line(f"... and {more:,} more finds of others")


def _spell(item: Mapping[str, Any]) -> str:
    if "source" not in item:
        return one_line(item["type"])
    inverted = ", which is declared the other way round" if item["inverted"] else ""
    return one_line(f"{item['source']} {item['type']} {item['target']}{inverted}")


def _samples(told: Mapping[str, Any]) -> str:
    return one_line("; ".join(told["samples"]))
