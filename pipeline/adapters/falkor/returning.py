"""Gives an entity that leaves a merge the edges of other writers back: blocks of the query that undoes the merge.

They are new edges with the types and properties of the old ones; internal ids are others. What was written since the
merge stays with the survivor, and so do the chunks that a relation of theirs has gained from the duplicate's.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.moving import SRC, TGT
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.stated import Ends, list_stated, resolve_ends
from pipeline.adapters.falkor.unmerged import Family
from pipeline.ids import relation_key

_MOVED = """
MATCH (r:__Entity__ {{id: $root}}){left}[y]{right}(o) WHERE y.{end} IN $members AND ID(o) <> ID(r)
RETURN DISTINCT type(y), y.rel_type, o.id
"""
_ASIDE = """
UNWIND $rows AS id MATCH (q:__Unmerged__ {id: id})-[y:__ASIDE__]->(q)
RETURN ID(y), q.id, y.__type__, y.__src__, y.__tgt__
"""
_DIRECTIONS = ((SRC, "-", "->"), (TGT, "<-", "-"))
# A property that is set to what it is itself (as by a CASE) is lost memory to the engine (4.16.3).
_MOVE = """
CALL {{ WITH r, x MATCH (r){left}[{y}:{edge}]{right}({o}) WHERE {y}.{end} IN $members AND ID({o}) <> ID(r)
       CREATE (x){left}[{b}:{edge}]{right}({o}) SET {b} = properties({y})
       FOREACH (once IN CASE WHEN {y}.{end} = x.id THEN [1] ELSE [] END | SET {b}.{end} = NULL)
       DELETE {y}
       RETURN count(*) AS {n} }}
"""
# One property at a time: of several removals in one clause, the engine (4.16.3) removes the wrong ones.
_BRING_BACK = """
CALL {{ WITH r, x UNWIND ${rows} AS {w} MATCH ({q}:__Unmerged__ {{id: {w}[0]}})-[{y}:__ASIDE__]->({q})
       WHERE ID({y}) = {w}[1] {far}
       CREATE ({source})-[{b}:{edge}]->({target}) SET {b} = properties({y})
       WITH r, x, {y}, {b}, {source} AS {w}s, {target} AS {w}t SET {b}.__type__ = NULL
       WITH r, x, {y}, {b}, {w}s, {w}t
       FOREACH (once IN CASE WHEN {y}.__src__ = {w}s.id THEN [1] ELSE [] END | SET {b}.__src__ = NULL)
       WITH r, x, {y}, {b}, {w}s, {w}t
       FOREACH (once IN CASE WHEN {y}.__tgt__ = {w}t.id THEN [1] ELSE [] END | SET {b}.__tgt__ = NULL)
       DELETE {y}
       RETURN count(*) AS {n} }}
"""


@dataclass(frozen=True, slots=True)
class Returning:
    """What goes back to an entity, as clauses of a query that knows it as `x`, and as `r` what it leaves."""

    clauses: str
    values: dict[str, Any]
    relations: tuple[str, ...]
    """Those of what it leaves that lose an edge, though passages state them."""


def spell_returning(graph: FalkorGraph, family: Family, duplicate: str) -> Returning:
    """Write what brings the edges of other writers back to a member that leaves its family."""
    clauses: list[str] = []
    ends_of_moved: set[Ends] = set()
    members = family.members(duplicate)
    moved: set[tuple[str, str, str, str]] = set()
    for end, left, right in _DIRECTIONS:
        cypher = _MOVED.format(end=end, left=left, right=right)
        for name, kind, other in graph.ro_query(cypher, root=family.root, members=members):
            moved.add((end, left, right, name))
            if name == "RELATES" and kind and other:
                ends_of_moved.add((family.root, kind, other) if end == SRC else (other, kind, family.root))
    for number, (end, left, right, name) in enumerate(sorted(moved)):
        own = {variable: f"{variable}m{number}" for variable in "yobn"}
        clauses.append(_MOVE.format(**own, end=end, left=left, right=right, edge=quote_label(name)))
    values: dict[str, Any] = {}
    for number, ((name, source, target), rows) in enumerate(sorted(_list_returning(graph, family, duplicate).items())):
        own = {variable: f"{variable}a{number}" for variable in "qwybn"}
        far = f"MATCH (far{number}:__Entity__ {{id: {own['w']}[2]}})" if "" in (source, target) else ""
        values[f"aside{number}"] = rows
        clauses.append(
            _BRING_BACK.format(
                **own,
                rows=f"aside{number}",
                far=far,
                source=source or f"far{number}",
                target=target or f"far{number}",
                edge=quote_label(name),
            )
        )
    return Returning("".join(clauses), values, _list_stated(graph, family, duplicate, ends_of_moved))


def _list_stated(graph: FalkorGraph, family: Family, duplicate: str, relations: set[Ends]) -> tuple[str, ...]:
    """Choose the relations that passages state of those who stay: what no passage states is nobody's to derive."""
    if not relations:
        return ()
    staying = family.without(duplicate).members(family.root)
    stated = resolve_ends(graph, list_stated(graph, {family.root: staying}))
    return tuple(relation_key(*ends) for ends in sorted(relations & stated))


def _list_returning(
    graph: FalkorGraph, family: Family, duplicate: str
) -> dict[tuple[str, str, str], list[Sequence[Any]]]:
    """List what was laid aside and is to be an edge again, by type and ends: `x`, `r`, or empty for a third one."""
    leaving, staying = set(family.members(duplicate)), set(family.without(duplicate).members(family.root))
    laid = [
        row for row in graph.ro_query(_ASIDE, sorted(leaving | staying)) if _is_free(row, leaving, staying, duplicate)
    ]
    now = resolve_merged(graph, {end for *_, source, target in laid for end in (source, target)})
    found: defaultdict[tuple[str, str, str], list[Sequence[Any]]] = defaultdict(list)
    for edge, owner, name, *ends in laid:
        sides = ["x" if end in leaving else "r" if end in staying else "" for end in ends]
        far = next((now.get(end, end) for end, side in zip(ends, sides, strict=True) if not side), "")
        found[name, sides[0], sides[1]].append([owner, edge, far])
    return dict(found)


def _is_free(row: Sequence[Any], leaving: set[str], staying: set[str], duplicate: str) -> bool:
    """Tell whether nothing keeps an edge aside any more, once a member has left with those that went into it."""
    _, owner, _, source, target = row
    inside = [end for end in (source, target) if end in leaving or end in staying]
    gone = [end for end in inside if end in leaving]
    if len(inside) == 1:
        # What leaves has such an edge itself, unless it is its own that was laid aside, or the one that has it stays.
        return bool(gone) and (owner == duplicate or owner not in leaving)
    if source == target:
        return bool(source == duplicate)
    return len(gone) == 1
