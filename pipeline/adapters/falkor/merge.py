"""Makes two entities one: a query generated from what the duplicate holds, which moves all of it at once.

Rules: the GraphRAG SDK's "The merge" (storage and deduplication). What a mention or support says it
was extracted as stays on the edge, so that an update, a delete or an undo stays exact afterwards.
"""

import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.moving import read_moved, spell_moves
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.told import DROPPED
from pipeline.adapters.falkor.united import MERGED_LABELS, list_conflicts, select_foreign
from pipeline.adapters.falkor.unmerged import differing, read_family
from pipeline.adapters.falkor.verdicts import verdict_key
from pipeline.models.judging import PERSON, Verdict, pair_of
from pipeline.ports.merges import Collision, MergeReason
from pipeline.write import pick_properties

_NODE = """
MATCH (e:__Entity__ {id: $id}) OPTIONAL MATCH (o:__Unmerged__ {id: $id})
RETURN labels(e), properties(e), keys(e), indegree(e) + outdegree(e), o IS NOT NULL
"""
_LAST = "MATCH (m:__Merged__ {into: $id}) RETURN coalesce(max(m.at), 0)"
_TOLD = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[m:MENTIONED_IN]->() WHERE m.properties <> ''
RETURN id, m.properties, count(m)
"""
# Keeps what an entity was before its first merge; what others have written on it since then belongs to it as well.
_REMEMBER = """
CALL {{ WITH s, d MERGE (o{e}:__Unmerged__ {{id: {e}.id}})
       ON CREATE SET o{e} = properties({e}), o{e}.__labels__ = labels({e}), o{e}.embedding = NULL {since}
       RETURN count(*) AS n{e} }}
"""
# All that the query was generated from; and what a person keeps apart stays apart, whoever asks.
_HEAD = """
MATCH (s:__Entity__ {{id: $survivor}}) MATCH (d:__Entity__ {{id: $duplicate}})
WHERE s.name = $survivor_name AND d.name = $duplicate_name AND indegree(d) + outdegree(d) = $degree
  AND keys(s) = $survivor_keys AND keys(d) = $duplicate_keys
  AND labels(s) = $survivor_labels AND labels(d) = $duplicate_labels {premises}
OPTIONAL MATCH (v:__Verdict__ {{id: $verdict}})
WITH s, d, v WHERE v IS NULL OR v.judge <> $person OR v.verdict <> $different
WITH s, d
"""
_TAIL = """
CALL { WITH s, d UNWIND $moved AS key
       MERGE (r:__Pending__ {id: key}) ON CREATE SET r.kind = 'relation', r.mark = $mark
       ON MATCH SET r.mark = $mark
       RETURN count(*) AS relations }
CALL { WITH s, d OPTIONAL MATCH (g:__Pending__ {id: d.id}) DELETE g RETURN count(*) AS done }
MERGE (k:__Pending__ {id: $survivor}) ON CREATE SET k.kind = 'entity', k.mark = $mark ON MATCH SET k.mark = $mark
MERGE (m:__Merged__ {id: $duplicate})
SET m.into = $survivor, m.name = d.name, m.into_name = $survivor_name, m.label = d.type, m.phase = $phase,
    m.reason = $reason, m.judge = $judge, m.number = $number, m.collisions = $collisions,
    m.at = CASE WHEN timestamp() > $last THEN timestamp() ELSE $last + 1 END
DELETE d
RETURN count(*)
"""
_ATTEMPTS = 3
"""What others change meanwhile is read again, and the query made anew."""


@dataclass(frozen=True, slots=True)
class _Node:
    """An entity as it was read: the premises of a merge."""

    labels: list[str]
    properties: dict[str, Any]
    keys: list[str]
    degree: int
    drifted: frozenset[str]
    """Properties of a merged entity that others have changed since."""
    last: int
    """When its last merge was."""


def merge_entities(graph: FalkorGraph, survivor: str, duplicate: str, epoch: int, why: MergeReason) -> bool:
    """See `GraphCurator.merge`."""
    if survivor == duplicate:
        return False
    # Another writer may have made an id again that was merged away: it can only go where it went before.
    before = resolve_merged(graph, [survivor, duplicate])
    if before.get(survivor) == duplicate:
        survivor, duplicate = duplicate, survivor
    elif survivor in before or before.get(duplicate, survivor) != survivor:
        return False
    names: tuple[Any, Any] | None = None
    for _ in range(_ATTEMPTS):
        kept, gone = _read(graph, survivor), _read(graph, duplicate)
        if kept is None or gone is None:
            return False
        found = kept.properties.get("name"), gone.properties.get("name")
        if found != (names := names or found):
            # Not what it was decided on.
            return False
        if _merge(graph, survivor, duplicate, epoch, why, kept, gone):
            return True
    return False


def _merge(
    graph: FalkorGraph, survivor: str, duplicate: str, epoch: int, why: MergeReason, kept: _Node, gone: _Node
) -> bool:
    own = select_foreign(kept.properties, gone.properties)
    other = select_foreign(gone.properties, kept.properties)
    moved = read_moved(graph, survivor, duplicate)
    collisions = _property_collisions(graph, {survivor: own, duplicate: other}) + moved.collisions
    aliases = {
        *(kept.properties.get("aliases") or ()),
        *(gone.properties.get("aliases") or ()),
        gone.properties.get("name"),
    } - {kept.properties.get("name"), None}
    gained = sorted({*gone.labels} - {*kept.labels})
    changes = ["s.aliases = $aliases", *_assign(own, other), *(f"s:{quote_label(label)}" for label in gained)]
    if gained:
        changes.append(f"s.{MERGED_LABELS} = coalesce(s.{MERGED_LABELS}, []) + $gained")
    cypher = (
        _HEAD.format(premises=_premises(own, other))
        + _remember("s", kept)
        + _remember("d", gone)
        + "".join(spell_moves(graph, survivor, duplicate, moved))
        + f"SET {', '.join(changes)} WITH s, d"
        + _TAIL
    )
    merged = run_fenced(
        graph,
        cypher,
        epoch,
        survivor=survivor,
        duplicate=duplicate,
        survivor_name=kept.properties.get("name"),
        duplicate_name=gone.properties.get("name"),
        survivor_keys=kept.keys,
        duplicate_keys=gone.keys,
        survivor_labels=kept.labels,
        duplicate_labels=gone.labels,
        degree=gone.degree,
        aliases=sorted(aliases),
        gained=gained,
        moved=sorted(moved.keys),
        **moved.values(),
        phase=why.phase,
        reason=why.reason,
        judge=why.judge,
        number=why.number,
        collisions=orjson.dumps(collisions, default=str).decode() if collisions else None,
        last=max(kept.last, gone.last),
        verdict=verdict_key(pair_of(survivor, duplicate)),
        person=PERSON,
        different=Verdict.DIFFERENT,
        mark=secrets.token_hex(8),
    )
    return merged > 0


def _read(graph: FalkorGraph, identity: str) -> _Node | None:
    found = graph.ro_query(_NODE, id=identity)
    if not found:
        return None
    labels, properties, keys, degree, is_merged = found[0]
    last = int(graph.ro_query(_LAST, id=identity)[0][0]) if is_merged else 0
    drifted: set[str] = set()
    foreign = select_foreign(properties)
    if is_merged and foreign:
        drifted = differing(read_family(graph, identity).foreign(identity), foreign) & foreign.keys()
    return _Node(labels, dict(properties), keys, int(degree), frozenset(drifted), last)


def _remember(variable: str, node: _Node) -> str:
    since = ", ".join(f"o{variable}.{quote_label(one)} = {variable}.{quote_label(one)}" for one in sorted(node.drifted))
    return _REMEMBER.format(e=variable, since=f"ON MATCH SET {since}" if since else "")


def _property_collisions(graph: FalkorGraph, foreign: dict[str, dict[str, Any]]) -> list[Collision]:
    """List what two entities, the survivor first, say differently: their mentions, and what others have written."""
    told: dict[str, dict[str, int]] = {identity: {} for identity in foreign}
    for identity, spelled, times in graph.ro_query(_TOLD, list(foreign)):
        told[identity][spelled] = int(times)
    kept, gone = ({**foreign[one], **(pick_properties(told[one]) if told[one] else {})} for one in foreign)
    return [Collision("property", one.name, one.kept, one.dropped) for one in list_conflicts(kept, gone)]


def _premises(own: dict[str, Any], other: dict[str, Any]) -> str:
    """Ask in the query whether what was equal still is; equal floats may differ in digits that answers do not have."""
    conflicts = {one.name for one in list_conflicts(own, other)}
    equal = (
        name
        for name in sorted((own.keys() & other.keys()) - conflicts)
        if not isinstance(own[name], list | float) and not isinstance(other[name], list | float)
    )
    return "".join(f" AND s.{quote_label(name)} = d.{quote_label(name)}" for name in equal)


def _assign(own: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Write what `unite` does as assignments, so that values keep the types and digits that the engine has."""
    changes = []
    dropped = {f"{one.name}{DROPPED}": one for one in list_conflicts(own, other)}
    for name in sorted(other.keys() | dropped.keys()):
        left, right = f"s.{quote_label(name)}", f"d.{quote_label(name)}"
        more = [_listed(right, other[name])] if name in other else []
        if conflict := dropped.get(name):
            more.append(_listed(f"d.{quote_label(conflict.name)}", conflict.dropped))
        elif name not in own:
            changes.append(f"{left} = {right}")
            continue
        elif not (isinstance(own[name], list) and isinstance(other[name], list)):
            continue
        present = _listed(left, own[name]) if name in own else "[]"
        changes.append(f"{left} = {present} + [i IN {' + '.join(more)} WHERE NOT i IN {present}]")
    return changes


def _listed(expression: str, value: Any) -> str:
    return expression if isinstance(value, list) else f"[{expression}]"
