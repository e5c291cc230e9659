"""`graphmill delete` and `graphmill drop`: documents, or a whole graph, are removed."""

from functools import partial
from typing import Annotated

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.orders import open_workers, run_orders
from workers.cli.output import Output


def delete(
    documents: Annotated[
        list[str], typer.Argument(metavar="DOCUMENT...", help="Ids of documents, or paths of their files.")
    ],
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove documents from a graph, with what they alone said.

    Files stay where they are. Where one document is unknown, none is removed.
    """
    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    with open_workers(output, settings) as system:
        return run_orders(output, system, partial(system.client.delete, documents, graph=settings.graph), flags)


def drop(
    graph: Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="Graph to remove; there is no default.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove a whole graph.

    Asks for its name, and refuses while a run or finalize works on it. Runs keep their history, and what was extracted
    stays in the folder of stage results: a new ingest is cheap.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    with open_system(read_settings(graph=graph, data_dir=data_dir), output.note) as system:
        client = system.client
        counts = client.graph_counts(graph)
        if not yes:
            if as_json:
                raise UsageMistake("With --json nothing is asked: give --yes, too.")
            output.line(f"Graph {graph}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items()))
            _ask_for_name(graph)
        runs = client.drop(graph)
    if as_json:
        output.document({"graph": graph, "dropped": counts, "runs": runs})
    else:
        output.line(f"Graph {graph} is dropped. {runs:,} runs keep their history (graphmill runs).")
    return ExitCode.OK


def _ask_for_name(graph: str) -> None:
    try:
        answer = typer.prompt("It will be gone for good. Type its name to drop it", err=True)
    except typer.Abort:
        raise UsageMistake(
            f"Nothing was dropped: the graph's name was not typed. --yes drops {graph} unasked."
        ) from None
    if answer.strip() != graph:
        raise UsageMistake(f"Nothing was dropped: {answer.strip()!r} is not {graph!r}.")
