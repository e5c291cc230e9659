"""What a run tells of a file whose document was written, changed, removed, or there already."""

from collections import Counter
from typing import Any

from pipeline.models import Document, StoredDocument
from scheduler.records import Op, Outcome
from scheduler.states import FileState


def outcome_of_known(stored: StoredDocument, run: str, fingerprint: str, stage: str) -> Outcome:
    """Tell the fate of a file whose present content the graph holds.

    A task that comes again finds its own work: what it says of the file must be what it said before.
    """
    if stored.run_id == run:
        return Outcome(FileState.UPDATED if stored.replaced else FileState.WRITTEN, stage=stage)
    if stored.fingerprint == fingerprint:
        return Outcome(FileState.UNCHANGED, stage=stage)
    message = (
        "The graph holds this content as extracted with other settings; it stays as it is (`graphmill reextract`)."
    )
    return Outcome(FileState.CHANGED, "settings_changed", message, stage)


def outcome_of_overtaken(stored: StoredDocument, stage: str) -> Outcome:
    """Tell the fate of a text whose document a later run has written."""
    message = (
        f"A later run, {stored.run_id}, has written this document, and it stays. To replace it, give the text again."
    )
    return Outcome(FileState.UNCHANGED, "overtaken", message, stage)


def outcome_of_written(document: Document, warnings: tuple[str, ...], removed: int | None, stage: str) -> Outcome:
    """Tell what a document brought, what was dropped on the way, what could not be read.

    `removed` counts the passages of the version that it replaced; None where there was none.
    """
    dropped: Counter[str] = Counter()
    for extraction in document.extractions:
        dropped.update(extraction.dropped)
    details: dict[str, Any] = {
        "chunks": len(document.chunks),
        "mentions": sum(len(e.mentions) for e in document.extractions),
        "relations": sum(len(e.relations) for e in document.extractions),
    }
    if removed:
        details["chunks_removed"] = removed
    if dropped:
        details["dropped"] = dict(dropped)
    state = FileState.WRITTEN if removed is None else FileState.UPDATED
    if warnings:
        details["warnings"] = list(warnings)
        return Outcome(state, "partial", warnings[0], stage, details)
    return Outcome(state, stage=stage, details=details)


def outcome_of_step(op: Op, removed: int, stage: str, *, renamed_from: str = "", why: str = "") -> Outcome:
    """Tell what became of a document that was removed (`why`: of a file that holds nothing now), renamed, cleared."""
    if op is Op.DELETE and why:
        gone = f"{why} Its document has left the graph." if removed else why
        return Outcome(FileState.SKIPPED, "empty_document", gone, stage, {"chunks_removed": removed})
    if op is Op.DELETE:
        return Outcome(FileState.REMOVED, stage=stage, details={"chunks_removed": removed})
    details = {"renamed_from": renamed_from} if op is Op.RENAME else {}
    return Outcome(FileState.UPDATED, stage=stage, details=details)
