"""Reads what is to be embedded and stores the vectors, in bulk, as float32 JSON lists."""

from collections.abc import Sequence

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.ids import split_relation_key
from pipeline.models import EmbeddingText
from pipeline.ports import Vectors

# How each kind is found from a row that ends in its id, and which property is its text. Between two
# known nodes the engine finds an edge in 20 us with OPTIONAL, in 50 us without.
_NODE = "MATCH (e:{label} {{id: r[2]}}) "
_FIND = {
    "chunk": _NODE.format(label="Chunk"),
    "entity": _NODE.format(label="__Entity__"),
    "relation": (
        "MATCH (a:__Entity__ {id: r[2]}) MATCH (b:__Entity__ {id: r[4]}) "
        "OPTIONAL MATCH (a)-[e:RELATES {rel_type: r[3]}]->(b) WITH r, e WHERE e IS NOT NULL "
    ),
}
_TEXT = {"chunk": "text", "entity": "name", "relation": "fact"}
_SET = "SET e.embedding = vecf32(r[1]), e.embedded_hash = r[0] RETURN count(*)"


def read_texts(graph: FalkorGraph, kind: str, ids: Sequence[str]) -> list[EmbeddingText]:
    """See `GraphCurator.texts`."""
    cypher = f"UNWIND $rows AS r {_FIND[kind]} RETURN r[0], e.{_TEXT[kind]}, e.embedded_hash"
    names = list(dict.fromkeys(ids))
    found = graph.ro_query(cypher, [[place, None, *_anchor(kind, name)] for place, name in enumerate(names)])
    return [EmbeddingText(names[place], text, embedded) for place, text, embedded in found if text]


def set_vectors(graph: FalkorGraph, kind: str, rows: Sequence[tuple[str, str, Vectors]], epoch: int) -> None:
    """See `GraphCurator.set_vectors`."""
    cypher = f"UNWIND $rows AS r {_FIND[kind]} {_SET}"
    spelled = ([digest, vector, *_anchor(kind, name)] for name, digest, vector in rows)
    for page in fill_pages(spelled):
        run_fenced(graph, cypher, epoch, page)


def _anchor(kind: str, identity: str) -> tuple[str, ...]:
    return split_relation_key(identity) if kind == "relation" else (identity,)
