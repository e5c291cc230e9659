"""The statements of retrieval: `$vector` is the question's, `$rows` ids or words.

A WITH between two MATCHes holds the planner to their order: else it begins at all documents.
A document without `content_hash` is not completely written: what only it says is left out. Where a statement has
the mark of `read_scope`, so is what documents out of the scope say.
"""

from pipeline.adapters.falkor.read_scope import MARK

SIMILARITY = "coalesce(1 - vec.cosineDistance({element}.embedding, vecf32($vector)), 0.0)"
DOCUMENTS = f"MATCH (d:Document) WHERE d.content_hash <> ''{MARK}"
WRITTEN = f"MATCH (d:Document)-[part:PART_OF]->(c) WHERE d.content_hash <> ''{MARK}"
# `spans` is JSON, `[[start, end], …]` in order; where there is none this is null, and so not true.
_OPENS = "toInteger(split(substring(m.spans, 2), ',')[0]) < $opening"
# Where two versions of a document share a passage, each tells on its edge where it stands.
STANDS = {
    name: f"CASE WHEN part.start_char IS NULL THEN c.{name} ELSE part.{name} END"
    for name in ("page_first", "start_char", "end_char", "heading_path")
}
PLACE = f"d.id, d.content_hash, c.id, d.path, {', '.join(STANDS.values())}"

RECORD = """
MATCH (g:__GraphRAGConfig__ {id: 'default'}) WHERE g.embedding_model <> ''
RETURN g.embedding_model, g.embedding_dimension, coalesce(g.artifact_store, '')
"""
PENDING = "MATCH (p:__Pending__) RETURN count(p)"
PASSAGE_COUNT = "MATCH (c:Chunk) RETURN count(c)"
PASSAGE_COUNT_WITHIN = f"{DOCUMENTS} WITH d MATCH (d)-[:PART_OF]->(c:Chunk) RETURN count(DISTINCT c)"
ENTITY_COUNT = "MATCH (e:__Entity__) RETURN count(e)"
HAS_DOCUMENTS = f"{DOCUMENTS} RETURN d.id LIMIT 1"

NEAREST_PASSAGES = """
CALL db.idx.vector.queryNodes('Chunk', 'embedding', $k, vecf32($vector)) YIELD node, score
OPTIONAL MATCH (d:Document)-[:PART_OF]->(node) WHERE d.content_hash <> ''
RETURN node.id, score, count(d) > 0
"""
# Within a scope all are compared: an index would have to be asked for more and more, and might never come to them.
NEAREST_PASSAGES_WITHIN = f"""
{DOCUMENTS}
WITH d MATCH (d)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c WHERE c.embedding IS NOT NULL
WITH c, {SIMILARITY.format(element="c")} AS similarity
RETURN c.id ORDER BY similarity DESC, c.id LIMIT $k
"""
NEAREST_ENTITIES = """
CALL db.idx.vector.queryNodes('__Entity__', 'embedding', $k, vecf32($vector)) YIELD node, score
RETURN node.id, score
"""
MENTIONED_WITHIN = f"""
UNWIND $rows AS id MATCH (e:__Entity__ {{id: id}})-[:MENTIONED_IN]->(c:Chunk)
WITH id, c {WRITTEN}
RETURN DISTINCT id
"""
NEAREST_ENTITIES_WITHIN = f"""
{DOCUMENTS}
WITH d MATCH (d)-[:PART_OF]->(c:Chunk)
WITH DISTINCT c MATCH (c)<-[:MENTIONED_IN]-(e:__Entity__)
WITH DISTINCT e WHERE e.embedding IS NOT NULL
WITH e, {SIMILARITY.format(element="e")} AS similarity
RETURN e.id ORDER BY similarity DESC, e.id LIMIT $k
"""
# Word by word, because the engine divides the score of `a|b` by the distance of the words in the text. A
# word in $most elements or more is too common to find anything by; it only decides between equals.
_MATCH = """
UNWIND range(0, size($rows) - 1) AS i
CALL {{
    WITH i CALL db.idx.fulltext.queryNodes('{label}', $rows[i]) YIELD node {within} RETURN {node} LIMIT $most
}}
WITH i, collect(node) AS nodes
WITH i, nodes, size(nodes) AS frequency
WITH i, nodes, frequency, CASE WHEN frequency < $most THEN log(1 + $total * 1.0 / frequency) ELSE 0.001 END AS weight
UNWIND nodes AS c
WITH c, sum(weight{factor}) AS score, collect([i, frequency]) AS hits
ORDER BY score DESC, {ties} LIMIT $k
"""
_IN_SCOPE = f"WITH node AS c {WRITTEN}"
_MENTIONED_IN_SCOPE = f"WITH node MATCH (node)-[:MENTIONED_IN]->(c:Chunk) WITH node, c {WRITTEN}"
_PASSAGE_OF_MATCH = f"{WRITTEN} RETURN DISTINCT c.id, c.text, hits, score ORDER BY score DESC, c.id"
MATCH_PASSAGES = _MATCH.format(label="Chunk", within="", node="node", factor="", ties="c.id") + _PASSAGE_OF_MATCH
MATCH_PASSAGES_WITHIN = (
    _MATCH.format(label="Chunk", within=_IN_SCOPE, node="DISTINCT c AS node", factor="", ties="c.id")
    + _PASSAGE_OF_MATCH
)
# `$factors` weigh rows: a word of a description says less than one of a name.
_ENTITY_MATCH = {"label": "__Entity__", "factor": " * $factors[i]", "ties": "size(c.name), c.id"}
MATCH_ENTITIES = _MATCH.format(within="", node="node", **_ENTITY_MATCH) + "RETURN c.id"
MATCH_ENTITIES_WITHIN = _MATCH.format(within=_MENTIONED_IN_SCOPE, node="DISTINCT node", **_ENTITY_MATCH) + "RETURN c.id"

ENTITIES_NAMED = """
UNWIND $rows AS key MATCH (e:__Entity__ {canonical_key: key}) RETURN key, e.id ORDER BY key, e.id
"""
ENTITIES_NAMED_WITHIN = f"""
UNWIND $rows AS key MATCH (e:__Entity__ {{canonical_key: key}})
WITH key, e MATCH (e)-[:MENTIONED_IN]->(c:Chunk)
WITH key, e, c {WRITTEN}
RETURN DISTINCT key, e.id ORDER BY key, e.id
"""
PASSAGES_NAMING = f"""
UNWIND $rows AS id
MATCH (e:__Entity__ {{id: id}})-[m:MENTIONED_IN]->(c:Chunk)
WITH c, coalesce({_OPENS}, false) AS opens, outdegree(e, 'MENTIONED_IN') AS mentions
WHERE opens OR mentions <= $hub
WITH c, max(CASE WHEN opens THEN 1 ELSE 0 END) AS opening
{WRITTEN}
WITH DISTINCT c, opening, {SIMILARITY.format(element="c")} AS similarity
RETURN c.id ORDER BY opening DESC, similarity DESC, c.id LIMIT $k
"""
LINKED_PASSAGES = f"""
UNWIND $rows AS id
MATCH (s:Chunk {{id: id}})
WITH s MATCH (s)<-[:MENTIONED_IN]-(e:__Entity__)
WITH DISTINCT s, e WHERE outdegree(e, 'MENTIONED_IN') <= $hub
MATCH (e)-[m:MENTIONED_IN]->(c:Chunk) WHERE c.id <> s.id AND {_OPENS}
WITH DISTINCT c
{WRITTEN}
WITH DISTINCT c, {SIMILARITY.format(element="c")} AS similarity
RETURN c.id ORDER BY similarity DESC, c.id LIMIT $k
"""
PASSAGES = f"""
UNWIND $rows AS id
MATCH (c:Chunk {{id: id}})
WITH c {WRITTEN}
RETURN c.text, {SIMILARITY.format(element="c")}, {PLACE}
"""
# Where the mention that gave the description stands; merges may leave none of that text.
ENTITIES = f"""
UNWIND $rows AS id
MATCH (e:__Entity__ {{id: id}})
CALL {{
    WITH e MATCH (e)-[m:MENTIONED_IN]->(c:Chunk)
    {WRITTEN}
    RETURN m, c, d, part ORDER BY coalesce(m.description = e.description, false) DESC, c.id LIMIT 1
}}
RETURN e.id, coalesce(e.name, e.id), coalesce(e.type, ''), coalesce(e.description, ''),
       {SIMILARITY.format(element="e")}, m.spans, coalesce(m.name, ''), coalesce(m.description, ''), {PLACE}
"""
