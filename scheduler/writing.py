"""The write stage: documents come into the graph, change in it, move or go.

New documents are written under a shared lease. Others are staged under it, swapped, retired or renamed
together in one short exclusive grant, and cleared under a shared one again. Rules: ADR 0005.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.errors import GraphRejected, LeaseLost, PermanentError, TransientError
from pipeline.models import Document, Removed, StoredDocument
from pipeline.ports import ArtifactStore, GraphReviser
from scheduler.codec import decode_chunks, decode_extraction, decode_table, decode_text
from scheduler.errors import LeaseUnavailable
from scheduler.known import outcome_of_known
from scheduler.leases import Access, GraphLease, Leases
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe
from scheduler.records import ClaimedFile, Op, Outcome
from scheduler.stages import StageRun, outcome_of
from scheduler.states import FileState


class DocumentMoved(TransientError):
    """A document changed in the graph since its file was read: the file is read again."""

    code = "document_moved"


@dataclass(slots=True)
class _Ready:
    """A file that can be written: its document, or what else is to be done."""

    file: ClaimedFile
    op: Op
    document: Document | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class WriteStages:
    """What the stage works with; one per process."""

    root_of: Callable[[str], str]
    """Tells the folder that a run's names are relative to, as it was submitted."""
    recipe_of: Callable[[str], Recipe]
    """Tells what the files of a run are made with."""
    artifacts: ArtifactStore
    graphs: Graphs
    leases: Leases

    def write(self, run: StageRun) -> None:
        """Do what the files of a batch ask for, under the leases of their documents."""
        ready: dict[str, _Ready] = {}
        for f in run.open_files():
            try:
                ready[f.document] = self._assemble(run, f)
            except TransientError as error:
                run.defer(f, error)
            except PermanentError as error:
                run.ended[f.index] = outcome_of(error, run.stage)
        graph, names = run.batch.graph, [n for one in ready.values() for n in _names_of(one)]
        try:
            for name in self.leases.take_documents(graph, run.holder, names):
                for own in [own for own, one in ready.items() if name in _names_of(one)]:
                    run.defer(ready.pop(own).file, LeaseUnavailable(f"Another run writes {name} right now."))
            if ready:
                with self.graphs.made_anew(graph):
                    self._write_leased(run, ready, names)
        finally:
            self.leases.release_documents(graph, run.holder, names)

    def _assemble(self, run: StageRun, f: ClaimedFile) -> _Ready:
        op = Op(f.ref.get("op", Op.INGEST))
        if op in {Op.DELETE, Op.CLEAR}:
            return _Ready(f, op)
        if op is Op.RENAME:
            return _Ready(f, op, self._document(run, f))
        if "table" in f.ref:
            table = decode_table(self.artifacts.get(f.ref["table"]))
            content = {"chunks": table.chunks, "extractions": table.extractions}
            return _Ready(f, op, self._document(run, f, media_type="text/csv", **content), table.warnings)
        loaded = decode_text(self.artifacts.get(f.ref["text"]))
        chunks = decode_chunks(self.artifacts.get(f.ref["chunks"]))
        recipe = self.recipe_of(run.batch.run)
        said = (decode_extraction(self.artifacts.get(recipe.extraction_key(c.text))) for c in chunks)
        document = self._document(
            run, f, media_type=loaded.media_type, chunks=chunks, extractions=tuple(said), page_count=len(loaded.pages)
        )
        return _Ready(f, op, document, loaded.warnings)

    def _document(self, run: StageRun, f: ClaimedFile, **content: Any) -> Document:
        return Document(
            id=f.document,
            path=f.relative,
            content_hash=f.ref["content"],
            source_hash=f.ref["source"],
            fingerprint=self.recipe_of(run.batch.run).fingerprint_of(f.ref.get("order", "")),
            run_id=run.batch.run,
            root=self.root_of(run.batch.run),
            table=f.ref.get("order", ""),
            **content,
        )

    def _write_leased(self, run: StageRun, ready: dict[str, _Ready], names: list[str]) -> None:
        writer, reviser = self.graphs.writer(run.batch.graph), self.graphs.reviser(run.batch.graph)
        with self._grant(run, Access.SHARED) as lease:
            progress = self._watch(run, lease, names)
            new, changes = self._sort(run, ready, writer.stored(list(ready)))
            if new:
                self._write_new(run, lease, new, progress)
            versions = [one.document for one in changes.values() if one.op is Op.INGEST and one.document]
            for document in versions:
                reviser.stage(document, lease.epoch, progress)
            # What a crash has left is in the way of the others' next step.
            others = [name for one in changes.values() if one.op is not Op.INGEST for name in _names_of(one)]
            reviser.clear(others, lease.epoch, progress)
        if moving := [one for one in changes.values() if one.op is not Op.CLEAR]:
            with self._grant(run, Access.EXCLUSIVE) as lease:
                writer.raise_fence(lease.epoch, exclusive=True)
                for one in moving:
                    _move(reviser, one, lease.epoch)
        if changes:
            with self._grant(run, Access.SHARED) as lease:
                removed = reviser.clear(list(changes), lease.epoch, self._watch(run, lease, names))
            for name, one in changes.items():
                run.ended[one.file.index] = _revised(one, removed[name], run.stage)

    def _sort(
        self, run: StageRun, ready: dict[str, _Ready], stored: dict[str, StoredDocument]
    ) -> tuple[dict[str, _Ready], dict[str, _Ready]]:
        """Tell new documents and changes apart; what is in the graph already, or has moved, gets its fate here."""
        new: dict[str, _Ready] = {}
        changes: dict[str, _Ready] = {}
        for name, one in ready.items():
            known = stored.get(name)
            if one.op is not Op.INGEST or one.document is None:
                changes[name] = one
            elif known is None:
                new[name] = one
            elif (known.content_hash, known.fingerprint) == (one.document.content_hash, one.document.fingerprint):
                run.ended[one.file.index] = outcome_of_known(known, run.batch.run, known.fingerprint, run.stage)
            elif known.content_hash != one.file.ref["base"]:
                run.defer(one.file, DocumentMoved(f"{name} was written by another run since its file was read."))
            else:
                changes[name] = one
        return new, changes

    def _write_new(
        self, run: StageRun, lease: GraphLease, new: dict[str, _Ready], progress: Callable[[], None]
    ) -> None:
        writer = self.graphs.writer(run.batch.graph)
        try:
            writer.write([one.document for one in new.values() if one.document], lease.epoch, progress)
        except GraphRejected as error:
            # The batch mates of a document that the graph refuses are written all the same.
            for name in new.keys() - writer.stored(list(new)).keys():
                writer.discard(name, lease.epoch)
                run.ended[new.pop(name).file.index] = outcome_of(error, run.stage)
        for one in new.values():
            run.ended[one.file.index] = _told(one, FileState.WRITTEN, run.stage)

    def _watch(self, run: StageRun, lease: GraphLease, names: list[str]) -> Callable[[], None]:
        """Make what renews the leases between two queries, and ends the work once one is lost."""

        def progress() -> None:
            run.progress()
            if run.lost:
                raise LeaseLost("Files of this batch were taken by another worker.")
            if lease.renew() and (lost := self.leases.renew_documents(lease.graph, run.holder, names)):
                raise LeaseLost(f"The lease on {len(lost)} documents ended before they were written.")

        return progress

    @contextmanager
    def _grant(self, run: StageRun, access: Access) -> Iterator[GraphLease]:
        with GraphLease.hold(self.leases, run.batch.graph, access, run.holder) as lease:
            try:
                yield lease
            except LeaseLost:
                # Where Redis lost its counter the fence is ahead of every grant: go past it.
                self.leases.reseed(lease.graph, self.graphs.writer(lease.graph).fence(), access)
                raise

    # discard

    def discard(self, run: StageRun) -> None:
        """Remove what the files of a cancelled run left in the graph; what is complete stays, or has gone."""
        graph = run.batch.graph
        writer, reviser = self.graphs.writer(graph), self.graphs.reviser(graph)
        files = {f.document: f for f in run.open_files()}
        names = list(files)
        try:
            for name in self.leases.take_documents(graph, run.holder, names):
                run.defer(files.pop(name), LeaseUnavailable(f"Another run writes {name} right now."))
            with self._grant(run, Access.SHARED) as lease:
                reviser.clear(list(files), lease.epoch, self._watch(run, lease, names))
                for name, f in files.items():
                    known = writer.stored([name]).get(name)
                    if known and known.run_id == run.batch.run:
                        run.ended[f.index] = outcome_of_known(known, run.batch.run, "", run.stage)
                        continue
                    if known is None and f.op is not Op.DELETE:
                        writer.discard(name, lease.epoch)
                    gone = known is None and f.op is Op.DELETE
                    state, code = (FileState.REMOVED, "ok") if gone else (FileState.CANCELLED, "cancelled")
                    run.ended[f.index] = Outcome(state, code, stage=run.stage)
                    run.progress()
        finally:
            self.leases.release_documents(graph, run.holder, names)


def _move(reviser: GraphReviser, one: _Ready, epoch: int) -> None:
    """Take the step that readers see."""
    if one.op is Op.DELETE:
        reviser.retire(one.file.document, epoch)
    elif one.op is Op.RENAME and one.document:
        reviser.rename(one.file.renamed_from, one.document, epoch)
    elif one.document:
        reviser.swap(one.document, epoch)


def _names_of(one: _Ready) -> list[str]:
    return [one.file.document, *([one.file.renamed_from] if one.op is Op.RENAME else [])]


def _told(one: _Ready, state: FileState, stage: str, removed: Removed | None = None) -> Outcome:
    """Tell of a written document what it brought, what was dropped on the way, and what could not be read."""
    extractions = one.document.extractions if one.document else ()
    dropped: Counter[str] = Counter()
    for extraction in extractions:
        dropped.update(extraction.dropped)
    details: dict[str, Any] = {
        "chunks": len(one.document.chunks) if one.document else 0,
        "mentions": sum(len(e.mentions) for e in extractions),
        "relations": sum(len(e.relations) for e in extractions),
    }
    if removed and removed.chunks:
        details["chunks_removed"] = removed.chunks
    if dropped:
        details["dropped"] = dict(dropped)
    if one.warnings:
        details["warnings"] = list(one.warnings)
        return Outcome(state, "partial", one.warnings[0], stage, details)
    return Outcome(state, stage=stage, details=details)


def _revised(one: _Ready, removed: Removed, stage: str) -> Outcome:
    """Tell what became of a document that was there before."""
    if one.op is Op.DELETE and "why" in one.file.ref:
        message = f"{one.file.ref['why']} Its document has left the graph."
        return Outcome(FileState.SKIPPED, "empty_document", message, stage, {"chunks_removed": removed.chunks})
    if one.op is Op.DELETE:
        return Outcome(FileState.REMOVED, stage=stage, details={"chunks_removed": removed.chunks})
    if one.op is Op.RENAME:
        return Outcome(FileState.UPDATED, stage=stage, details={"renamed_from": one.file.renamed_from})
    if one.op is Op.CLEAR:
        return Outcome(FileState.UPDATED, stage=stage)
    return _told(one, FileState.UPDATED, stage, removed)
