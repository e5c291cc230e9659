"""The statements of a write, and the positional rows that each takes.

Rows are lists: the engine reads JSON's lists, but not its objects.
"""

from typing import Any

from pipeline.ids import fingerprint
from pipeline.models import Document
from pipeline.write import CandidateRow, ChunkRow, EntityRow, MentionRow, RelationRow, SupportRow

CLEARING = "clearing"
"""Stands in `writing` of a document whose past version is not all gone."""
STATE = """
UNWIND $rows AS id MATCH (d:Document {id: id})
RETURN id, d.content_hash, d.source_hash, d.fingerprint, d.run_id, d.writing, d.replaced, d.table, d.root
"""
DOCUMENTS = """
UNWIND $rows AS r
MERGE (d:Document {id: r[0]})
ON CREATE SET d.path = r[1], d.media_type = r[2], d.page_count = r[3], d.writing = r[4], d.table = r[5]
RETURN count(*)
"""
# Only into the version that is being written: a process that slept past its leases must add nothing to a newer one.
CHUNKS = """
UNWIND $rows AS r
MATCH (d:Document {id: r[9]}) WHERE d.writing = r[10]
MERGE (c:Chunk {id: r[1]})
ON CREATE SET c.document_id = r[0], c.text = r[2], c.index = r[3], c.start_char = r[4], c.end_char = r[5],
              c.page_first = r[6], c.page_last = r[7], c.heading_path = r[8]
MERGE (d)-[x:PART_OF]->(c) ON CREATE SET x.index = r[3]
MERGE (p:__Pending__ {id: r[1]}) ON CREATE SET p.kind = 'chunk', p.mark = $mark ON MATCH SET p.mark = $mark
RETURN count(*)
"""
# Of a version that waits beside the stored one: passages of both tell their place on the edge meanwhile.
NEXT_CHUNKS = """
UNWIND $rows AS r
MATCH (d:Document {id: r[9]}) WHERE d.writing = r[10]
MERGE (c:Chunk {id: r[1]})
ON CREATE SET c.document_id = r[0], c.text = r[2], c.index = r[3], c.start_char = r[4], c.end_char = r[5],
              c.page_first = r[6], c.page_last = r[7], c.heading_path = r[8]
MERGE (d)-[x:PART_OF]->(c)
ON CREATE SET x.index = r[3], x.start_char = r[4], x.end_char = r[5], x.page_first = r[6], x.page_last = r[7],
              x.heading_path = r[8]
MERGE (p:__Pending__ {id: r[1]}) ON CREATE SET p.kind = 'chunk', p.mark = $mark ON MATCH SET p.mark = $mark
RETURN count(*)
"""
NEIGHBOURS = """
UNWIND $rows AS r
MATCH (a:Chunk {id: r[0]}) MATCH (b:Chunk {id: r[1]})
MERGE (a)-[:NEXT_CHUNK]->(b)
RETURN count(*)
"""
# One query, so that an entity never exists without a mention: orphans are removed beside it. Looked
# up by the one label and made with all: a MERGE on two is slower by half, and adding a label to a
# node that exists costs the engine a pass over all nodes. So ids must differ within one page.
# Rows: nested mentions [chunk, spans, description, name, as_id, properties], id, name, canonical key. What a
# mention leaves out at its end is as its entity's: text is what a query costs.
ENTITIES = """
UNWIND $rows AS r
OPTIONAL MATCH (old:__Entity__ {{id: r[1]}})
FOREACH (once IN CASE WHEN old IS NULL THEN [1] ELSE [] END |
    CREATE (:__Entity__:{labels} {{id: r[1], type: $type, name: r[2], canonical_key: r[3], description: r[0][0][2]}}))
WITH r
MATCH (e:__Entity__ {{id: r[1]}})
MERGE (p:__Pending__ {{id: r[1]}}) ON CREATE SET p.kind = 'entity', p.mark = $mark ON MATCH SET p.mark = $mark
WITH e, r UNWIND r[0] AS m
MATCH (c:Chunk {{id: m[0]}})
MERGE (e)-[x:MENTIONED_IN {{as_id: coalesce(m[4], r[1])}}]->(c)
ON CREATE SET x.spans = m[1], x.description = m[2], x.name = coalesce(m[3], r[2]), x.properties = m[5]
RETURN count(*)
"""
# Rows: nested supports [chunk, start, end, description, source as_id, target as_id], source, type,
# target, and the ends' names; likewise.
_SUPPORTS = """
UNWIND r[0] AS m
MATCH (c:Chunk {id: m[0]})
MERGE (a)-[s:__SUPPORT__ {rel_type: r[2], src: coalesce(m[4], r[1]), tgt: coalesce(m[5], r[3])}]->(c)
ON CREATE SET s.start = m[1], s.end = m[2], s.description = m[3]
RETURN count(*)
"""
RELATIONS = (
    """
UNWIND $rows AS r
MATCH (a:__Entity__ {id: r[1]}) MATCH (b:__Entity__ {id: r[3]})
MERGE (a)-[x:RELATES {rel_type: r[2]}]->(b)
ON CREATE SET x.src_name = r[4], x.tgt_name = r[5], x.description = r[0][0][3],
              x.fact = '(' + r[4] + ', ' + r[2] + ', ' + r[5] + '): ' + r[0][0][3],
              x.source_chunk_ids = [m IN r[0] | m[0]]
MERGE (p:__Pending__ {id: r[1] + $separator + r[2] + $separator + r[3]})
ON CREATE SET p.kind = 'relation', p.mark = $mark ON MATCH SET p.mark = $mark
WITH a, r """
    + _SUPPORTS
)
# Where merges have made both ends one entity: no edge, but the support of an undo.
LOOPS = "UNWIND $rows AS r MATCH (a:__Entity__ {id: r[1]}) WITH a, r " + _SUPPORTS
# Rows: nested finds [chunk, count, examples], id, kind, type, source, target. A candidate keeps its state.
CANDIDATES = """
UNWIND $rows AS r
MERGE (k:__Candidate__ {id: r[1]})
ON CREATE SET k.kind = r[2], k.type = r[3], k.source = r[4], k.target = r[5], k.state = 'open'
WITH k, r UNWIND r[0] AS f
MATCH (c:Chunk {id: f[0]})
MERGE (k)-[x:FOUND_IN]->(c) ON CREATE SET x.count = f[1], x.examples = f[2]
RETURN count(*)
"""
COUNTS = """
UNWIND $rows AS id
MATCH (d:Document {id: id})-[:PART_OF]->(c:Chunk)
RETURN id, count(c), sum(indegree(c, 'MENTIONED_IN')), sum(indegree(c, '__SUPPORT__'))
"""
STAMP = """
UNWIND $rows AS r
MATCH (d:Document {id: r[0]}) WHERE d.writing = r[6]
SET d.content_hash = r[1], d.source_hash = r[2], d.fingerprint = r[3], d.run_id = r[4], d.root = r[5], d.writing = NULL
RETURN count(*)
"""


def version_of(document: Document) -> str:
    """Name what a document's write is made of, so that leftovers of another one are told apart."""
    return fingerprint((document.content_hash, document.fingerprint))


def document_row(document: Document, node: str) -> list[Any]:
    """For `DOCUMENTS`; `node` is the id of the node."""
    told = [document.path, document.media_type, document.page_count, version_of(document), document.table or None]
    return [node, *told]


def chunk_row(row: ChunkRow, node: str, version: str) -> list[Any]:
    """For `CHUNKS` and `NEXT_CHUNKS`, of a version and its node; an empty heading path is no property."""
    chunk = row.chunk
    place = [chunk.index, chunk.start, chunk.end, chunk.page_first, chunk.page_last]
    return [row.document_id, row.id, chunk.text, *place, list(chunk.heading_path) or None, node, version]


def entity_row(row: EntityRow) -> list[Any]:
    """For `ENTITIES`."""
    return [[_mention(one, row) for one in row.mentions], row.id, row.name, row.canonical_key]


def _mention(mention: MentionRow, row: EntityRow) -> list[str]:
    fields = [mention.chunk_id, mention.spans, mention.description]
    if mention.properties:
        return [*fields, mention.name, mention.as_id, mention.properties]
    if mention.as_id != row.id:
        return [*fields, mention.name, mention.as_id]
    return fields if mention.name == row.name else [*fields, mention.name]


def relation_row(row: RelationRow) -> list[Any]:
    """For `RELATIONS` and `LOOPS`."""
    supports = [_support(one, row) for one in row.supports]
    return [supports, row.source, row.rel_type, row.target, row.source_name, row.target_name]


def _support(support: SupportRow, row: RelationRow) -> list[Any]:
    fields = [support.chunk_id, support.start, support.end, support.description]
    ends = (support.source_as_id, support.target_as_id)
    return fields if ends == (row.source, row.target) else [*fields, *ends]


def candidate_row(row: CandidateRow) -> list[Any]:
    """For `CANDIDATES`; an entity type has no ends."""
    finds = [[one.chunk_id, one.count, list(one.examples)] for one in row.finds]
    return [finds, row.id, row.kind, row.type, row.source or None, row.target or None]


def stamp_row(document: Document) -> list[Any]:
    """For `STAMP`."""
    return [
        document.id,
        document.content_hash,
        document.source_hash,
        document.fingerprint,
        document.run_id,
        document.root,
        version_of(document),
    ]
