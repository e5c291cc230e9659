"""The program: its commands, and what becomes of their errors."""

import logging
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, cast

import typer

from workers.cli import candidates, merges, ontology
from workers.cli.artifacts import gc
from workers.cli.exits import MEANINGS, ExitCode, UsageMistake, describe_error
from workers.cli.finalize import finalize
from workers.cli.health import health
from workers.cli.ingest import ingest, resume
from workers.cli.inspect import fingerprint, verify
from workers.cli.interrupts import follow_signals
from workers.cli.leases import leases
from workers.cli.output import Output, printable
from workers.cli.prune import prune
from workers.cli.questions import answer, ask, check, evidence, result
from workers.cli.reextract import reextract
from workers.cli.removal import delete, drop
from workers.cli.reports import failures, runs, status
from workers.cli.serving import flower, up, worker
from workers.cli.settings import settings
from workers.cli.sync import sync
from workers.cli.verbs import cancel, pause, retry
from workers.cli.watch import watch

NAME = "graphmill"
_EXAMPLES: dict[Callable[..., ExitCode], str] = {
    ingest: "graphmill ingest handbook/ --graph kb",
    sync: "graphmill sync handbook/ --graph kb --dry-run",
    watch: "graphmill watch handbook/ --graph kb",
    delete: "graphmill delete handbook/old.md file:travel.md --graph kb",
    reextract: "graphmill reextract --all --ontology types.yaml --graph kb",
    ask: 'graphmill ask "Who approves travel?" --graph kb',
    answer: 'graphmill answer "Who approves travel?" --graph kb',
    result: "graphmill result 152ff54fc44a415d419ec2d9",
    evidence: "graphmill evidence 3 --around 2",
    check: 'graphmill check "The head of department approves travel [1]."',
    runs: "graphmill runs --limit 5",
    status: "graphmill status --watch",
    failures: "graphmill failures 20261130-101500-3fa2b1",
    prune: "graphmill prune 20261130-101500-3fa2b1",
    leases: "graphmill leases --graph kb",
    resume: "graphmill resume 20261130-101500-3fa2b1",
    pause: "graphmill pause 20261130-101500-3fa2b1",
    cancel: "graphmill cancel 20261130-101500-3fa2b1",
    retry: "graphmill retry 20261130-101500-3fa2b1 --failed --code worker_lost",
    finalize: "graphmill finalize --graph kb",
    verify: "graphmill verify --graph kb",
    fingerprint: "graphmill fingerprint --graph kb",
    drop: "graphmill drop --graph kb",
    up: "graphmill up --data-dir /srv/graphmill",
    worker: "graphmill worker extract --concurrency 8",
    flower: "graphmill flower --port 5556",
    health: "graphmill health --role ingest",
    settings: "graphmill settings --format env",
}
_ONTOLOGY: dict[Callable[..., ExitCode], str] = {
    ontology.show: "graphmill ontology show --graph kb",
    ontology.set: "graphmill ontology set preset:business --graph kb",
    ontology.extend: 'graphmill ontology extend --relation "OWNS:Company->Ship" --graph kb',
    ontology.diff: "graphmill ontology diff types.yaml --graph kb",
    ontology.export: "graphmill ontology export --format owl -o types.ttl --graph kb",
}
_CANDIDATES: dict[Callable[..., ExitCode], str] = {
    candidates.list: "graphmill candidates list --graph kb",
    candidates.approve: "graphmill candidates approve entity:drug --graph kb",
    candidates.reject: "graphmill candidates reject entity:drug --graph kb",
}
_MERGES: dict[Callable[..., ExitCode], str] = {
    merges.list_merges: "graphmill merges list --graph kb",
    merges.undecided: "graphmill merges undecided --graph kb",
    merges.explain: "graphmill merges explain acme__organization --graph kb",
    merges.undo: "graphmill merges undo 'acme ltd__organization' --graph kb",
}
_NAMES: dict[Callable[..., ExitCode], str] = {merges.list_merges: "list"}
"""Where a command's function cannot be called as the command is."""
_ARTIFACTS = {gc: "graphmill artifacts gc --older-than 90 --dry-run"}
_EPILOG = "\b\nExit status:\n" + "\n".join(f"  {code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{NAME} {version(NAME)}")
        raise typer.Exit


def _begin(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Files into a FalkorDB knowledge graph, and answers with evidence out of it.

    Without configuration graphmill runs servers and workers of its own, with their data in .graphmill. REDIS_URL and
    FALKORDB_URL name servers of a cluster instead.
    """


def build_program() -> typer.Typer:
    """Put the commands together."""
    program = _build_group(NAME, _EXAMPLES, epilog=_EPILOG)
    program.callback()(_begin)
    types = _build_group("ontology", _ONTOLOGY, epilog=f"Example: {_ONTOLOGY[ontology.show]}")
    program.add_typer(types, help="Show, set and extend the types of a graph.")
    finds = _build_group("candidates", _CANDIDATES, epilog=f"Example: {_CANDIDATES[candidates.list]}")
    program.add_typer(finds, help="Decide what documents say beyond the types of a graph.")
    united = _build_group("merges", _MERGES, epilog=f"Example: {_MERGES[merges.list_merges]}")
    program.add_typer(united, help="Tell which entities were made one and why, and undo it.")
    artifacts = _build_group("artifacts", _ARTIFACTS, epilog=f"Example: {_ARTIFACTS[gc]}")
    program.add_typer(artifacts, help="Look after the folder of stage results.")
    return program


def _build_group(name: str, commands: Mapping[Callable[..., ExitCode], str], *, epilog: str) -> typer.Typer:
    group = typer.Typer(
        name=name,
        # Plain help: the rich one takes longer to import than all else together.
        rich_markup_mode=None,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=epilog,
    )
    for command, example in commands.items():
        group.command(_NAMES.get(command), epilog=f"Example: {example}")(command)
    return group


def prepare_process() -> None:
    """Let signals end a command in good order, and names that the terminal's encoding lacks be spelled out."""
    follow_signals()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by who started us
            cast("Any", stream).reconfigure(errors="backslashreplace")


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives its exit status. Errors become one line, and JSON where that was asked for."""
    try:
        result = build_program()(args=list(arguments), prog_name=NAME, standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - the last stop: whatever it is, the user gets a line and a status
        return _report(error, as_json="--json" in arguments)
    if result == ExitCode.INTERRUPTED:
        return _report(KeyboardInterrupt(), as_json="--json" in arguments)
    return int(result or 0)


def _report(error: BaseException, *, as_json: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(str(error), err=True)
        return ExitCode.USAGE
    failure = describe_error(error)
    if logging.getLogger().isEnabledFor(logging.DEBUG) and not isinstance(error, KeyboardInterrupt | UsageMistake):
        traceback.print_exception(error)
    typer.echo(
        printable(failure.message)
        if failure.status is ExitCode.INTERRUPTED
        else f"Error: {printable(failure.message)}",
        err=True,
    )
    if as_json:
        Output(as_json=True).document({"error": failure.code, "message": failure.message})
    return failure.status
