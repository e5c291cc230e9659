"""Removes what an unfinished write left of a document, so that another version never mixes with it."""

import secrets
from itertools import batched

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.ids import relation_key

_PAGE = 500
_CHUNKS = "MATCH (d:Document {id: $id})-[:PART_OF]->(c:Chunk) RETURN c.id"
_MENTIONED = "UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[:MENTIONED_IN]-(e) RETURN DISTINCT e.id"
_SUPPORTED = """
UNWIND $rows AS id MATCH (c:Chunk {id: id}) MATCH (c)<-[s:__SUPPORT__]-(a) RETURN DISTINCT a.id, s.rel_type, s.tgt
"""
_DELETE_CHUNKS = """
UNWIND $rows AS id MATCH (c:Chunk {id: id}) OPTIONAL MATCH (p:__Pending__ {id: id}) DELETE p, c RETURN count(*)
"""
_DELETE_DOCUMENT = "MATCH (d:Document {id: $id}) DELETE d RETURN count(*)"


def discard_document(graph: FalkorGraph, identity: str, epoch: int) -> None:
    """Remove a document and its chunks with their mentions and supports; repeating it ends what was begun.

    Entities and relations that lose something are pending before they do, so that finalize derives
    them anew, and deletes those that nothing mentions or states any more.
    """
    settle_labels(graph)
    chunks = [chunk for (chunk,) in graph.ro_query(_CHUNKS, id=identity)]
    for page in batched(chunks, _PAGE):
        touched = [("entity", entity) for (entity,) in graph.ro_query(_MENTIONED, page)]
        touched += [("relation", relation_key(*ends)) for ends in graph.ro_query(_SUPPORTED, page)]
        mark_pending(graph, touched, secrets.token_hex(8), epoch)
        run_fenced(graph, _DELETE_CHUNKS, epoch, page)
    run_fenced(graph, _DELETE_DOCUMENT, epoch, id=identity)
