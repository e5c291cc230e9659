"""`graphmill reextract`: stored documents are made anew, each with the settings that it was made with before."""

from functools import partial
from typing import Annotated, Any

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
from workers.cli.orders import follow_run, open_workers
from workers.cli.output import Output
from workers.cli.progress import open_display


def reextract(  # noqa: PLR0913, PLR0917 - each is an option
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCUMENT]...", show_default=False, help="Ids of documents, or paths of their files."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All documents of the graph.")] = False,
    ontology: Annotated[
        str | None,
        typer.Option(
            "--ontology", metavar="FILE", help="Ontology (or preset:NAME) in place of that of their last ingest."
        ),
    ] = None,
    present: Annotated[
        bool,
        typer.Option(
            "--present-settings", help="With the present GRAPHMILL_ settings, not those of their last ingest."
        ),
    ] = False,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Make stored documents anew, each with the settings of its last ingest.

    Each file is read from the folder that its document was named from; a text is taken from the store of stage
    results. What comes out as before stays; what differs replaces the old in one step.
    """
    from workers.cli.summary import show_summary
    from workers.ontologies import read_ontology

    if bool(documents) == everything:
        raise UsageMistake("Name the documents that are to be extracted anew, or give --all.")
    output = Output(as_json=as_json)
    types = read_ontology(ontology) if ontology else None
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    with open_workers(output, settings, reads_first=True) as system:
        client = system.client
        plan = client.plan_reextraction(documents, graph=settings.graph, ontology=types, present=present)
        if not plan:
            raise UsageMistake(f"Graph {settings.graph} holds no document.")
        worst = ExitCode.OK
        for one in plan:
            with open_display(output) as display:
                how: dict[str, Any] = {"recipe": one.recipe, "budget": read_budget(max_usd, max_tokens)}
                submit = partial(client.submit_files, one.files, one.root, graph=settings.graph, **how)
                status = follow_run(system, display, submit, flags)
            if status:
                worst = max(worst, show_summary(output, client, status, flags))
        return worst
