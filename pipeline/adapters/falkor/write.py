"""Writes documents in a few bounded queries a batch, each behind the fence, each harmless to repeat.

Nothing that retrieval's indexes cover is changed once it exists (`ON CREATE SET`): with a vector
index alive any SET on such an element costs fifty times more.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.adapters.falkor import record, statements
from pipeline.adapters.falkor.client import FalkorGraph, Rows
from pipeline.adapters.falkor.discard import discard_documents
from pipeline.adapters.falkor.fence import raise_fence, read_fence, run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.schema import build_search_indexes, prepare_schema, quote_label
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.errors import GraphRejected, WriteIncomplete
from pipeline.ids import KEY_SEPARATOR, next_version, past_version
from pipeline.models import Document, StoredDocument
from pipeline.ontology import Ontology
from pipeline.ports import Progress
from pipeline.write import GraphRows, StoredCounts, extracted_ids, is_storable, make_rows


class FalkorWriter:
    """Implements `pipeline.ports.GraphWriter` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def prepare(self, ontology: Ontology) -> None:
        """See `GraphWriter.prepare`."""
        prepare_schema(self._graph, ontology)

    def remember_recipe(self, fingerprint: str, settings: str) -> None:
        """See `GraphWriter.remember_recipe`."""
        record.remember_recipe(self._graph, fingerprint, settings)

    def raise_fence(self, epoch: int, *, exclusive: bool) -> None:
        """See `GraphWriter.raise_fence`."""
        raise_fence(self._graph, epoch, exclusive=exclusive)

    def fence(self) -> int:
        """See `GraphWriter.fence`."""
        return read_fence(self._graph)

    def stored(self, ids: Sequence[str]) -> dict[str, StoredDocument]:
        """See `GraphWriter.stored`; raises `GraphMissing` where there is no graph."""
        found = self._graph.ro_query(statements.STATE, list(dict.fromkeys(ids)))
        return {
            identity: StoredDocument(
                identity,
                content_hash,
                source_hash or "",
                fingerprint or "",
                run_id or "",
                writing == statements.CLEARING,
                bool(replaced),
                table or "",
                root or "",
            )
            for identity, content_hash, source_hash, fingerprint, run_id, writing, replaced, table, root in found
            if content_hash
        }

    def write(self, documents: Sequence[Document], epoch: int, progress: Progress) -> None:
        """See `GraphWriter.write`.

        Raises `GraphRejected` that names the documents at fault, after all others have been
        written: `stored` tells which those are.
        """
        # Before ids are resolved through merges: a merger whose lease has ended cannot merge in between.
        raise_fence(self._graph, epoch, exclusive=False)
        faults = list(self._write_or_split(documents, epoch, progress))
        if faults:
            raise GraphRejected("; ".join(faults))

    def drop(self) -> None:
        """See `GraphWriter.drop`."""
        self._graph.delete()

    def make_durable(self) -> None:
        """See `GraphWriter.make_durable`; without an append-only file there is nothing to wait for."""
        self._graph.wait_for_disk()

    def build_search_indexes(self, dimension: int, progress: Progress) -> None:
        """See `GraphWriter.build_search_indexes`."""
        build_search_indexes(self._graph, dimension, progress)

    def _write_or_split(self, documents: Sequence[Document], epoch: int, progress: Progress) -> Iterator[str]:
        """Write a batch; where the server refuses it, halve it until the fault has a name."""
        try:
            self._write_batch({document.id: document for document in documents}, epoch, progress)
        except GraphRejected as error:
            if len(documents) == 1:
                yield f"document {documents[0].id!r}: {error}"
                return
            middle = len(documents) // 2
            yield from self._write_or_split(documents[:middle], epoch, progress)
            yield from self._write_or_split(documents[middle:], epoch, progress)

    def _write_batch(self, documents: Mapping[str, Document], epoch: int, progress: Progress) -> None:
        """Write what is not complete; another writer of the same documents may complete some in the meantime."""
        wanted = documents
        while wanted:
            complete = self._make_room(wanted, epoch, progress)
            wanted = {identity: document for identity, document in wanted.items() if identity not in complete}
            try:
                self._write_versions(wanted, epoch, progress)
            except WriteIncomplete:
                # Only who has its leases still may touch what another is writing.
                progress()
                if not self._make_room(wanted, epoch, progress):
                    raise
            else:
                return

    def _write_versions(self, documents: Mapping[str, Document], epoch: int, progress: Progress) -> None:
        merged = resolve_merged(self._graph, extracted_ids(documents.values()))
        rows = make_rows(list(documents.values()), merged)
        send_rows(self._graph, documents.values(), rows, epoch, progress)
        progress()
        check_counts(self._graph, rows.expected)
        for page in fill_pages(map(statements.stamp_row, documents.values())):
            if run_fenced(self._graph, statements.STAMP, epoch, page) != len(page):
                raise WriteIncomplete("Somebody else has written a document of the batch in the meantime.")

    def _make_room(self, documents: Mapping[str, Document], epoch: int, progress: Progress) -> set[str]:
        """Refuse what is stored in another version, and remove what an unfinished write of one left behind.

        Gives the documents that are stored already as they are to be.
        """
        if unusable := [identity for identity in documents if not is_storable(identity)]:
            raise GraphRejected(f"this is no id that a graph finds again: {unusable[0]!r}")
        nexts, pasts = ([make(identity) for identity in documents] for make in (next_version, past_version))
        found = {row[0]: row[1:] for row in self._graph.ro_query(statements.STATE, [*nexts, *pasts, *documents])}
        leftovers, complete = [], set()
        for identity, document in documents.items():
            content_hash, _, fingerprint, _, writing, *_ = found.get(identity, (None,) * 5)
            if content_hash and (content_hash, fingerprint) != (document.content_hash, document.fingerprint):
                raise GraphRejected(f"document {identity!r} is stored in another version: it must be updated")
            if content_hash:
                complete.add(identity)
            elif identity in found and writing != statements.version_of(document):
                leftovers.append(identity)
        # One after the other, as they may share passages: those go with the last of them.
        groups = ([one for one in nexts if one in found], [one for one in pasts if one in found], leftovers)
        if any(groups):
            settle_labels(self._graph)
        for nodes in groups:
            discard_documents(self._graph, nodes, epoch, progress)
        return complete


def send_rows(
    graph: FalkorGraph,
    documents: Collection[Document],
    rows: GraphRows,
    epoch: int,
    progress: Progress,
    *,
    staged: bool = False,
) -> None:
    """Send all rows of documents, or of their next versions."""
    for cypher, items, parameters in _steps(documents, rows, staged=staged):
        for page in fill_pages(items):
            progress()
            _send(graph, cypher, page, epoch, parameters)


def check_counts(graph: FalkorGraph, expected: Mapping[str, StoredCounts]) -> None:
    """Count what is stored: the engine's own counts after a relationship MERGE are not reliable.

    Raises `WriteIncomplete` where something is missing.
    """
    found = {
        identity: StoredCounts(int(chunks), int(mentions), int(supports))
        for identity, chunks, mentions, supports in graph.ro_query(statements.COUNTS, list(expected))
    }
    for identity, wanted in expected.items():
        stored = found.get(identity, StoredCounts())
        if not stored.covers(wanted):
            raise WriteIncomplete(f"document {identity!r}: sent {wanted}, stored {stored}")


def _send(graph: FalkorGraph, cypher: str, page: Rows, epoch: int, parameters: Mapping[str, Any]) -> None:
    if run_fenced(graph, cypher, epoch, page, **parameters) == 0:
        raise WriteIncomplete(f"{len(page)} rows found nothing to hold on to in graph {graph.name!r}")


def _steps(
    documents: Collection[Document], rows: GraphRows, *, staged: bool
) -> Iterator[tuple[str, Iterable[Any], Mapping[str, Any]]]:
    """Give statements, their rows and parameters in order: what is pointed at before what points."""
    # Tells a later finalize that what it has read is not all any more.
    mark = {"mark": secrets.token_hex(8)}
    name = next_version if staged else str
    yield statements.DOCUMENTS, (statements.document_row(one, name(one.id)) for one in documents), {}
    versions = {document.id: statements.version_of(document) for document in documents}
    chunks = (statements.chunk_row(row, name(row.document_id), versions[row.document_id]) for row in rows.chunks)
    yield statements.NEXT_CHUNKS if staged else statements.CHUNKS, chunks, mark
    yield statements.NEIGHBOURS, map(list, rows.neighbours), {}
    for entities in (rows.entities, rows.more_mentions):
        for label in dict.fromkeys(row.label for row in entities):
            own = (statements.entity_row(row) for row in entities if row.label == label)
            labels = ":".join(map(quote_label, (label, *rows.labels.get(label, ()))))
            yield statements.ENTITIES.format(labels=labels), own, {"type": label, **mark}
    relations = (statements.relation_row(row) for row in rows.relations if not row.is_loop)
    yield statements.RELATIONS, relations, {"separator": KEY_SEPARATOR, **mark}
    yield statements.LOOPS, (statements.relation_row(row) for row in rows.relations if row.is_loop), {}
    yield statements.CANDIDATES, map(statements.candidate_row, rows.candidates), {}
