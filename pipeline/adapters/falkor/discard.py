"""Removes what an unfinished write left of a document, so that another version never mixes with it."""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import batched

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.past import keep_passages, settle_past
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.ids import relation_key
from pipeline.ports import Progress

_PAGE = 500
# What another version of the document holds as well stays.
_CHUNKS = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[:PART_OF]->(c:Chunk) WHERE indegree(c, 'PART_OF') = 1
RETURN c.id, id
"""
_MENTIONED = "UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[:MENTIONED_IN]-(e) RETURN DISTINCT e.id"
_SUPPORTED = """
UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[s:__SUPPORT__]-(a) RETURN DISTINCT a.id, s.rel_type, s.tgt
"""
# From the passage on: from the document on, each row would go through all of its passages.
_DELETE_CHUNKS = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]}) WHERE indegree(c, 'PART_OF') = 1
WITH c, r MATCH (c)<-[:PART_OF]-(d:Document) WHERE d.id = r[1]
OPTIONAL MATCH (p:__Pending__ {id: r[0]})
DELETE p, c RETURN count(*)
"""
# Lest a half-removed version be swapped in.
_UNSTAGE = "UNWIND $rows AS id MATCH (d:Document {id: id}) SET d.staged = NULL RETURN count(d)"
_DELETE_DOCUMENTS = "UNWIND $rows AS id MATCH (d:Document {id: id}) DELETE d RETURN count(*)"


@dataclass(frozen=True, slots=True)
class Touched:
    """What chunks mention and state: entities, and relations by their keys."""

    entities: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)

    def marks(self) -> list[tuple[str, str]]:
        """Give all of it for `mark_pending`."""
        return [*(("entity", one) for one in self.entities), *(("relation", one) for one in self.relations)]


def discard_documents(
    graph: FalkorGraph, nodes: Sequence[str], epoch: int, progress: Progress
) -> tuple[Counter[str], Touched]:
    """Remove documents and their chunks with mentions and supports; repeating it ends what was begun.

    The caller has let the engine settle its labels. No two of the nodes may share chunks: those would stay.
    Gives how many chunks of each node went, and what they touched.

    Entities and relations that lose something are pending before they do, so that finalize derives
    them anew, and deletes those that nothing mentions or states any more. Of a version that was replaced the
    passages are kept apart where that is wanted, see `past`; of a document that was removed nothing is.
    """
    gone: Counter[str] = Counter()
    touched = Touched()
    if not nodes or not run_fenced(graph, _UNSTAGE, epoch, nodes):
        return gone, touched
    kept = settle_past(graph, nodes, epoch, progress)
    for page in batched(graph.ro_query(_CHUNKS, nodes), _PAGE):
        said = read_touched(graph, [chunk for chunk, _ in page])
        mark_pending(graph, said.marks(), secrets.token_hex(8), epoch)
        if superseded := [row for row in page if row[1] in kept]:
            keep_passages(graph, superseded, epoch)
        run_fenced(graph, _DELETE_CHUNKS, epoch, page)
        gone.update(node for _, node in page)
        touched.entities.update(said.entities)
        touched.relations.update(said.relations)
        progress()
    run_fenced(graph, _DELETE_DOCUMENTS, epoch, nodes)
    return gone, touched


def read_touched(graph: FalkorGraph, chunks: Sequence[str]) -> Touched:
    """Read what a page of chunks mentions and states."""
    entities = {entity for (entity,) in graph.ro_query(_MENTIONED, chunks)}
    return Touched(entities, {relation_key(*ends) for ends in graph.ro_query(_SUPPORTED, chunks)})
