"""`graphmill runs`, `status` and `failures`: what the ledger knows. They start no workers."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scheduler.states import ENDED_STATES, RunState
from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, JsonOption, RunArgument, read_settings
from workers.cli.output import Output, as_row, count_text

if TYPE_CHECKING:
    from scheduler.records import MemoryUse, RunStatus
    from workers.running import System

NEWEST = 5
WATCH_SECONDS = 1.0
_IN_ORDER = frozenset({"written", "updated", "removed", "unchanged"})
_STATES = ("written", "updated", "removed", "unchanged", "changed", "skipped", "failed")


def runs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List runs, newest first.

    With --json, each is a line of its own.
    """
    from workers.running import NothingStored

    output = Output(as_json=as_json)
    try:
        with _open_reading(output, data_dir) as system:
            _show_runs(output, system.client.runs(limit))
    except NothingStored as nothing:
        output.note(str(nothing))
    return ExitCode.OK


def status(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="One run only.", show_default=False)] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show it again every second, until the run is done or Ctrl-C.")
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show where runs, queues and workers stand.

    With --json and --watch, a line is written each time something changes.
    """
    from workers.running import NothingStored

    output = Output(as_json=as_json)
    try:
        # Ctrl-C is how watching is meant to end.
        ended = suppress(KeyboardInterrupt) if watch else nullcontext()
        with _open_reading(output, data_dir) as system, ended:
            _follow(output, system, run, watch=watch)
    except NothingStored as nothing:
        if run is not None:
            raise
        output.note(str(nothing))
        if as_json:
            output.document({"runs": [], "finalizes": [], "queues": {}, "workers": [], "memory": {}, "notice": ""})
    return ExitCode.OK


def failures(
    run: RunArgument,
    everything: Annotated[bool, typer.Option("--all", help="List every file, with its state.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List files that are not in the graph, or only in part, and why.

    With --json, each is a line of its own.
    """
    from workers.cli.summary import file_document, show_file

    output = Output(as_json=as_json)
    with _open_reading(output, data_dir) as system:
        listed = 0
        for report in system.client.files(run):
            if everything or report.state not in _IN_ORDER or report.details.get("chunks_unread"):
                listed += 1
                if as_json:
                    output.document(file_document(report))
                else:
                    show_file(output, report)
    if not listed and not as_json:
        output.line("Every file of this run is in the graph." if not everything else "This run has no files.")
    return ExitCode.OK


def read_status(system: "System", run: str | None) -> dict[str, Any]:
    """Read what `status` shows, as JSON values."""
    from workers.cli.summary import run_document

    client = system.client
    if run is not None:
        statuses = [client.status(run)]
    else:
        newest = client.runs(NEWEST)
        active = [client.status(name) for name in client.ledger.active_runs()]
        statuses = [*newest, *(one for one in active if one.run not in {other.run for other in newest})]
    graphs = {one.graph for one in statuses} | (set() if run is not None else set(client.finalizes.graphs()))
    return {
        "runs": [{**run_document(one), "stages": client.stages(one.run)} for one in statuses],
        "finalizes": [as_row(client.finalize_status(graph)) for graph in sorted(graphs)],
        "queues": client.queues(),
        "workers": [{"name": w.name, "queues": list(w.queues), "processes": w.processes} for w in system.workers()],
        "memory": _memory_document(client.memory()),
        "notice": system.settings.language_notice,
    }


def _memory_document(memory: "MemoryUse") -> dict[str, Any]:
    """Give what Redis holds as JSON, in whole megabytes: a byte more is no change to show."""
    from workers.cli.driving import explain_held_back

    megabytes = {"used_mb": memory.used >> 20, "limit_mb": memory.limit >> 20}
    notice = explain_held_back(memory) if memory.above_mark else ""
    return {**megabytes, "mark": memory.mark, "held_back": memory.above_mark, "notice": notice}


def _follow(output: Output, system: "System", run: str | None, *, watch: bool) -> None:
    shown: dict[str, Any] | None = None
    while True:
        found = read_status(system, run)
        if found != shown:
            _show_status(output, found, again=shown is not None)
            shown = found
        if not watch or (run is not None and found["runs"][0]["state"] in ENDED_STATES):
            return
        if system.owned:
            output.note("Nothing is at work on this data folder, so there is nothing to watch.")
            return
        system.supervise()
        time.sleep(WATCH_SECONDS)


def _open_reading(output: Output, data_dir: Path | None) -> "AbstractContextManager[System]":
    from workers.running import open_system

    return open_system(read_settings(data_dir=data_dir), output.note)


def _show_runs(output: Output, found: "Sequence[RunStatus]") -> None:
    from workers.cli.summary import run_document

    if output.as_json:
        for one in found:
            output.document(run_document(one))
    elif found:
        _show_run_table(output, [run_document(one) for one in found])
    else:
        output.line("There are no runs yet. `graphmill ingest FOLDER` makes one.")


def _show_run_table(output: Output, found: Sequence[dict[str, Any]]) -> None:
    from workers.cli.summary import explain_internal_errors

    rows = []
    for one in found:
        files = one["files"]
        fates = ", ".join(f"{files[state]:,} {state}" for state in _STATES if files[state])
        if one["internal_errors"]:
            fates += f" ({one['internal_errors']:,} by an internal error)"
        open_files = files["pending"] + files["in_flight"]
        if open_files:
            fates += f"{', ' if fates else ''}{open_files:,} to do"
        rows.append((one["run"], one["state"], one["graph"], f"{files['total']:,}", fates))
    output.table(("run", "state", "graph", "files", "of which"), rows, right=(3,))
    if internal := sum(one["internal_errors"] for one in found):
        output.paragraph(explain_internal_errors(internal), indent=0, style="red")


def _show_status(output: Output, found: dict[str, Any], *, again: bool) -> None:
    from workers.cli.summary import spell_reason, usage_text

    if output.as_json:
        output.document(found)
        return
    if again:
        output.start_again(time.strftime("%H:%M:%S"))
    if found["runs"]:
        _show_run_table(output, found["runs"])
    else:
        output.line("There are no runs yet.")
    for one in found["runs"]:
        if one["stages"]:
            output.line(f"in flight in {one['run']}: {_counts(one['stages'])}")
        if (one["usage"]["calls"] or len(found["runs"]) == 1) and (told := usage_text(one["usage"])):
            output.line(f"{one['run']}: {told}")
        if one["state"] == RunState.PAUSED and one["reason"]:
            output.paragraph(f"{one['run']} is paused: {spell_reason(one['reason'])}", indent=0, style="yellow")
    output.line()
    for one in found["finalizes"]:
        output.paragraph(f"graph {one['graph']}: {_finalize_text(one)}", indent=0)
    _show_plant(output, found)
    if found["notice"]:
        output.line(found["notice"], "dim")


def _show_plant(output: Output, found: dict[str, Any]) -> None:
    """Show queues, workers, and whether Redis has room."""
    queued = {name: count for name, count in found["queues"].items() if count}
    output.line(f"queues: {_counts(queued) if queued else 'empty'}")
    for one in found["workers"]:
        output.line(
            f"worker {one['name']}: {', '.join(one['queues'])} ({count_text(one['processes'], 'process', 'processes')})"
        )
    if not found["workers"]:
        output.line("workers: none")
    if found["memory"]["held_back"]:
        output.paragraph(found["memory"]["notice"], indent=0, style="yellow")


def _finalize_text(one: dict[str, Any]) -> str:
    from workers.cli.outcomes import describe_open

    if one["state"] == "running":
        return f"finalize {one['number']} is at {one['phase']}, {one['left']} of {one['shards']} parts left"
    if one["error"]:
        return f"finalize {one['number']} failed: {one['error']}"
    if one["waiting"]:
        return f"{count_text(one['waiting'], 'run waits', 'runs wait')} for a finalize"
    if not one["number"]:
        return "not finalized yet"
    left = describe_open(one["report"])
    return f"finalize {one['number']} has ended{f': {left}' if left else ''}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
