"""Replaces and removes stored documents: a reader sees the old one or the new one, never a mixture.

The new version is written beside the old one, under a node of its own that no reader looks at, as it
has no content hash. One query over two nodes then swaps them, whatever the document's size; what the
old one alone held is removed afterwards, and nothing reads it any more. Each step can be repeated, and
the next one who touches the document ends what was begun. Rules: ADR 0005.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import batched, pairwise

from pipeline import ids
from pipeline.adapters.falkor import statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.derive import derive_entities, derive_relations
from pipeline.adapters.falkor.discard import Touched, discard_document, read_touched
from pipeline.adapters.falkor.fence import raise_fence, run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.adapters.falkor.write import check_counts, send_rows
from pipeline.errors import WriteIncomplete
from pipeline.models import Document, Extraction, Removed
from pipeline.ports import Progress
from pipeline.write import extracted_ids, make_rows

_PAGE = 500
_STATE = "MATCH (d:Document {id: $id}) RETURN d.content_hash, d.fingerprint, d.writing"
_CHUNKS = "MATCH (d:Document {id: $id})-[:PART_OF]->(c:Chunk) RETURN c.id"
_COPY_VECTORS = """
UNWIND $rows AS r MATCH (o:Chunk {id: r[0]}) MATCH (c:Chunk {id: r[1]}) WHERE o.embedded_hash <> ''
SET c.embedding = o.embedding, c.embedded_hash = o.embedded_hash
RETURN count(*)
"""
_SWAP = """
MATCH (p:Document {id: $next}) WHERE p.writing = $version
MATCH (d:Document {id: $id})
SET d.id = $past, d.content_hash = NULL, d.writing = NULL,
    p.id = $id, p.content_hash = $stamp[1], p.source_hash = $stamp[2], p.fingerprint = $stamp[3], p.run_id = $stamp[4],
    p.writing = $clearing
RETURN count(p)
"""
_RETIRE = "MATCH (d:Document {id: $id}) SET d.id = $past, d.content_hash = NULL, d.writing = NULL RETURN count(d)"
_TEMPORARY = """
MATCH (d:Document {id: $id})-[:PART_OF]->(c:Chunk) WHERE c.id ENDS WITH $suffix
RETURN c.id
"""
_NAME_CHUNKS = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]}) SET c.id = r[1]
WITH r OPTIONAL MATCH (p:__Pending__ {id: r[0]}) SET p.id = r[1]
RETURN count(*)
"""
_MOVED = """
MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk) WHERE x.start_char >= 0
RETURN c.id, c.index <> x.index OR c.start_char <> x.start_char OR c.end_char <> x.end_char
       OR coalesce(c.page_first, 0) <> coalesce(x.page_first, 0) OR coalesce(c.page_last, 0) <> coalesce(x.page_last, 0)
       OR coalesce(c.heading_path, []) <> coalesce(x.heading_path, [])
"""
_PLACE_CHUNKS = """
UNWIND $rows AS id MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk {id: id})
SET c.index = x.index, c.start_char = x.start_char, c.end_char = x.end_char, c.page_first = x.page_first,
    c.page_last = x.page_last, c.heading_path = x.heading_path
RETURN count(*)
"""
_FORGET_PLACES = """
UNWIND $rows AS id MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk {id: id})
SET x.start_char = NULL, x.end_char = NULL, x.page_first = NULL, x.page_last = NULL, x.heading_path = NULL
RETURN count(*)
"""
_ORDER = "MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk) RETURN c.id ORDER BY x.index"
_LINKS = "MATCH (d:Document {id: $id})-[:PART_OF]->(a:Chunk)-[:NEXT_CHUNK]->(b:Chunk) RETURN a.id, b.id"
_UNLINK = "UNWIND $rows AS r MATCH (a:Chunk {id: r[0]})-[n:NEXT_CHUNK]->(b:Chunk {id: r[1]}) DELETE n RETURN count(*)"
_DONE = "MATCH (d:Document {id: $id}) SET d.writing = NULL RETURN count(d)"


_TEXTS = "MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk) RETURN c.id, c.text ORDER BY x.index"
_RENAME = """
MATCH (d:Document {id: $old}) SET d.id = $id, d.path = $path, d.run_id = $run
WITH d UNWIND $rows AS r
MATCH (c:Chunk {id: r[0]}) SET c.id = r[1], c.document_id = $id
WITH r OPTIONAL MATCH (p:__Pending__ {id: r[0]}) SET p.id = r[1]
RETURN count(*)
"""


class FalkorReviser:
    """Implements `pipeline.ports.GraphReviser` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def stage(self, document: Document, epoch: int, progress: Progress) -> None:
        """See `GraphReviser.stage`."""
        # Before ids are resolved through merges: a merger whose lease has ended cannot merge in between.
        raise_fence(self._graph, epoch, exclusive=False)
        self.clear(document.id, epoch, progress)
        node, version = ids.next_version(document.id), statements.version_of(document)
        found = self._graph.ro_query(_STATE, id=node)
        if found and found[0][2] != version:
            discard_document(self._graph, node, epoch)
        stored = self._graph.ro_query(_STATE, id=document.id)
        # With other settings the same passage may say other things: then none is kept.
        same = bool(stored) and stored[0][1] == document.fingerprint
        kept = {chunk for (chunk,) in self._graph.ro_query(_CHUNKS, id=document.id)} if same else set()
        suffix = "" if same else ids.VERSION_SUFFIX
        self._write(_leave_out(document, kept), node, suffix, epoch, progress)
        if suffix:
            rows = [[one, one + suffix] for one in _chunk_ids(document)]
            for page in batched(rows, _PAGE):
                run_fenced(self._graph, _COPY_VECTORS, epoch, page)

    def _write(self, document: Document, node: str, suffix: str, epoch: int, progress: Progress) -> None:
        rows = make_rows([document], resolve_merged(self._graph, extracted_ids([document])), suffix)
        send_rows(self._graph, [document], rows, epoch, progress, node=node)
        progress()
        check_counts(self._graph, {node: rows.expected[document.id]})

    def swap(self, document: Document, epoch: int) -> None:
        """See `GraphReviser.swap`."""
        swapped = run_fenced(
            self._graph, _SWAP, epoch, id=document.id, next=ids.next_version(document.id),
            past=ids.past_version(document.id), version=statements.version_of(document),
            stamp=statements.stamp_row(document), clearing=statements.CLEARING,
        )  # fmt: skip
        if swapped != 1:
            raise WriteIncomplete(f"the new version of document {document.id!r} is not there: it is written again")

    def retire(self, document_id: str, epoch: int) -> bool:
        """See `GraphReviser.retire`."""
        return run_fenced(self._graph, _RETIRE, epoch, id=document_id, past=ids.past_version(document_id)) > 0

    def rename(self, document_id: str, to: Document, epoch: int) -> bool:
        """See `GraphReviser.rename`."""
        found = self._graph.ro_query(_TEXTS, id=document_id)
        seen: Counter[str] = Counter()
        rows = []
        for identity, text in found:
            rows.append([identity, ids.chunk_id(to.id, text, seen[text])])
            seen[text] += 1
        touched = read_touched(self._graph, [identity for identity, _ in found])
        mark_pending(self._graph, touched.marks(), secrets.token_hex(8), epoch)
        place = {"old": document_id, "id": to.id, "path": to.path, "run": to.run_id}
        renamed = run_fenced(self._graph, _RENAME, epoch, rows, **place) > 0
        for page in batched(sorted(touched.relations), _PAGE):
            derive_relations(self._graph, page, epoch)
        return renamed

    def clear(self, document_id: str, epoch: int, progress: Progress) -> Removed:
        """See `GraphReviser.clear`."""
        past = ids.past_version(document_id)
        if not self._graph.ro_query(_STATE, id=past):
            state = self._graph.ro_query(_STATE, id=document_id)
            if not state or state[0][2] != statements.CLEARING:
                return Removed()
        touched = discard_document(self._graph, past, epoch)
        self._name_chunks(document_id, epoch)
        removed = self._derive(touched, epoch, progress)
        self._place_chunks(document_id, epoch)
        self._unlink(document_id, epoch)
        run_fenced(self._graph, _DONE, epoch, id=document_id)
        return removed

    def _name_chunks(self, document_id: str, epoch: int) -> None:
        """Give the passages that replaced one of the same text its name, which is free now."""
        suffix = ids.VERSION_SUFFIX
        temporary = [one for (one,) in self._graph.ro_query(_TEMPORARY, id=document_id, suffix=suffix)]
        for page in batched(temporary, _PAGE):
            run_fenced(self._graph, _NAME_CHUNKS, epoch, [[one, one.removesuffix(suffix)] for one in page])

    def _derive(self, touched: Touched, epoch: int, progress: Progress) -> Removed:
        for page in batched(sorted(touched.relations), _PAGE):
            derive_relations(self._graph, page, epoch)
            progress()
        for page in batched(sorted(touched.entities), _PAGE):
            derive_entities(self._graph, page, epoch)
            progress()
        return Removed(touched.chunks, len(touched.entities), len(touched.relations))

    def _place_chunks(self, document_id: str, epoch: int) -> None:
        """Let passages that were kept tell their new place themselves."""
        moved = self._graph.ro_query(_MOVED, id=document_id)
        steps = (
            (_PLACE_CHUNKS, [one for one, differs in moved if differs]),
            (_FORGET_PLACES, [one for one, _ in moved]),
        )
        for cypher, rows in steps:
            for page in batched(rows, _PAGE):
                run_fenced(self._graph, cypher, epoch, page, id=document_id)

    def _unlink(self, document_id: str, epoch: int) -> None:
        """Remove the order that passages had in the old version."""
        order = [one for (one,) in self._graph.ro_query(_ORDER, id=document_id)]
        wanted = set(pairwise(order))
        stale = [[a, b] for a, b in self._graph.ro_query(_LINKS, id=document_id) if (a, b) not in wanted]
        for page in batched(stale, _PAGE):
            run_fenced(self._graph, _UNLINK, epoch, page)


def _chunk_ids(document: Document) -> Sequence[str]:
    return [ids.chunk_id(document.id, chunk.text, chunk.occurrence) for chunk in document.chunks]


def _leave_out(document: Document, kept: Iterable[str]) -> Document:
    """Give the document without what its kept passages say: that is in the graph already."""
    kept = set(kept)
    pairs = zip(_chunk_ids(document), document.extractions, strict=True)
    return replace(document, extractions=tuple(Extraction() if one in kept else said for one, said in pairs))
