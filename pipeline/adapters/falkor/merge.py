"""Makes two entities one: a query generated from what the duplicate holds, which moves all of it at once.

Rules: the GraphRAG SDK's "The merge" (storage and deduplication). What a mention or support says it
was extracted as stays on the edge, so that an update, a delete or an undo stays exact afterwards.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.properties import LISTED
from pipeline.adapters.falkor.schema import quote_label
from pipeline.ids import relation_key
from pipeline.models import Candidate

_KEYS = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id}) WHERE e.canonical_key <> '' RETURN DISTINCT e.canonical_key
"""
_MEMBERS = """
UNWIND $rows AS key MATCH (e:__Entity__ {canonical_key: key})
RETURN e.id, e.type, e.name, e.description,
       indegree(e, 'RELATES') + outdegree(e, 'RELATES') + outdegree(e, 'MENTIONED_IN')
"""
_NODE = "MATCH (e:__Entity__ {id: $id}) RETURN labels(e), properties(e), indegree(e) + outdegree(e)"
_TYPES = "MATCH (e:__Entity__ {{id: $id}}){pattern}() RETURN DISTINCT type(x)"
_SOURCE_OF = "MATCH (e:__Entity__ {id: $id})-[x:RELATES]->(o) RETURN x.rel_type, o.id"
_TARGET_OF = "MATCH (e:__Entity__ {id: $id})<-[x:RELATES]-(o) RETURN x.rel_type, o.id"
_OUT, _IN = "-[x]->", "<-[x]-"

# What makes two edges to one neighbour the same edge; other types are keyed on their ends alone.
_EDGE_KEYS = {
    "RELATES": "{{rel_type: coalesce({x}.rel_type, '')}}",
    "MENTIONED_IN": "{{as_id: coalesce({x}.as_id, d.id)}}",
    "__SUPPORT__": "{{rel_type: {x}.rel_type, src: {x}.src, tgt: {x}.tgt}}",
}
_UNITE_CHUNKS = """
ON MATCH SET {y}.source_chunk_ids = coalesce({y}.source_chunk_ids, []) +
    [i IN coalesce({x}.source_chunk_ids, []) WHERE NOT i IN coalesce({y}.source_chunk_ids, [])]
"""
# Each block has variables of its own: the engine lets a subquery's names out into what follows it.
_BLOCK = """
CALL {{ WITH s, d MATCH (d){left}[{x}:{edge}]{right}({o}) WHERE ID({o}) <> ID(s) AND ID({o}) <> ID(d)
       MERGE (s){left}[{y}:{edge} {key}]{right}({o})
       ON CREATE SET {y} += properties({x}) {unite}
       RETURN count(*) AS {n} }}
"""
# Identity, and what finalize derives from the mentions: never in conflict.
_DERIVED = frozenset({"id", "name", "description", "type", "canonical_key", "aliases", "embedding", "embedded_hash"})
_DROPPED = "__dropped"

_HEAD = """
MATCH (s:__Entity__ {id: $survivor}) MATCH (d:__Entity__ {id: $duplicate})
WHERE s.name = $survivor_name AND d.name = $duplicate_name AND indegree(d) + outdegree(d) = $degree
WITH s, d
"""
_TAIL = """
CALL { WITH s, d UNWIND $moved AS key
       MERGE (r:__Pending__ {id: key}) ON CREATE SET r.kind = 'relation', r.mark = $mark
       ON MATCH SET r.mark = $mark
       RETURN count(*) AS relations }
CALL { WITH s, d OPTIONAL MATCH (g:__Pending__ {id: d.id}) DELETE g RETURN count(*) AS done }
MERGE (k:__Pending__ {id: $survivor}) ON CREATE SET k.kind = 'entity', k.mark = $mark ON MATCH SET k.mark = $mark
MERGE (m:__Merged__ {id: $duplicate}) SET m.into = $survivor
DELETE d
RETURN count(*)
"""


@dataclass(frozen=True, slots=True)
class _Node:
    """An entity as it was read: the premises of a merge."""

    labels: frozenset[str]
    properties: dict[str, Any]
    degree: int


def find_candidates(graph: FalkorGraph, ids: Sequence[str]) -> list[Candidate]:
    """See `GraphCurator.merge_candidates`; each entity once, by id."""
    keys = [key for (key,) in graph.ro_query(_KEYS, list(ids))]
    rows = graph.ro_query(_MEMBERS, keys)
    found = {
        identity: Candidate(identity, label or "", name or "", int(degree), description or "")
        for identity, label, name, description, degree in rows
    }
    return [found[identity] for identity in sorted(found)]


def merge_entities(graph: FalkorGraph, survivor: str, duplicate: str, epoch: int) -> bool:
    """See `GraphCurator.merge`."""
    kept, gone = _read(graph, survivor), _read(graph, duplicate)
    if survivor == duplicate or kept is None or gone is None:
        return False
    changes, values = _plan_properties(kept.properties, gone.properties)
    changes += [f"s:{quote_label(label)}" for label in sorted(gone.labels - kept.labels)]
    cypher = _HEAD + "".join(_edge_blocks(graph, duplicate)) + f"SET {', '.join(changes)} WITH s, d" + _TAIL
    merged = run_fenced(
        graph,
        cypher,
        epoch,
        survivor=survivor,
        duplicate=duplicate,
        survivor_name=kept.properties.get("name"),
        duplicate_name=gone.properties.get("name"),
        degree=gone.degree,
        moved=_moved_relations(graph, survivor, duplicate),
        mark=secrets.token_hex(8),
        **values,
    )
    return merged > 0


def _read(graph: FalkorGraph, identity: str) -> _Node | None:
    found = graph.ro_query(_NODE, id=identity)
    return _Node(frozenset(found[0][0]), dict(found[0][1]), int(found[0][2])) if found else None


def _moved_relations(graph: FalkorGraph, survivor: str, duplicate: str) -> list[str]:
    """Name the relations that the survivor will hold in the duplicate's place."""
    out, into = (graph.ro_query(cypher, id=duplicate) for cypher in (_SOURCE_OF, _TARGET_OF))
    pair = {survivor, duplicate}
    keys = [relation_key(survivor, kind, other) for kind, other in out if other not in pair]
    return sorted({*keys, *(relation_key(other, kind, survivor) for kind, other in into if other not in pair)})


def _edge_blocks(graph: FalkorGraph, duplicate: str) -> Iterator[str]:
    """Write one block for each type and direction of the duplicate's edges.

    Edges between the two and of the duplicate with itself stay behind and go with it. Every pattern
    starts from the bound duplicate: from a labelled far end the planner would scan the label.
    """
    edges = [
        (left, name, right)
        for pattern, left, right in ((_OUT, "-", "->"), (_IN, "<-", "-"))
        for (name,) in sorted(graph.ro_query(_TYPES.format(pattern=pattern), id=duplicate))
    ]
    for number, (left, name, right) in enumerate(edges):
        own = {variable: f"{variable}{number}" for variable in "xyon"}
        key = _EDGE_KEYS.get(name, "").format(**own)
        unite = _UNITE_CHUNKS.format(**own) if name == "RELATES" else ""
        yield _BLOCK.format(left=left, edge=quote_label(name), right=right, key=key, unite=unite, **own)


def _plan_properties(kept: dict[str, Any], gone: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Plan what the survivor takes over: assignments, and the parameters that they name."""
    aliases = {*kept.get("aliases", ()), *gone.get("aliases", ()), gone.get("name")} - {kept.get("name"), None}
    changes, values = ["s.aliases = $aliases"], {"aliases": sorted(aliases)}
    derived = _DERIVED.union(kept.get(LISTED, ()), gone.get(LISTED, ()))
    for name, value in sorted(gone.items()):
        own, other = f"s.{quote_label(name)}", f"d.{quote_label(name)}"
        if name not in kept:
            changes.append(f"{own} = {other}")
        elif name in derived or kept[name] == value:
            continue
        elif isinstance(value, list) and isinstance(kept[name], list):
            changes.append(f"{own} = {own} + [i IN {other} WHERE NOT i IN {own}]")
        else:
            # Two values of one property: neither is lost.
            dropped = f"s.{quote_label(name + _DROPPED)}"
            changes.append(f"{dropped} = coalesce({dropped}, []) + [{other}]")
    return changes, values
