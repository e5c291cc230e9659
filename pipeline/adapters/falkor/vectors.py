"""Reads what is to be embedded and stores the vectors, in bulk, as float32 JSON lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.ids import split_relation_key
from pipeline.models import EmbeddingText
from pipeline.ports import Vectors

# How each kind is found from a row that begins with its id, and which property is its text.
_NODE = "MATCH (e:{label} {{id: r[0]}}) "
_FIND = {
    "chunk": _NODE.format(label="Chunk"),
    "entity": _NODE.format(label="__Entity__"),
    "relation": (
        "MATCH (a:__Entity__ {id: r[0][0]}) MATCH (b:__Entity__ {id: r[0][2]}) "
        "MATCH (a)-[e:RELATES {rel_type: r[0][1]}]->(b) "
    ),
}
_TEXT = {"chunk": "text", "entity": "name", "relation": "fact"}
_SET = "SET e.embedding = vecf32(r[2]), e.embedded_hash = r[1] RETURN count(*)"


def read_texts(graph: FalkorGraph, kind: str, ids: Sequence[str]) -> list[EmbeddingText]:
    """See `GraphCurator.texts`."""
    cypher = f"UNWIND $rows AS r {_FIND[kind]} RETURN r[1], e.{_TEXT[kind]}, e.embedded_hash"
    found = graph.ro_query(cypher, [[_anchor(kind, identity), identity] for identity in dict.fromkeys(ids)])
    return [EmbeddingText(identity, text, embedded) for identity, text, embedded in found if text]


def set_vectors(graph: FalkorGraph, kind: str, rows: Sequence[tuple[str, str, Vectors]], epoch: int) -> None:
    """See `GraphCurator.set_vectors`."""
    cypher = f"UNWIND $rows AS r {_FIND[kind]} {_SET}"
    # Five decimals: a fifth less text to read for the server, and cosines that differ by less than 1e-5.
    spelled = ([_anchor(kind, name), text_hash, np.round(vector, 5)] for name, text_hash, vector in rows)
    for page in fill_pages(spelled):
        run_fenced(graph, cypher, epoch, page)


def _anchor(kind: str, identity: str) -> Any:
    return split_relation_key(identity) if kind == "relation" else identity
