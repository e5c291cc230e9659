"""Looks for contradictions within a graph: what is there twice, what lacks what it needs, what is not ready.

An element that finalize has yet to look at may lack what finalize gives it, so it is passed over.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.scan import Page, list_pages, read_page
from pipeline.adapters.falkor.statements import CLEARING
from pipeline.findings import Fault, FaultCode
from pipeline.ids import relation_key

_ASKED_AT_ONCE = 500
_READY = "OPERATIONAL"
# Without these, writers store things twice, and the searches for duplicates below would find nothing.
_NEEDED = (("Document", "id"), ("Chunk", "id"), ("__Entity__", "id"), ("__Pending__", "id"), ("__Merged__", "id"))
_FENCES = "MATCH (f:__Fence__ {scope: 'graph'}) RETURN count(f)"
_CONSTRAINTS = "CALL db.constraints() YIELD label, properties, status RETURN label, properties, status"
_INDEXES = "CALL db.indexes() YIELD label, properties, status RETURN label, properties, status"
_PENDING = "UNWIND $rows AS id MATCH (p:__Pending__ {id: id}) RETURN p.id"
_UNSTAMPED = f"WHERE coalesce(n.content_hash, '') = '' OR n.writing = '{CLEARING}' RETURN n.id"
_TWICE = "MATCH (o:{label} {{id: n.id}}) WHERE ID(o) < ID(n) RETURN DISTINCT n.id"
_MERGES = "RETURN n.id"

# By label: what is a fault in any case, and what is one unless finalize has yet to look at the node.
_FAULTY = {
    "Document": {},
    "Chunk": {FaultCode.CHUNK_WITHOUT_DOCUMENT: "WHERE indegree(n, 'PART_OF') = 0 RETURN n.id"},
    "__Entity__": {},
    "__Pending__": {},
    "__Merged__": {FaultCode.MERGED_ID_LIVES: "MATCH (e:__Entity__ {id: n.id}) RETURN DISTINCT n.id"},
}
_FAULTY_ONCE_FINALIZED = {
    "Chunk": {FaultCode.VECTOR_MISSING: "WHERE n.embedding IS NULL AND n.text <> '' RETURN n.id"},
    "__Entity__": {
        FaultCode.ENTITY_WITHOUT_MENTION: "WHERE outdegree(n, 'MENTIONED_IN') = 0 RETURN n.id",
        FaultCode.VECTOR_MISSING: "WHERE n.embedding IS NULL AND n.name <> '' RETURN n.id",
    },
}
_DEGREE = "outdegree(n, 'RELATES') + outdegree(n, '__SUPPORT__')"
_RELATIONS = """
MATCH (n)-[x:RELATES]->(o) RETURN n.id, coalesce(x.rel_type, ''), o.id, x.source_chunk_ids, x.embedding IS NULL
"""
_SUPPORTS = "MATCH (n)-[s:__SUPPORT__]->(c:Chunk) RETURN n.id, s.rel_type, s.tgt, c.id"

type _Ends = tuple[str, str, str]


def find_faults(graph: FalkorGraph) -> Iterator[Fault]:
    """Give all faults, one by one; see `GraphInspector.faults`."""
    yield from _schema_faults(graph)
    for label in _FAULTY:
        for page in list_pages(graph, label):
            yield from _node_faults(graph, page)
    for page in list_pages(graph, "__Merged__"):
        yield from _circles(graph, page)
    for page in list_pages(graph, "__Entity__", _DEGREE):
        yield from _relation_faults(graph, page)


def list_unstamped(graph: FalkorGraph) -> Iterator[str]:
    """Give the ids of documents that are not completely written; see `GraphInspector.unstamped`."""
    for page in list_pages(graph, "Document"):
        for (identity,) in read_page(graph, page, _UNSTAMPED):
            yield identity


def _schema_faults(graph: FalkorGraph) -> Iterator[Fault]:
    fences = int(graph.ro_query(_FENCES)[0][0])
    if fences != 1:
        yield Fault(FaultCode.FENCE_MISSING, f"{fences} fences")
    constraints = graph.ro_query(_CONSTRAINTS)
    indexes = graph.ro_query(_INDEXES)
    yield from _unready(constraints, (("__Fence__", "scope"),), FaultCode.CONSTRAINT_NOT_READY)
    yield from _unready(indexes, _NEEDED, FaultCode.INDEX_NOT_READY)


def _unready(found: Sequence[Sequence[object]], needed: Iterable[tuple[str, str]], code: FaultCode) -> Iterator[Fault]:
    covered: defaultdict[object, set[str]] = defaultdict(set)
    for label, attributes, status in found:
        names = [str(name) for name in attributes] if isinstance(attributes, list) else []
        covered[label].update(names)
        if status != _READY:
            yield Fault(code, f"{label}({', '.join(names)}): {status}")
    for label, attribute in needed:
        if attribute not in covered[label]:
            yield Fault(code, f"{label}({attribute}): missing")


def _node_faults(graph: FalkorGraph, page: Page) -> Iterator[Fault]:
    checks = {FaultCode.DUPLICATE_NODE: _TWICE.format(label=page.label), **_FAULTY[page.label]}
    for code, cypher in checks.items():
        for (identity,) in read_page(graph, page, cypher):
            where = f"{page.label} {identity}" if code is FaultCode.DUPLICATE_NODE else identity
            yield Fault(code, where)
    for code, cypher in _FAULTY_ONCE_FINALIZED.get(page.label, {}).items():
        suspects = [identity for (identity,) in read_page(graph, page, cypher)]
        waiting = _pending_among(graph, suspects)
        yield from (Fault(code, identity) for identity in suspects if identity not in waiting)


def _pending_among(graph: FalkorGraph, ids: Iterable[str]) -> set[str]:
    pages = batched(ids, _ASKED_AT_ONCE)
    return {identity for page in pages for (identity,) in graph.ro_query(_PENDING, page)}


def _circles(graph: FalkorGraph, page: Page) -> Iterator[Fault]:
    """Find merged ids whose way does not end: where it seems to end lies another merged id."""
    ends = resolve_merged(graph, [identity for (identity,) in read_page(graph, page, _MERGES)])
    going_on = resolve_merged(graph, set(ends.values()))
    yield from (Fault(FaultCode.MERGED_CYCLE, identity) for identity, end in ends.items() if end in going_on)


def _relation_faults(graph: FalkorGraph, page: Page) -> Iterator[Fault]:
    """Compare the relations of some entities with the supports that state them, resolved through merges."""
    told: dict[_Ends, list[str]] = {}
    bare: set[_Ends] = set()
    for source, rel_type, target, chunk_ids, no_vector in read_page(graph, page, _RELATIONS):
        ends = (source, rel_type, target)
        if ends in told:
            yield Fault(FaultCode.DUPLICATE_RELATION, _spell(ends))
        told[ends] = sorted(chunk_ids or ())
        if no_vector:
            bare.add(ends)
    stated = _read_stated(graph, page)
    suspects = [(FaultCode.VECTOR_MISSING, ends) for ends in sorted(bare)]
    suspects += [(FaultCode.RELATION_WITHOUT_SUPPORT, ends) for ends in sorted(told.keys() - stated.keys())]
    suspects += [(FaultCode.SUPPORT_WITHOUT_RELATION, ends) for ends in sorted(stated.keys() - told.keys())]
    suspects += [
        (FaultCode.SOURCE_CHUNKS_DIFFER, ends)
        for ends, chunks in told.items()
        if ends in stated and chunks != sorted(stated[ends])
    ]
    waiting = _pending_among(graph, {relation_key(*ends) for _, ends in suspects})
    yield from (Fault(code, _spell(ends)) for code, ends in suspects if relation_key(*ends) not in waiting)


def _read_stated(graph: FalkorGraph, page: Page) -> dict[_Ends, set[str]]:
    """Read which chunks state which relations; what merges have closed to a loop is none."""
    supports = list(read_page(graph, page, _SUPPORTS))
    merged = resolve_merged(graph, {as_id for _, _, as_id, _ in supports})
    stated: defaultdict[_Ends, set[str]] = defaultdict(set)
    for source, rel_type, as_id, chunk in supports:
        target = merged.get(as_id, as_id)
        if target != source:
            stated[source, rel_type, target].add(chunk)
    return stated


def _spell(ends: _Ends) -> str:
    return f"({ends[0]}, {ends[1]}, {ends[2]})"
