"""The four stages of a file's way into the graph, over the pipeline's pure functions and its ports.

Each stage reads the artifact that the one before left, returns at once where its own exists already,
and leaves a reference of a few hashes for the next. Nothing else travels.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline import ids
from pipeline.chunk import chunk, chunk_fingerprint
from pipeline.config import ChunkConfig, LoadConfig
from pipeline.errors import (
    GraphMissing,
    GraphRejected,
    GraphUnavailable,
    LeaseLost,
    PermanentError,
    TransientError,
)
from pipeline.extract import extract
from pipeline.models import Chunk, Document, Extraction, StoredDocument
from pipeline.ontology import Ontology
from pipeline.ports import ArtifactStore, DocumentReader, Extractor, GraphWriter
from scheduler.codec import FORMAT, decode_chunks, decode_extraction, decode_text, encode
from scheduler.errors import LeaseUnavailable
from scheduler.leases import Access, GraphLease, Leases
from scheduler.reading import read_patiently
from scheduler.records import ClaimedFile, Outcome
from scheduler.stages import OutOfTurn, StageRun, each_file, outcome_of
from scheduler.states import FileState

EXTRACT_SLICE = 16
"""Passages given to the extractor at once; between two slices leases are renewed and the clock is read."""


@dataclass(slots=True)
class IngestStages:
    """What the stages work with; one per process."""

    root_of: Callable[[str], Path]
    reader: DocumentReader
    extractor: Extractor
    ontology: Ontology
    artifacts: ArtifactStore
    writer_of: Callable[[str], GraphWriter]
    leases: Leases
    load_config: LoadConfig
    chunk_config: ChunkConfig
    turn_seconds: float
    """After this long an extract task keeps what it has and gives the rest of its files another turn."""
    check_record: Callable[[str], None]
    """Refuses a graph that was made with another embedder or artifact store."""
    _prepared: set[str] = field(default_factory=set)

    @property
    def fingerprint(self) -> str:
        """Changes when the same bytes may give another document."""
        parts = (self.reader.fingerprint, chunk_fingerprint(self.chunk_config), self.extractor.fingerprint)
        return ids.fingerprint((FORMAT, *parts, self.ontology.fingerprint))

    # load

    def load(self, run: StageRun) -> None:
        """Read files, tell the known ones apart, store the text of the others."""
        writer = self.writer_of(run.batch.graph)
        self._prepare(run.batch.graph, writer)
        root = self.root_of(run.batch.run)
        with self._made_anew(run.batch.graph):
            known = writer.stored([ids.file_document_id(f.relative) for f in run.open_files()])

        def load_one(run: StageRun, f: ClaimedFile) -> Outcome | dict[str, str]:
            data = read_patiently(root, f, self.load_config)
            source = ids.bytes_hash(data)
            stored = known.get(ids.file_document_id(f.relative))
            if stored and stored.source_hash == source:
                return self._known(run, stored.fingerprint, stored.run_id, "load")
            # The name decides between formats that look alike, so it is part of the key.
            key = ids.artifact_key("text", (FORMAT, source, Path(f.relative).suffix.lower(), self.reader.fingerprint))
            cached = self.artifacts.get(key)
            if cached is None:
                loaded = self.reader.read(data, f.relative)
                self.artifacts.put(key, encode(loaded))
            else:
                loaded = decode_text(cached)
            return {"source": source, "text": key, "content": ids.content_hash(loaded.text)}

        each_file(load_one)(run)

    def _prepare(self, graph: str, writer: GraphWriter) -> None:
        """Make the graph ready before this process writes its first batch to it."""
        if graph not in self._prepared:
            writer.prepare(self.ontology)
            self.check_record(graph)
            self._prepared.add(graph)

    def _known(self, run: StageRun, fingerprint: str, written_by: str, stage: str) -> Outcome:
        """Tell the fate of a file whose content the graph holds already."""
        if written_by == run.batch.run:
            return Outcome(FileState.WRITTEN, stage=stage)
        if fingerprint == self.fingerprint:
            return Outcome(FileState.UNCHANGED, stage=stage)
        message = "The graph holds this content as extracted with other settings; it stays as it is."
        return Outcome(FileState.CHANGED, "settings_changed", message, stage)

    # chunk

    def chunk(self, run: StageRun) -> None:
        """Cut texts into passages."""
        each_file(self._chunk_one)(run)

    def _chunk_key(self, ref: dict[str, str]) -> str:
        return ids.artifact_key("chunks", (FORMAT, ref["text"], chunk_fingerprint(self.chunk_config)))

    def _chunk_one(self, _: StageRun, f: ClaimedFile) -> dict[str, str]:
        key = self._chunk_key(f.ref)
        if self.artifacts.get(key) is None:
            chunks = chunk(decode_text(self.artifacts.get(f.ref["text"])), self.chunk_config)
            self.artifacts.put(key, encode(chunks))
        return {**f.ref, "chunks": key}

    # extract

    def extract(self, run: StageRun) -> None:
        """Find entities and relations, passage by passage; a large document takes as many turns as it needs."""
        each_file(self._extract_one)(run)

    def _extraction_key(self, text: str) -> str:
        parts = (FORMAT, text, self.extractor.fingerprint, self.ontology.fingerprint)
        return ids.artifact_key("extraction", parts)

    def _extract_one(self, run: StageRun, f: ClaimedFile) -> dict[str, str]:
        chunks = decode_chunks(self.artifacts.get(f.ref["chunks"]))
        missing: dict[str, str] = {}
        for c in chunks:
            key = self._extraction_key(c.text)
            if key not in missing and self.artifacts.get(key) is None:
                missing[key] = c.text
        keys = list(missing)
        for first in range(0, len(keys), EXTRACT_SLICE):
            if run.elapsed() > self.turn_seconds:
                raise OutOfTurn("The rest of this document is extracted in another turn.")
            some = keys[first : first + EXTRACT_SLICE]
            for key, extraction in zip(
                some, extract([missing[k] for k in some], self.extractor, self.ontology), strict=True
            ):
                self.artifacts.put(key, encode(extraction))
            run.progress()
        return f.ref

    # write

    def write(self, run: StageRun) -> None:
        """Write documents under their leases and a shared lease on the graph."""
        ready: dict[str, _Ready] = {}
        for f in run.open_files():
            try:
                one = self._assemble(run, f)
            except TransientError as error:
                run.defer(f, error)
            except PermanentError as error:
                run.ended[f.index] = outcome_of(error, run.stage)
            else:
                ready[one.document.id] = one
        graph, names = run.batch.graph, list(ready)
        try:
            for name in self.leases.take_documents(graph, run.holder, names):
                f = ready.pop(name).file
                run.defer(f, LeaseUnavailable(f"Another run writes {name} right now."))
            if ready:
                with GraphLease.hold(self.leases, graph, Access.SHARED, run.holder) as lease, self._made_anew(graph):
                    self._write_leased(run, lease, ready)
        finally:
            self.leases.release_documents(graph, run.holder, names)

    # discard

    def discard(self, run: StageRun) -> None:
        """Remove what the files of a cancelled run left in the graph; a document that is complete stays."""
        graph = run.batch.graph
        writer = self.writer_of(graph)
        files = {ids.file_document_id(f.relative): f for f in run.open_files()}
        names = list(files)
        try:
            for name in self.leases.take_documents(graph, run.holder, names):
                run.defer(files.pop(name), LeaseUnavailable(f"Another run writes {name} right now."))
            with GraphLease.hold(self.leases, graph, Access.SHARED, run.holder) as lease:
                stored = writer.stored(list(files))
                for name, f in files.items():
                    if name in stored and stored[name].run_id == run.batch.run:
                        run.ended[f.index] = Outcome(FileState.WRITTEN, stage=run.stage)
                        continue
                    if name not in stored:
                        writer.discard(name, lease.epoch)
                    run.ended[f.index] = Outcome(FileState.CANCELLED, "cancelled", stage=run.stage)
                    run.progress()
        finally:
            self.leases.release_documents(graph, run.holder, names)

    def _assemble(self, run: StageRun, f: ClaimedFile) -> "_Ready":
        loaded = decode_text(self.artifacts.get(f.ref["text"]))
        chunks = decode_chunks(self.artifacts.get(f.ref["chunks"]))
        document = Document(
            id=ids.file_document_id(f.relative),
            path=f.relative,
            content_hash=f.ref["content"],
            source_hash=f.ref["source"],
            fingerprint=self.fingerprint,
            media_type=loaded.media_type,
            chunks=chunks,
            extractions=tuple(self._extraction(c) for c in chunks),
            page_count=len(loaded.pages),
            run_id=run.batch.run,
        )
        return _Ready(f, document, loaded.warnings)

    def _extraction(self, c: Chunk) -> Extraction:
        return decode_extraction(self.artifacts.get(self._extraction_key(c.text)))

    def _write_leased(self, run: StageRun, lease: GraphLease, ready: "dict[str, _Ready]") -> None:
        writer = self.writer_of(run.batch.graph)
        held = list(ready)

        def progress() -> None:
            run.progress()
            if run.lost:
                raise LeaseLost("Files of this batch were taken by another worker.")
            if lease.renew() and (lost := self.leases.renew_documents(lease.graph, run.holder, held)):
                raise LeaseLost(f"The lease on {len(lost)} documents ended before they were written.")

        for stored in writer.stored(held).values():
            one = ready.pop(stored.id)
            run.ended[one.file.index] = self._compare(run, one.document, stored)
        if not ready:
            return
        try:
            writer.write([one.document for one in ready.values()], lease.epoch, progress)
        except LeaseLost:
            # Where Redis lost its counter the fence is ahead of every grant: go past it.
            self.leases.reseed(lease.graph, writer.fence(), lease.access)
            raise
        except GraphRejected as error:
            # The batch mates of a document that the graph refuses are written all the same.
            for name in ready.keys() - writer.stored(list(ready)).keys():
                writer.discard(name, lease.epoch)
                run.ended[ready.pop(name).file.index] = outcome_of(error, run.stage)
        for one in ready.values():
            run.ended[one.file.index] = _written(one, run.stage)

    def _compare(self, run: StageRun, document: Document, stored: StoredDocument) -> Outcome:
        if stored.content_hash == document.content_hash:
            return self._known(run, stored.fingerprint, stored.run_id, run.stage)
        message = "The file changed since it was ingested; the graph keeps the earlier version."
        return Outcome(FileState.CHANGED, "content_changed", message, run.stage)

    @contextmanager
    def _made_anew(self, graph: str) -> Iterator[None]:
        """A graph that is removed under our feet is prepared again by the next batch."""
        try:
            yield
        except GraphMissing as error:
            self._prepared.discard(graph)
            raise GraphUnavailable(f"{error} It is made anew.") from error


@dataclass(frozen=True, slots=True)
class _Ready:
    """A document that can be written: whose file it is, and what its reader had to leave out."""

    file: ClaimedFile
    document: Document
    warnings: tuple[str, ...]


def _written(one: _Ready, stage: str) -> Outcome:
    """Tell of a written document what it brought, what was dropped on the way, and what could not be read."""
    extractions = one.document.extractions
    dropped: Counter[str] = Counter()
    for extraction in extractions:
        dropped.update(extraction.dropped)
    details: dict[str, Any] = {
        "chunks": len(one.document.chunks),
        "mentions": sum(len(e.mentions) for e in extractions),
        "relations": sum(len(e.relations) for e in extractions),
    }
    if dropped:
        details["dropped"] = dict(dropped)
    if one.warnings:
        details["warnings"] = list(one.warnings)
        return Outcome(FileState.WRITTEN, "partial", one.warnings[0], stage, details)
    return Outcome(FileState.WRITTEN, stage=stage, details=details)
