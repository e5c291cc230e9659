"""Removes what an unfinished write left of a document, so that another version never mixes with it."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.ids import relation_key

_PAGE = 500
# What another version of the document holds as well stays.
_CHUNKS = "MATCH (d:Document {id: $id})-[:PART_OF]->(c:Chunk) WHERE indegree(c, 'PART_OF') = 1 RETURN c.id"
_MENTIONED = "UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[:MENTIONED_IN]-(e) RETURN DISTINCT e.id"
_SUPPORTED = """
UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[s:__SUPPORT__]-(a) RETURN DISTINCT a.id, s.rel_type, s.tgt
"""
_DELETE_CHUNKS = """
UNWIND $rows AS id MATCH (d:Document {id: $id})-[:PART_OF]->(c:Chunk {id: id}) WHERE indegree(c, 'PART_OF') = 1
OPTIONAL MATCH (p:__Pending__ {id: id})
DELETE p, c RETURN count(*)
"""
# Lest a half-removed version be swapped in.
_UNSTAGE = "MATCH (d:Document {id: $id}) SET d.staged = NULL RETURN count(d)"
_DELETE_DOCUMENT = "MATCH (d:Document {id: $id}) DELETE d RETURN count(*)"


@dataclass(frozen=True, slots=True)
class Touched:
    """What chunks mention and state: entities, and relations by their keys."""

    chunks: int
    entities: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()

    def marks(self) -> list[tuple[str, str]]:
        """Give all of it for `mark_pending`."""
        return [*(("entity", one) for one in self.entities), *(("relation", one) for one in self.relations)]


def discard_document(graph: FalkorGraph, identity: str, epoch: int) -> Touched:
    """Remove a document and its chunks with their mentions and supports; repeating it ends what was begun.

    The caller has let the engine settle its labels.

    Entities and relations that lose something are pending before they do, so that finalize derives
    them anew, and deletes those that nothing mentions or states any more.
    """
    gone = Touched(0)
    if not run_fenced(graph, _UNSTAGE, epoch, id=identity):
        return gone
    chunks = [chunk for (chunk,) in graph.ro_query(_CHUNKS, id=identity)]
    for page in batched(chunks, _PAGE):
        touched = read_touched(graph, page)
        mark_pending(graph, touched.marks(), secrets.token_hex(8), epoch)
        gone = Touched(gone.chunks + len(page), gone.entities | touched.entities, gone.relations | touched.relations)
        run_fenced(graph, _DELETE_CHUNKS, epoch, page, id=identity)
    run_fenced(graph, _DELETE_DOCUMENT, epoch, id=identity)
    return gone


def read_touched(graph: FalkorGraph, chunks: Sequence[str]) -> Touched:
    """Read what a page of chunks mentions and states."""
    entities = frozenset(entity for (entity,) in graph.ro_query(_MENTIONED, chunks))
    relations = frozenset(relation_key(*ends) for ends in graph.ro_query(_SUPPORTED, chunks))
    return Touched(len(chunks), entities, relations)
