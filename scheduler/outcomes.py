"""What a run tells of a file whose document was written, changed, removed, or there already."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.models import Document, StoredDocument
from scheduler.records import Op, Outcome
from scheduler.states import FileState


def outcome_of_known(stored: StoredDocument, run: str, fingerprint: str, stage: str) -> Outcome:
    """Tell the fate of a file whose present content the graph holds.

    A task that comes again finds its own work: what it says of the file must be what it said before.
    """
    state = FileState.UPDATED if stored.replaced else FileState.WRITTEN
    if stored.unread and (stored.run_id == run or stored.fingerprint == fingerprint):
        said = explain_unread({"unread": stored.unread})
        of_run = state if stored.run_id == run else FileState.UNCHANGED
        return Outcome(of_run, "partial", said, stage, {"chunks_unread": stored.unread})
    if stored.run_id == run:
        return Outcome(state, stage=stage)
    if stored.fingerprint == fingerprint:
        return Outcome(FileState.UNCHANGED, stage=stage)
    message = (
        "The graph holds this content as extracted with other settings; it stays as it is "
        "(`graphmill reextract --present-settings`)."
    )
    return Outcome(FileState.CHANGED, "settings_changed", message, stage)


def outcome_of_overtaken(stored: StoredDocument, stage: str) -> Outcome:
    """Tell the fate of a text whose document a later run has written."""
    message = (
        f"A later run, {stored.run_id}, has written this document, and it stays. To replace it, give the text again."
    )
    return Outcome(FileState.UNCHANGED, "overtaken", message, stage)


def explain_unread(unread: Mapping[str, int]) -> str:
    """Say that passages could not be read, and what to do; `unread` counts them by code."""
    total = sum(unread.values())
    codes = ", ".join(f"{code} {count}" for code, count in sorted(unread.items()) if code != "unread")
    passages = "1 passage says" if total == 1 else f"{total:,} passages say"
    return (
        f"What {passages} could not be had{f' ({codes})' if codes else ''}; the rest is in the graph. "
        "`graphmill retry RUN --failed`, or another ingest, asks for them again."
    )


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """What of a file did not come into the graph: what could not be read, and what its ontology does not declare."""

    warnings: tuple[str, ...] = ()
    """Of its reader."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """How many passages the extractor could not read, by code."""
    pruned: Mapping[str, Any] = field(default_factory=dict)
    """What passages say beyond the ontology, as `pipeline.prune` summarises it."""


def outcome_of_written(document: Document, shortfalls: Shortfalls, removed: int | None, stage: str) -> Outcome:
    """Tell what a document brought, and what of it is lacking.

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
    if shortfalls.pruned:
        details["pruned"] = dict(shortfalls.pruned)
    state = FileState.WRITTEN if removed is None else FileState.UPDATED
    warnings = shortfalls.warnings
    if shortfalls.unread:
        details["chunks_unread"] = sum(shortfalls.unread.values())
        details["unread"] = dict(shortfalls.unread)
        warnings = (explain_unread(shortfalls.unread), *warnings)
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
