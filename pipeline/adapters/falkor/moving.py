"""What becomes of an entity's edges when it goes into another: blocks of the query that merges the two.

Edges of ours are found again by the write path's own keys. Those of other writers move one by one, with all that they
say, and note the end that they had (`__src__`, `__tgt__`). What has no place at the survivor is laid aside on the
duplicate's `__Unmerged__` node, as an `__ASIDE__` edge: it shows nowhere, and an undo brings it back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import merged_into
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.stated import Ends, list_stated, resolve_ends
from pipeline.ids import relation_key
from pipeline.ports.merges import Collision

SRC, TGT = "__src__", "__tgt__"
"""On edges of other writers: the ends that they had before merges. Those laid aside have their `__type__` as well."""
_TYPES = """
MATCH (e:__Entity__ {{id: $id}}){pattern}(o) RETURN type(x), max(CASE WHEN o.id IN $pair THEN 1 ELSE 0 END)
"""
# With what the survivor says of the same relation, if it has it.
_RELATES = """
MATCH (s:__Entity__ {{id: $into}}) MATCH (e:__Entity__ {{id: $id}}){left}[x:RELATES]{right}(o)
OPTIONAL MATCH (s){left}[y:RELATES {{rel_type: x.rel_type}}]{right}(o)
RETURN ID(x), x.rel_type, o.id, y IS NOT NULL, y.description, x.description
"""
_DIRECTIONS = (("-", "->"), ("<-", "-"))
# What makes two edges to one neighbour the same edge.
_KEYS = {
    "RELATES": "{{rel_type: coalesce({x}.rel_type, '')}}",
    "MENTIONED_IN": "{{as_id: coalesce({x}.as_id, d.id)}}",
    "__SUPPORT__": "{{rel_type: {x}.rel_type, src: {x}.src, tgt: {x}.tgt}}",
}
_UNITE_CHUNKS = """
ON MATCH SET {y}.source_chunk_ids = coalesce({y}.source_chunk_ids, []) +
    [i IN coalesce({x}.source_chunk_ids, []) WHERE NOT i IN coalesce({y}.source_chunk_ids, [])]
"""
# Each block has variables of its own: the engine lets a subquery's names out into what follows it. Every pattern
# starts from the bound duplicate: from a labelled far end the planner would scan the label.
_MOVE = """
CALL {{ WITH s, d MATCH (d){left}[{x}:{edge}]{right}({o}) WHERE ID({o}) <> ID(s) AND ID({o}) <> ID(d) {which}
       MERGE (s){left}[{y}:{edge} {key}]{right}({o})
       ON CREATE SET {y} += properties({x}) {unite}
       RETURN count(*) AS {n} }}
"""
_MOVE_FOREIGN = """
CALL {{ WITH s, d MATCH (d){left}[{x}:{edge}]{right}({o}) WHERE ID({o}) <> ID(s) AND ID({o}) <> ID(d) {which}
       CREATE (s){left}[{y}:{edge}]{right}({o})
       SET {y} = properties({x}) SET {y}.{end} = coalesce({x}.{end}, d.id)
       RETURN count(*) AS {n} }}
"""
_LAY_ASIDE = """
CALL {{ WITH s, d MATCH (d){left}[{x}:{edge}]{right}({o}) WHERE {which}
       MATCH ({q}:__Unmerged__ {{id: d.id}})
       CREATE ({q})-[{y}:__ASIDE__]->({q})
       SET {y} = properties({x})
       SET {y}.__type__ = type({x}), {y}.__src__ = coalesce({x}.__src__, {source}.id),
           {y}.__tgt__ = coalesce({x}.__tgt__, {target}.id)
       RETURN count(*) AS {n} }}
"""
_UNITE_FOREIGN = """
CALL {{ WITH s, d MATCH (d){left}[{x}:RELATES]{right}({o})
       WHERE ID({x}) IN $clashing AND {x}.source_chunk_ids IS NOT NULL
       MATCH (s){left}[{y}:RELATES]{right}({o}) WHERE coalesce({y}.rel_type, '') = {x}.rel_type
       SET {y}.source_chunk_ids = coalesce({y}.source_chunk_ids, []) +
           [i IN coalesce({x}.source_chunk_ids, []) WHERE NOT i IN coalesce({y}.source_chunk_ids, [])]
       RETURN count(*) AS {n} }}
"""
_COLLISIONS, _EXCERPT = 20, 200
"""Relations told differently that a merge remembers, and characters of each: a hub has thousands."""


@dataclass(slots=True)
class Moved:
    """How the edges of a duplicate move."""

    keys: set[str] = field(default_factory=set)
    """The relations of ours that the survivor will hold in the duplicate's place."""
    collisions: list[Collision] = field(default_factory=list)
    """Relations that the survivor tells differently."""
    foreign: set[int] = field(default_factory=set)
    """Internal ids of relations of other writers, to third ones."""
    clashing: set[int] = field(default_factory=set)
    """Of these, those that the survivor has as well."""
    between: set[int] = field(default_factory=set)
    """Internal ids of those that join the two, or the duplicate with itself."""

    def values(self) -> dict[str, Any]:
        """Give the parameters of the blocks."""
        ids = {"foreign": self.foreign, "clashing": self.clashing, "between": self.between}
        return {name: sorted(of_name) for name, of_name in ids.items()}


def read_moved(graph: FalkorGraph, survivor: str, duplicate: str) -> Moved:
    """Read what the relations of a duplicate will be."""
    moved, pair = Moved(), {survivor, duplicate}
    stated = _list_stated(graph, duplicate)
    shared: dict[str, Ends] = {}
    for outgoing, (left, right) in zip((True, False), _DIRECTIONS, strict=True):
        cypher = _RELATES.format(left=left, right=right)
        for edge, kind, other, both, kept, dropped in graph.ro_query(cypher, id=duplicate, into=survivor):
            is_ours = _ends(duplicate, kind, other, outgoing=outgoing) in stated
            if not is_ours:
                (moved.between if other in pair else moved.foreign).add(edge)
            if other in pair:
                continue
            ends = _ends(survivor, kind or "", other or "", outgoing=outgoing)
            key = relation_key(*ends)
            if is_ours:
                moved.keys.add(key)
            elif both:
                moved.clashing.add(edge)
                shared[key] = ends
            if both and (kept or "") != (dropped or ""):
                told = Collision("relation", key, (kept or "")[:_EXCERPT], (dropped or "")[:_EXCERPT])
                moved.collisions.append(told)
    if shared:
        # Where passages state the survivor's, it gains nothing for good: it is derived anew.
        ours = _list_stated(graph, survivor)
        moved.keys |= {key for key, ends in shared.items() if ends in ours}
    del moved.collisions[_COLLISIONS:]
    return moved


def spell_moves(graph: FalkorGraph, survivor: str, duplicate: str, moved: Moved) -> Iterator[str]:
    """Write the blocks that move each type of the duplicate's edges in each direction, or lay them aside."""
    number = 0
    for outgoing, (left, right) in zip((True, False), _DIRECTIONS, strict=True):
        cypher = _TYPES.format(pattern=f"{left}[x]{right}")
        for name, touches in sorted(graph.ro_query(cypher, id=duplicate, pair=[survivor, duplicate])):
            for template, which in _templates(name, moved, outgoing=outgoing, touches=bool(touches)):
                own = {variable: f"{variable}{number}" for variable in "xyonq"}
                source, target = ("d", own["o"]) if outgoing else (own["o"], "d")
                yield template.format(
                    **own,
                    left=left,
                    right=right,
                    edge=quote_label(name),
                    end=SRC if outgoing else TGT,
                    source=source,
                    target=target,
                    which=which.format(**own),
                    key=_KEYS.get(name, "").format(**own),
                    unite=_UNITE_CHUNKS.format(**own) if name == "RELATES" else "",
                )
                number += 1


def _templates(name: str, moved: Moved, *, outgoing: bool, touches: bool) -> Sequence[tuple[str, str]]:
    """Choose the blocks of one type and direction, each with the condition of the edges that it is about."""
    if name == "RELATES":
        blocks = [(_MOVE, "AND NOT ID({x}) IN $foreign" if moved.foreign else "")]
        if moved.foreign:
            blocks.append((_MOVE_FOREIGN, "AND ID({x}) IN $foreign AND NOT ID({x}) IN $clashing"))
        if moved.clashing:
            blocks += [(_LAY_ASIDE, "ID({x}) IN $clashing"), (_UNITE_FOREIGN, "")]
        joining = "ID({x}) IN $between AND "
    elif name in _KEYS:
        return [(_MOVE, "")]
    else:
        blocks, joining = [(_MOVE_FOREIGN, "")], ""
    if touches:
        # A loop goes out and comes in.
        loops = "(ID({o}) = ID(s) OR ID({o}) = ID(d))" if outgoing else "ID({o}) = ID(s)"
        blocks.append((_LAY_ASIDE, joining + loops))
    return blocks


def _list_stated(graph: FalkorGraph, identity: str) -> set[Ends]:
    return resolve_ends(graph, list_stated(graph, merged_into(graph, [identity])))


def _ends(one: str, kind: str, other: str, *, outgoing: bool) -> Ends:
    return (one, kind, other) if outgoing else (other, kind, one)
