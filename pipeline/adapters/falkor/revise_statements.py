"""The statements of a revision; `$id`, or a row, is the id of a document's node, unless another is named."""

from typing import NamedTuple


class Version(NamedTuple):
    """What `VERSIONS` returns of a node."""

    content_hash: str | None
    fingerprint: str | None
    writing: str | None


VERSIONS = """
UNWIND $rows AS id MATCH (d:Document {id: id}) RETURN id, d.content_hash, d.fingerprint, d.writing
"""
KEPT = "UNWIND $rows AS id MATCH (d:Document {id: id})-[:PART_OF]->(c:Chunk) RETURN c.id"
SAID = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]})
RETURN r[1], sum(indegree(c, 'MENTIONED_IN')), sum(indegree(c, '__SUPPORT__'))
"""
COPY_VECTORS = """
UNWIND $rows AS r MATCH (o:Chunk {id: r[0]}) MATCH (c:Chunk {id: r[1]}) WHERE o.embedded_hash <> ''
SET c.embedding = o.embedding, c.embedded_hash = o.embedded_hash
RETURN count(*)
"""
STAGED = """
UNWIND $rows AS r MATCH (p:Document {id: r[0]}) WHERE p.writing = r[1] SET p.staged = true RETURN count(p)
"""
# One past version at a time: passages that two of them share would be nobody's.
# `kept_version` says that what goes is to be kept, see `past`; '' is no removal.
# One property goes at a time: of two that one SET removes from an element, the engine may take others.
SWAP = """
MATCH (p:Document {id: $next}) WHERE p.writing = $version AND p.staged
MATCH (d:Document {id: $id})
OPTIONAL MATCH (o:Document {id: $past})
WITH p, d, o WHERE o IS NULL
SET d.kept_version = CASE WHEN $keep THEN d.content_hash ELSE '' END, d.replaced_at = timestamp()
WITH p, d
SET d.id = $past, d.content_hash = NULL
WITH p, d SET d.writing = NULL
WITH p
SET p.id = $id, p.content_hash = $stamp[1], p.source_hash = $stamp[2], p.fingerprint = $stamp[3], p.run_id = $stamp[4],
    p.root = $stamp[5], p.replaced = true, p.staged = NULL, p.writing = $clearing
RETURN count(p)
"""
RETIRE = """
MATCH (d:Document {id: $id})
OPTIONAL MATCH (o:Document {id: $past})
WITH d, o WHERE o IS NULL
SET d.id = $past, d.content_hash = NULL
WITH d SET d.writing = NULL WITH d SET d.kept_version = NULL
RETURN count(d)
"""
# The passages get their names afterwards: readers know them by the document that holds them.
RENAME = """
MATCH (d:Document {id: $old}) WHERE d.content_hash <> '' AND d.writing IS NULL
OPTIONAL MATCH (o:Document {id: $id})
WITH d, o WHERE o IS NULL
SET d.id = $id, d.path = $path, d.run_id = $run, d.root = $root, d.replaced = true, d.writing = $clearing,
    d.moved_from = $old, d.replaced_at = timestamp(), d.kept_version = CASE WHEN $keep THEN d.content_hash ELSE '' END
RETURN count(d)
"""
RESTAMP = """
MATCH (d:Document {id: $id}) WHERE d.content_hash = $content
SET d.source_hash = $source, d.root = $root
RETURN count(d)
"""
TEMPORARY = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[:PART_OF]->(c:Chunk) WHERE c.id ENDS WITH $suffix
RETURN id, c.id
"""
FOREIGN = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[:PART_OF]->(c:Chunk) WHERE c.document_id <> id RETURN DISTINCT id
"""
TEXTS = "MATCH (d:Document {id: $id})-[x:PART_OF]->(c:Chunk) RETURN c.id, c.text ORDER BY x.index"
NAME_CHUNKS = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]}) SET c.id = r[1], c.document_id = r[2]
WITH r OPTIONAL MATCH (p:__Pending__ {id: r[0]}) SET p.id = r[1]
RETURN count(*)
"""
MOVED = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[x:PART_OF]->(c:Chunk) WHERE x.start_char >= 0
RETURN id, c.id, c.index <> x.index OR c.start_char <> x.start_char OR c.end_char <> x.end_char
       OR coalesce(c.page_first, 0) <> coalesce(x.page_first, 0) OR coalesce(c.page_last, 0) <> coalesce(x.page_last, 0)
       OR coalesce(c.heading_path, []) <> coalesce(x.heading_path, [])
"""
# From the passage on: from the document on, each row would go through all of its passages.
_PLACE_OF = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]}) WITH c, r MATCH (c)<-[x:PART_OF]-(d:Document) WHERE d.id = r[1]
"""
PLACE_CHUNKS = f"""
{_PLACE_OF}
SET c.index = x.index, c.start_char = x.start_char, c.end_char = x.end_char, c.page_first = x.page_first,
    c.page_last = x.page_last, c.heading_path = x.heading_path
RETURN count(*)
"""
FORGET_PLACES = f"""
{_PLACE_OF}
SET x.start_char = NULL WITH x SET x.end_char = NULL WITH x SET x.page_first = NULL
WITH x SET x.page_last = NULL WITH x SET x.heading_path = NULL
RETURN count(*)
"""
ORDER = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[x:PART_OF]->(c:Chunk) RETURN id, c.id ORDER BY id, x.index
"""
LINKS = """
UNWIND $rows AS id MATCH (d:Document {id: id})-[:PART_OF]->(a:Chunk)-[:NEXT_CHUNK]->(b:Chunk) RETURN a.id, b.id
"""
UNLINK = "UNWIND $rows AS r MATCH (a:Chunk {id: r[0]})-[n:NEXT_CHUNK]->(b:Chunk {id: r[1]}) DELETE n RETURN count(*)"
DONE = """
UNWIND $rows AS id MATCH (d:Document {id: id}) WHERE d.writing = $clearing
SET d.moved_from = NULL WITH d SET d.replaced_at = NULL WITH d SET d.kept_version = NULL WITH d SET d.writing = NULL
RETURN count(d)
"""
