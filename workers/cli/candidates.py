"""`graphmill candidates`: what texts bear out and the ontology of a graph does not declare, and what becomes of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from workers.cli.exits import ExitCode, UsageMistake
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
from workers.cli.output import Output, as_row, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.ontology import DeclaredTypes
    from pipeline.ports import TypeCandidate
    from workers.running import System

IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID", show_default=False, help="Candidates, as `graphmill candidates list`.")
]
ParentsOption = Annotated[
    list[str] | None,
    typer.Option("--parent", metavar="LABEL", help="A type above the entities' types that are named. Repeatable."),
]
STATES = ("open", "rejected", "approved")


def list(  # noqa: A001 - the command's name
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="open, rejected, approved, or all.")] = STATES[
        0
    ],
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List types and patterns of relations that texts bear out and the ontology does not declare.

    No search sees them. With --json, each is a line of its own.
    """
    from pipeline.ports import CandidateState
    from workers.running import open_system

    if state not in {*STATES, "all"}:
        raise UsageMistake(f"There is no state {state!r}. Choose from {', '.join(STATES)} and all.")
    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        found = system.client.candidates(settings.graph, None if state == "all" else CandidateState(state))
    if as_json:
        for one in found:
            output.document(as_row(one))
    elif found:
        _show_candidates(output, found, with_state=state == "all")
    else:
        output.line(f"Graph {settings.graph} has no {'' if state == 'all' else f'{state} '}candidates.")
    return ExitCode.OK


def reject(
    ids: IdsArgument, graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Reject candidates: however often they are found, they are not listed as open again."""
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        system.client.reject_candidates(settings.graph, ids)
    if as_json:
        output.document({"graph": settings.graph, "rejected": ids})
    else:
        output.line(f"Rejected: {', '.join(ids)}. `graphmill candidates approve` can still take them.")
    return ExitCode.OK


def approve(  # noqa: PLR0913, PLR0917 - each is an option
    ids: IdsArgument,
    parents: ParentsOption = None,
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What the new types mean, for extractors.")
    ] = "",
    patch_only: Annotated[
        bool, typer.Option("--patch-only", help="Show what the ontology would be extended by, and change nothing.")
    ] = False,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Take candidates into the ontology of a graph, and make the documents that say them anew.

    Extractors' answers that are stored are used again: only passages that have changed since are asked for. A relation
    brings the types at its ends along. With --json, the first line is the patch, then there is one for each run.
    """
    from workers.cli.orders import open_workers

    if parents and not any(identity.startswith("entity:") for identity in ids):
        raise UsageMistake(
            "--parent is for types of entities, and only relations are named. Approve the types at their ends first: "
            "graphmill candidates approve entity:TYPE --parent LABEL."
        )
    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    with open_workers(output, settings, idle=patch_only) as system:
        client = system.client
        above = tuple(parents or ())
        runs: Sequence[str] = ()
        patch = client.propose(settings.graph, ids, above, description)
        if not patch_only:
            budget = read_budget(max_usd, max_tokens)
            _, runs = client.approve_candidates(
                settings.graph, ids, parents=above, description=description, budget=budget
            )
        _show_patch(output, settings.graph, patch, runs)
        return _follow(output, system, runs, flags)


def _show_candidates(output: Output, found: "Sequence[TypeCandidate]", *, with_state: bool) -> None:
    state = ("state",) if with_state else ()
    rows = [
        (
            one.id,
            spell_candidate(one),
            *((one.state.value,) if with_state else ()),
            f"{one.chunks:,}",
            f"{one.documents:,}",
            one_line(one.examples[0] if one.examples else ""),
        )
        for one in found
    ]
    right = (2 + len(state), 3 + len(state))
    output.table(("id", "what", *state, "passages", "documents", "for example"), rows, right=right)


def spell_candidate(one: "TypeCandidate") -> str:
    """Say what a candidate is: a type by its label, a relation by its pattern."""
    from pipeline.ontology import spell_pattern

    return spell_pattern(one.type, one.source, one.target) if one.source else one.type


def _show_patch(output: Output, graph: str, patch: "DeclaredTypes", runs: "Sequence[str]") -> None:
    from pipeline.ontology.exports.plain import as_mapping, spell_yaml

    empty = not (patch.entity_types or patch.relation_types)
    if output.as_json:
        output.document({"graph": graph, "patch": None if empty else as_mapping(patch), "runs": [*runs]})
    elif empty:
        output.line(f"The ontology of graph {graph} declares all of that already.")
    else:
        for line in spell_yaml(patch).splitlines():
            output.line(line)


def _follow(output: Output, system: "System", runs: "Sequence[str]", flags: str) -> ExitCode:
    """Watch the runs that make documents anew, one after the other; the worst exit status counts."""
    return max((_watch(output, system, run, flags) for run in runs), default=ExitCode.OK)


def _watch(output: Output, system: "System", run: str, flags: str) -> ExitCode:
    from workers.cli.driving import interruptible
    from workers.cli.progress import open_display
    from workers.cli.summary import show_summary
    from workers.cli.watching import watch_run

    with open_display(output) as display, interruptible(lambda: f"graphmill resume {run}{flags}", display.note):
        status = watch_run(system, display, run)
    return show_summary(output, system.client, status, flags)
