"""`graphmill reextract`: stored documents are made anew from their files, with the present settings."""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.orders import follow_run, open_workers
from workers.cli.output import Output
from workers.cli.places import resolve_place
from workers.cli.progress import open_display


def reextract(
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", show_default=False, help="Paths of files, or ids of their documents."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All documents of the graph that are of files.")] = False,
    ontology: Annotated[
        Path | None, typer.Option("--ontology", metavar="FILE", help="Ontology to use. Default: GRAPHMILL_ONTOLOGY.")
    ] = None,
    graph: GraphOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Extract stored files anew with the present settings.

    Each file is read from the folder that its document was named from. What comes out as before stays; what differs
    replaces the old in one step.
    """
    from workers.cli.summary import show_summary

    if bool(documents) == everything:
        raise UsageMistake("Name the files that are to be extracted anew, or give --all.")
    output = Output(as_json=as_json)
    place = resolve_place(ontology) if ontology else None
    settings, flags = read_settings(graph=graph, data_dir=data_dir, ontology=place), data_dir_flag(data_dir)
    # The run goes on with the settings that it was begun with.
    resume = f"{f'GRAPHMILL_ONTOLOGY={shlex.quote(str(place))} ' if place else ''}graphmill resume {{}}{flags}"
    with open_workers(output, settings) as system:
        client = system.client
        if place:
            client.check_workers()
        orders = client.order_reextraction(settings.graph, documents)
        if not orders:
            raise UsageMistake(f"Graph {settings.graph} holds no document of a file among those.")
        worst = ExitCode.OK
        for root, files in orders.items():
            with open_display(output) as display:
                submit = partial(client.submit_files, files, root, graph=settings.graph)
                status = follow_run(system, display, submit, resume)
            if status:
                worst = max(worst, show_summary(output, client, status, flags))
        return worst
