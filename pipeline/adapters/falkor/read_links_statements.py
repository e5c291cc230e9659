"""The statements of `read_links`: rows are a relation's ends and type, its text, its similarity and its passages."""

from dataclasses import dataclass

from pipeline.adapters.falkor.read_statements import DOCUMENTS, PLACE, SIMILARITY, WRITTEN


@dataclass(frozen=True, slots=True)
class Within:
    """The statements that find relations of a scope: by what states them, and in graphs without supports."""

    supported: str
    merged: str
    derived: str


_RELATION = f"""
WITH DISTINCT x, startNode(x) AS a, endNode(x) AS b
WITH x, a.id AS a, x.rel_type AS type, b.id AS b, {SIMILARITY.format(element="x")} AS similarity
ORDER BY similarity DESC, a, type, b LIMIT $k
RETURN a, type, b, x.fact, similarity, coalesce(x.source_chunk_ids, [])
"""
NEAREST_FACTS = """
CALL db.idx.vector.queryRelationships('RELATES', 'embedding', $k, vecf32($vector)) YIELD relationship AS x, score
RETURN startNode(x).id, x.rel_type, endNode(x).id, x.fact, 1 - score, coalesce(x.source_chunk_ids, [])
"""
RELATIONS_OF = f"UNWIND $rows AS id MATCH (e:__Entity__ {{id: id}})-[x:RELATES]-(:__Entity__) {_RELATION}"

# From the supports of a scope to their relations.
_SUPPORTED = f"""
WITH DISTINCT a, s.rel_type AS rel_type, s.tgt AS tgt
MATCH (t:__Entity__ {{id: tgt}})
MATCH (a)-[x:RELATES]->(t) WHERE x.rel_type = rel_type
{_RELATION}
"""
# Of an end that was merged away only the type is known: more than the right ones come.
_MERGED = f"""
WITH DISTINCT a, s.rel_type AS rel_type, s.tgt AS tgt
MATCH (m:__Merged__ {{id: tgt}})
WITH DISTINCT a, rel_type MATCH (a)-[x:RELATES]->(:__Entity__) WHERE x.rel_type = rel_type
{_RELATION}
"""
_PASSAGES_WITHIN = f"{DOCUMENTS} WITH d MATCH (d)-[:PART_OF]->(c:Chunk)"
_STATED = f"{_PASSAGES_WITHIN} WITH DISTINCT c MATCH (c)<-[s:__SUPPORT__]-(a:__Entity__)"
_FACTS_SUPPORTED = f"{_STATED} {_SUPPORTED}"
_FACTS_MERGED = f"{_STATED} {_MERGED}"
# From relations to their passages: of an entity with thousands of both, comparing each with each takes minutes.
_DERIVED = f"""
WITH DISTINCT x UNWIND coalesce(x.source_chunk_ids, []) AS id
MATCH (c:Chunk {{id: id}})
WITH x, c {WRITTEN}
{_RELATION}
"""
_FACTS_DERIVED = f"""
{_PASSAGES_WITHIN}
WITH DISTINCT c MATCH (c)<-[:MENTIONED_IN]-(e:__Entity__)
WITH DISTINCT e MATCH (e)-[x:RELATES]->(:__Entity__)
{_DERIVED}
"""
# Rows are [id, the ids that have been merged into it, and its own]. Who states a relation mentions both of its ends.
_MENTIONING = f"""
UNWIND $rows AS r
MATCH (e:__Entity__ {{id: r[0]}})-[:MENTIONED_IN]->(c:Chunk)
WITH DISTINCT r, e, c {WRITTEN}
"""
_STATED_OF = f"""
{_MENTIONING}
WITH DISTINCT r, c MATCH (c)<-[s:__SUPPORT__]-(a:__Entity__) WHERE a.id = r[0] OR s.tgt IN r[1]
"""
_RELATIONS_SUPPORTED = f"{_STATED_OF} {_SUPPORTED}"
_RELATIONS_MERGED = f"{_STATED_OF} {_MERGED}"
_RELATIONS_DERIVED = f"""
UNWIND $rows AS r MATCH (e:__Entity__ {{id: r[0]}})-[x:RELATES]-(:__Entity__)
{_DERIVED}
"""

FACTS = Within(_FACTS_SUPPORTED, _FACTS_MERGED, _FACTS_DERIVED)
RELATIONS = Within(_RELATIONS_SUPPORTED, _RELATIONS_MERGED, _RELATIONS_DERIVED)
MERGES = "MATCH (m:__Merged__) RETURN count(m)"
HUBS = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[:RELATES]-(h:__Entity__)
WITH h, count(DISTINCT e) AS joined
WHERE joined > 1 AND indegree(h, 'RELATES') + outdegree(h, 'RELATES') <= $hub
RETURN h.id ORDER BY joined DESC, h.id LIMIT $k
"""
RELATIONS_OF_HUBS = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[x:RELATES]-(:__Entity__)
WITH DISTINCT x, startNode(x) AS a, endNode(x) AS b
RETURN a.id, x.rel_type, b.id, x.fact, 0.0, coalesce(x.source_chunk_ids, []),
       coalesce(a.name, a.id), coalesce(b.name, b.id)
"""

# Rows are [position, source, relation type, the ids that have been merged into the target].
SUPPORTS = f"""
UNWIND $rows AS r
MATCH (a:__Entity__ {{id: r[1]}})
WITH r, a MATCH (a)-[s:__SUPPORT__ {{rel_type: r[2]}}]->(c:Chunk) WHERE s.tgt IN r[3]
WITH r, s, c {WRITTEN}
RETURN r[0], s.start, s.end, {PLACE}
"""
# Graphs that the GraphRAG SDK built have no supports. Rows are [position, the fact's source_chunk_ids].
STATING_PASSAGES = f"""
UNWIND $rows AS r UNWIND r[1] AS id
MATCH (c:Chunk {{id: id}})
WITH r, c {WRITTEN}
RETURN r[0], NULL AS start, NULL AS end, {PLACE}
"""
# Rows as of `SUPPORTS`, and a passage.
TEXTS_WITHIN = """
UNWIND $rows AS r
MATCH (c:Chunk {id: r[4]})
WITH r, c MATCH (c)<-[s:__SUPPORT__ {rel_type: r[2]}]-(a:__Entity__ {id: r[1]}) WHERE s.tgt IN r[3]
WITH r, c, s, a
OPTIONAL MATCH (c)<-[m:MENTIONED_IN]-(a) WHERE m.as_id = s.src
OPTIONAL MATCH (c)<-[n:MENTIONED_IN]-(:__Entity__) WHERE n.as_id = s.tgt
RETURN r[0], r[2], s.src, s.tgt, m.name, n.name, s.description ORDER BY r[0], s.src, s.tgt, m.name, n.name
"""
