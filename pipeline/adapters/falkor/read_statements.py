"""The queries of retrieval, all read-only; `$vector` is the question's, `$rows` ids or words.

A WITH between two MATCHes holds the planner to their order: else it begins at all documents.
A document without `content_hash` is not completely written: what only it says is left out.
"""

_SIMILARITY = "coalesce(1 - vec.cosineDistance({element}.embedding, vecf32($vector)), 0.0)"
_WRITTEN = "MATCH (d:Document)-[part:PART_OF]->(c) WHERE d.content_hash <> ''"
# `spans` is JSON, `[[start, end], …]` in order; where there is none this is null, and so not true.
_OPENS = "toInteger(split(substring(m.spans, 2), ',')[0]) < $opening"
# Where two versions of a document share a passage, each tells on its edge where it stands.
_PLACE = "d.path, " + ", ".join(
    f"CASE WHEN part.start_char IS NULL THEN c.{name} ELSE part.{name} END"
    for name in ("page_first", "start_char", "end_char", "heading_path")
)

RECORD = """
MATCH (g:__GraphRAGConfig__ {id: 'default'}) WHERE g.embedding_model <> ''
RETURN g.embedding_model, g.embedding_dimension, coalesce(g.artifact_store, '')
"""
PENDING = "MATCH (p:__Pending__) RETURN count(p)"
PASSAGE_COUNT = "MATCH (c:Chunk) RETURN count(c)"
ENTITY_COUNT = "MATCH (e:__Entity__) RETURN count(e)"

NEAREST_PASSAGES = """
CALL db.idx.vector.queryNodes('Chunk', 'embedding', $k, vecf32($vector)) YIELD node, score
OPTIONAL MATCH (d:Document)-[:PART_OF]->(node) WHERE d.content_hash <> ''
RETURN node.id, score, count(d) > 0
"""
NEAREST_ENTITIES = """
CALL db.idx.vector.queryNodes('__Entity__', 'embedding', $k, vecf32($vector)) YIELD node, score
RETURN node.id, score
"""
NEAREST_FACTS = """
CALL db.idx.vector.queryRelationships('RELATES', 'embedding', $k, vecf32($vector)) YIELD relationship AS x, score
RETURN startNode(x).id, x.rel_type, endNode(x).id, x.fact, 1 - score, coalesce(x.source_chunk_ids, [])
"""
# Word by word, because the engine divides the score of `a|b` by the distance of the words in the text. A
# word in $most elements or more is too common to find anything by; it only decides between equals.
_MATCH = """
UNWIND range(0, size($rows) - 1) AS i
CALL {{
    WITH i CALL db.idx.fulltext.queryNodes('{label}', $rows[i]) YIELD node RETURN node LIMIT $most
}}
WITH i, collect(node) AS nodes
WITH i, nodes, size(nodes) AS frequency
WITH i, nodes, frequency, CASE WHEN frequency < $most THEN log(1 + $total * 1.0 / frequency) ELSE 0.001 END AS weight
UNWIND nodes AS c
WITH c, sum(weight) AS score, collect([i, frequency]) AS hits
ORDER BY score DESC, {ties} LIMIT $k
"""
MATCH_PASSAGES = (
    _MATCH.format(label="Chunk", ties="c.id")
    + _WRITTEN
    + " RETURN DISTINCT c.id, c.text, hits, score ORDER BY score DESC, c.id"
)
MATCH_ENTITIES = _MATCH.format(label="__Entity__", ties="size(c.name), c.id") + "RETURN c.id"

ENTITIES_NAMED = """
UNWIND $rows AS key MATCH (e:__Entity__ {canonical_key: key}) RETURN key, e.id ORDER BY key, e.id
"""
PASSAGES_NAMING = f"""
UNWIND $rows AS id
MATCH (e:__Entity__ {{id: id}})-[m:MENTIONED_IN]->(c:Chunk)
WITH c, coalesce({_OPENS}, false) AS opens, outdegree(e, 'MENTIONED_IN') AS mentions
WHERE opens OR mentions <= $hub
WITH c, max(CASE WHEN opens THEN 1 ELSE 0 END) AS opening
{_WRITTEN}
WITH DISTINCT c, opening, {_SIMILARITY.format(element="c")} AS similarity
RETURN c.id ORDER BY opening DESC, similarity DESC, c.id LIMIT $k
"""
LINKED_PASSAGES = f"""
UNWIND $rows AS id
MATCH (s:Chunk {{id: id}})
WITH s MATCH (s)<-[:MENTIONED_IN]-(e:__Entity__)
WITH DISTINCT s, e WHERE outdegree(e, 'MENTIONED_IN') <= $hub
MATCH (e)-[m:MENTIONED_IN]->(c:Chunk) WHERE c.id <> s.id AND {_OPENS}
WITH DISTINCT c
{_WRITTEN}
WITH DISTINCT c, {_SIMILARITY.format(element="c")} AS similarity
RETURN c.id ORDER BY similarity DESC, c.id LIMIT $k
"""
PASSAGES = f"""
UNWIND $rows AS id
MATCH (c:Chunk {{id: id}})
WITH c {_WRITTEN}
RETURN c.id, c.text, {_SIMILARITY.format(element="c")}, {_PLACE}
"""
# Where the mention that gave the description stands; merges may leave none of that text.
ENTITIES = f"""
UNWIND $rows AS id
MATCH (e:__Entity__ {{id: id}})
CALL {{
    WITH e MATCH (e)-[m:MENTIONED_IN]->(c:Chunk)
    {_WRITTEN}
    RETURN m, c, d, part ORDER BY coalesce(m.description = e.description, false) DESC, c.id LIMIT 1
}}
RETURN e.id, e.name, coalesce(e.type, ''), coalesce(e.description, ''), {_SIMILARITY.format(element="e")},
       m.spans, {_PLACE}
"""
# Rows are [position, source, relation type, the ids that have been merged into the target].
SUPPORTS = f"""
UNWIND $rows AS r
MATCH (a:__Entity__ {{id: r[1]}})
WITH r, a MATCH (a)-[s:__SUPPORT__ {{rel_type: r[2]}}]->(c:Chunk) WHERE s.tgt IN r[3]
WITH r, s, c {_WRITTEN}
RETURN r[0], c.id, s.start, s.end, {_PLACE}
"""
# Graphs that the GraphRAG SDK built have no supports. Rows are [position, the fact's source_chunk_ids].
STATING_PASSAGES = f"""
UNWIND $rows AS r UNWIND r[1] AS id
MATCH (c:Chunk {{id: id}})
WITH r, c {_WRITTEN}
RETURN r[0], c.id, NULL AS start, NULL AS end, {_PLACE}
"""
