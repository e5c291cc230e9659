"""What newer runs of a graph have taken up: there an older run's outcome tells nothing of the graph any more."""

from collections.abc import Callable, Iterable

from scheduler.errors import RunNotFound
from scheduler.ledger import Ledger
from scheduler.records import FileReport
from scheduler.states import FileState, WorkState

_DOES = frozenset(
    {*(state.value for state in WorkState), FileState.WRITTEN.value, FileState.UPDATED.value, FileState.REMOVED.value}
)


def leave_newest(
    ledger: Ledger, newer: Iterable[str], documents: Iterable[str], counts: Callable[[FileReport], bool] | None = None
) -> set[str]:
    """Keep the documents of which no file of the newer runs that counts is one, or was renamed from one.

    Reads the newer runs until none is left: for the few that are suspected of something.
    """
    left = set(documents)
    for run in newer:
        if not left:
            break
        try:
            for report in ledger.files(run):
                if counts is None or counts(report):
                    left -= {report.document, report.renamed_from}
        except RunNotFound:
            continue
    return left


def does_something(report: FileReport) -> bool:
    """Count a file whose run has changed the graph for it, or is still at it.

    One that a run found unchanged is none: if the graph lost it since, the run that wrote it must write it again.
    """
    # A file that was emptied is skipped once its document has left the graph.
    emptied = report.state == FileState.SKIPPED and report.stage == "write"
    return emptied or report.state in _DOES


def wants_it(report: FileReport) -> bool:
    """Count a file whose run does something, or found the document as it should be: that is not to be removed."""
    return does_something(report) or report.state in {FileState.UNCHANGED, FileState.CHANGED}
