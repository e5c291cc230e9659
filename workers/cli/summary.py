"""What came of a run: the summary for people, and the same as JSON."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from scheduler.states import FileState, RunState
from workers.cli.exits import ExitCode
from workers.cli.output import Output, as_row, count_text, one_line, seconds_text

if TYPE_CHECKING:
    from scheduler.records import FileReport, FinalizeStatus, RunStatus
    from workers.client import Client

SHOWN_FAILURES = 10
_STYLES = {"failed": "red", "changed": "yellow"}
_SINGULARS = {"documents": "document", "passages": "passage", "entities": "entity", "relations": "relation"}
_MEANINGS = {
    "written": "new in the graph",
    "updated": "follows the file's new content, name or settings",
    "removed": "has left the graph",
    "unchanged": "in the graph already",
    "changed": "in the graph as other settings gave it, and stays so (graphmill reextract --present-settings)",
    "skipped": "no text for a graph (empty, a scan, or a kind that is not read)",
    "failed": "could not be ingested",
    "cancelled": "not finished when the run was cancelled; left nothing in the graph",
}


def run_document(status: "RunStatus") -> dict[str, Any]:
    """Give a run as JSON."""
    files = {"total": status.total, "pending": status.pending, "in_flight": status.in_flight, **status.counts}
    return {
        "run": status.run,
        "state": status.state.value,
        "graph": status.graph,
        "root": status.root,
        "files": files,
        "seconds": run_seconds(status),
        "created_at": status.created_at,
        "error": status.error,
        "reason": status.reason,
        "priority": status.priority,
        "internal_errors": status.internal_errors,
        "usage": usage_document(status),
        "budget": as_row(status.budget),
    }


def usage_document(status: "RunStatus") -> dict[str, Any]:
    """Give what a run has asked of a language model, and what that cost, as JSON."""
    read, known = status.passages_read, status.passages_cached
    return {
        **as_row(status.usage),
        "tokens_lost": status.tokens_lost,
        "passages_read": read,
        "passages_cached": known,
    }


def usage_text(usage: Mapping[str, Any]) -> str:
    """Tell what `usage_document` gives; '' where there was nothing of the kind."""
    if not (usage["calls"] or usage["passages_cached"]):
        return ""
    money = "price unknown" if usage["usd"] is None else f"{usage['usd']:,.4f} USD"
    tokens = f"{usage['tokens_in']:,} tokens in, {usage['tokens_out']:,} out"
    known = f"{count_text(usage['passages_read'], 'passage')} read, {usage['passages_cached']:,} known before"
    lost = f"; at most {usage['tokens_lost']:,} tokens more in calls that broke off" if usage["tokens_lost"] else ""
    return f"Language model: {count_text(usage['calls'], 'call')}, {tokens}, {money}{lost}; {known}"


def spell_reason(reason: str) -> str:
    """Spell why a run is paused, as a sentence."""
    return f"{one_line(reason).rstrip('.')}."


def how_to_go_on(status: "RunStatus", flags: str) -> str:
    """Give the command that lets a paused run go on: what it may spend is to be raised where all is spent."""
    usage, budget = status.usage, status.budget
    more = ""
    if budget.tokens is not None and usage.tokens_in + usage.tokens_out >= budget.tokens:
        more += " --max-tokens N"
    if budget.usd is not None and (usage.usd or 0.0) >= budget.usd:
        more += " --max-usd USD"
    return f"graphmill resume {status.run}{more}{flags}"


def files_text(count: int) -> str:
    """Spell a number of files."""
    return "1 file" if count == 1 else f"{count:,} files"


def explain_internal_errors(count: int) -> str:
    """Say whose fault they are and where to look."""
    return (
        f"{files_text(count)} failed by an internal error: a fault of graphmill (or of an extractor of your own), not "
        "of the file. "
        "The traceback is in the log of the worker that had it, under stage_failed and the file's name "
        "(embedded stack: the logs folder of the data folder)."
    )


def run_seconds(status: "RunStatus") -> dict[str, float]:
    """Tell how long the parts of a run took; parts that have not ended are left out."""
    instants = (status.created_at, status.sealed_at, status.ingested_at, status.ended_at)
    parts = {}
    for name, begin, end in zip(("list", "ingest", "finalize"), instants[:-1], instants[1:], strict=True):
        if begin is not None and end is not None:
            parts[name] = round(max(0.0, end - begin), 3)
    if status.ended_at is not None:
        parts["total"] = round(max(0.0, status.ended_at - status.created_at), 3)
    return parts


def file_document(report: "FileReport") -> dict[str, Any]:
    """Give a file's report as JSON, with what matters of its details on top."""
    row = as_row(report)
    row["path"] = row.pop("relative")
    row["starts"] = report.details.get("starts", 0)
    return row


def show_file(output: Output, report: "FileReport") -> None:
    """Show a file that is not in order: where, what, and why."""
    starts = int(report.details.get("starts", 0))
    lost = f"{starts} lost start{'s' if starts > 1 else ''}" if starts else ""
    # Its log holds the traceback.
    worker = f"on {report.details['worker']}" if report.code == "internal_error" and "worker" in report.details else ""
    where = ", ".join(part for part in (report.stage, lost, worker) if part)
    code = f" {report.code}" if report.code not in {"", "ok"} else ""
    output.line(f"{report.relative}: {report.state}{code}{f' ({where})' if where else ''}", _STYLES.get(report.state))
    if report.message:
        output.paragraph(report.message)


def show_summary(
    output: Output, client: "Client", status: "RunStatus", flags: str, more: Mapping[str, Any] | None = None
) -> ExitCode:
    """Show what came of a run, and give the exit code that says it; `more` goes into its JSON, too."""
    failures = list(islice(client.files(status.run, [FileState.FAILED]), SHOWN_FAILURES))
    paused = status.state is RunState.PAUSED
    partial = _count_partial(client, status)
    failed = status.failed > 0 or bool(status.error) or paused or partial > 0
    counts, finalize = client.graph_counts(status.graph), client.finalize_status(status.graph)
    if output.as_json:
        output.document(
            {
                **run_document(status),
                "changes": as_row(client.changes(status.run)),
                "graph_counts": counts,
                "finalize": as_row(finalize),
                "failures": [file_document(report) for report in failures],
                "partial": partial,
                **(more or {}),
            }
        )
        return ExitCode.FAILED if failed else ExitCode.OK
    seconds = run_seconds(status)
    parts = ", ".join(f"{name} {seconds_text(value)}" for name, value in seconds.items() if name != "total")
    output.line(f"Run {status.run} is {status.state.value}.", "bold")
    output.line(f"{files_text(status.total)} in {seconds_text(seconds.get('total', 0.0))} ({parts})")
    rows = [(name, f"{n:,}", _MEANINGS[name]) for name, n in status.counts.items() if n]
    if rows:
        output.table(("", "", ""), rows, right=(1,))
    held = (count_text(n, _SINGULARS.get(name, name), name) for name, n in counts.items())
    output.line(f"Graph {status.graph}: {', '.join(held)}")
    _show_left(output, status, finalize, flags)
    if told := usage_text(usage_document(status)):
        output.line(told)
    if partial:
        output.paragraph(
            f"{files_text(partial)} in part: what some passages say could not be had. To ask for them again: "
            f"graphmill retry {status.run} --failed{flags}",
            indent=0,
            style="yellow",
        )
    if paused:
        output.paragraph(f"Paused: {spell_reason(status.reason)}", indent=0, style="yellow")
        output.line(f"To go on: {how_to_go_on(status, flags)}; to end it: graphmill cancel {status.run}{flags}")
    if status.error:
        output.paragraph(f"Error: {one_line(status.error)}", indent=0, style="red")
    if status.internal_errors:
        output.paragraph(explain_internal_errors(status.internal_errors), indent=0, style="red")
    if failures:
        output.line(f"\nFailed ({status.failed:,}):", "bold")
        for report in failures:
            show_file(output, report)
        output.line(f"All that is not in the graph: graphmill failures {status.run}{flags}")
    return ExitCode.FAILED if failed else ExitCode.OK


def _show_left(output: Output, status: "RunStatus", finalize: "FinalizeStatus", flags: str) -> None:
    """Tell what the finalize after a run has left for a person to look into; one before it is not of the run."""
    from workers.cli.outcomes import describe_open

    if finalize.began_at >= status.created_at and (left := describe_open(finalize.report)):
        named = finalize.report.get("held") or finalize.report.get("collisions")
        command = "finalize --watch" if named else "merges undecided"
        output.line(f"Finalize: {left}. To see which: graphmill {command} --graph {finalize.graph}{flags}")


def _count_partial(client: "Client", status: "RunStatus") -> int:
    """Count documents some of whose passages could not be read; only calls of a model leave such."""
    if not status.usage.calls:
        return 0
    written = client.files(status.run, [FileState.WRITTEN, FileState.UPDATED, FileState.UNCHANGED])
    return sum(bool(report.details.get("chunks_unread")) for report in written)
