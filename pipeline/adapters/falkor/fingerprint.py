"""A canonical hash of what a graph says, for telling whether two graphs say the same, and where they differ.

Hashed is what follows from the files and the settings. Left out is what every ingest makes anew: internal
ids, times, run ids, epochs, marks, the record of models and store; and vectors, which may differ in a last
digit between machines: the hash of the text that each was made of stands for it.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.scan import list_pages, read_page
from pipeline.findings import KindFingerprint

_MODULUS = 1 << 256
_CHUNK_PLACE = "n.index, n.start_char, n.end_char, n.page_first, n.page_last, n.heading_path"


def _keep(row: list[Any]) -> list[Any]:
    return row


def _sort_last(row: list[Any]) -> list[Any]:
    return [*row[:-1], sorted(row[-1] or ())]


def _sort_entity(row: list[Any]) -> list[Any]:
    """Put labels, aliases and properties into an order; an empty property is none."""
    identity, labels, properties = row
    stored = {name: value for name, value in properties if value not in (None, "", [])}
    if "aliases" in stored:
        stored["aliases"] = sorted(stored["aliases"])
    return [identity, sorted(labels), sorted(stored.items())]


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the elements of one kind are read: from which nodes on, and what of them is hashed in which form."""

    name: str
    label: str
    cypher: str
    load: str = "0"
    order: Callable[[list[Any]], list[Any]] = _keep


_KINDS = (
    _Kind("documents", "Document", "RETURN n.id, n.path, n.content_hash, n.fingerprint"),
    _Kind(
        "chunks",
        "Chunk",
        "OPTIONAL MATCH (d:Document)-[:PART_OF]->(n) WITH n, collect(d.id) AS documents "
        f"RETURN n.id, n.text, n.embedded_hash, n.document_id, {_CHUNK_PLACE}, documents",
        order=_sort_last,
    ),
    _Kind("next_chunk", "Chunk", "MATCH (n)-[:NEXT_CHUNK]->(o) RETURN n.id, o.id"),
    _Kind(
        "entities",
        "__Entity__",
        "RETURN n.id, labels(n), [k IN keys(n) WHERE k <> 'embedding' | [k, n[k]]]",
        order=_sort_entity,
    ),
    _Kind(
        "mentions",
        "Chunk",
        "MATCH (n)<-[m:MENTIONED_IN]-(e) RETURN e.id, n.id, m.as_id, m.name, m.spans, m.description",
        load="indegree(n, 'MENTIONED_IN')",
    ),
    _Kind(
        "relations",
        "__Entity__",
        "MATCH (n)-[x:RELATES]->(o) "
        "RETURN n.id, x.rel_type, o.id, x.fact, x.description, x.embedded_hash, x.source_chunk_ids",
        load="outdegree(n, 'RELATES')",
        order=_sort_last,
    ),
    _Kind(
        "supports",
        "Chunk",
        "MATCH (n)<-[s:__SUPPORT__]-(e) RETURN e.id, s.rel_type, s.src, s.tgt, n.id, s.start, s.end, s.description",
        load="indegree(n, '__SUPPORT__')",
    ),
    _Kind("merges", "__Merged__", "RETURN n.id, n.into"),
)


def fingerprint_graph(graph: FalkorGraph) -> list[KindFingerprint]:
    """Hash each kind of elements; see `GraphInspector.fingerprint`.

    The hash of a kind is the sum of its elements' SHA-256 modulo 2^256: it depends on no order, and
    needs no memory. An element that is there twice counts twice.
    """
    return [_fingerprint_kind(graph, kind) for kind in _KINDS]


def _fingerprint_kind(graph: FalkorGraph, kind: _Kind) -> KindFingerprint:
    count = total = 0
    for row in _read(graph, kind):
        spelled = orjson.dumps(kind.order(row), default=str)
        total = (total + int.from_bytes(hashlib.sha256(spelled).digest())) % _MODULUS
        count += 1
    return KindFingerprint(kind.name, count, f"{total:064x}")


def _read(graph: FalkorGraph, kind: _Kind) -> Iterator[list[Any]]:
    for page in list_pages(graph, kind.label, kind.load):
        yield from read_page(graph, page, kind.cypher)
