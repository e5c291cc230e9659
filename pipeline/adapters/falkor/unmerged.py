"""What entities were by themselves, before they were merged: `(:__Unmerged__ {id, __labels__, ...})`.

Such a node is a copy of an entity, made by its first merge, with its vector left out. What a merged entity should
hold of other writers' properties follows from the copies of all its members, in the order of their merges.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from pipeline.adapters.falkor.client import FalkorGraph, spell_json
from pipeline.adapters.falkor.merged import merged_into
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.told import extend, same_value
from pipeline.adapters.falkor.united import CHOSEN, KEPT, LABELS, prefer, select_foreign, unite
from pipeline.errors import GraphRejected

_OWN = "UNWIND $rows AS id MATCH (o:__Unmerged__ {id: id}) RETURN id, properties(o)"
_MERGES = "UNWIND $rows AS id MATCH (m:__Merged__ {into: id}) RETURN m.id, m.into, coalesce(m.at, 0)"


@dataclass(slots=True)
class Changes:
    """Assignments of a query and their parameters."""

    assignments: list[str] = field(default_factory=list)
    removals: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def set(self, variable: str, name: str, value: Any) -> None:
        """Let an entity hold a value, or none; one that no query can spell stays as it is."""
        target = f"{variable}.{quote_label(name)}"
        if value is None:
            self.removals.append(f"{target} = NULL")
            return
        try:
            spell_json(value)
        except GraphRejected:
            return
        parameter = f"v{len(self.values)}"
        self.assignments.append(f"{target} = ${parameter}")
        self.values[parameter] = value

    def spell(self, variables: str) -> str:
        """Write it as clauses, after which the query goes on with some variables.

        Each removal is a clause of its own: of several in one, the engine (4.16.3) removes the wrong properties.
        """
        clauses = [f"SET {', '.join(self.assignments)}"] if self.assignments else []
        return "".join(f"{one} WITH {variables} " for one in [*clauses, *(f"SET {one}" for one in self.removals)])


@dataclass(frozen=True, slots=True)
class Unmerged:
    """An entity by itself."""

    foreign: Mapping[str, Any]
    labels: frozenset[str]
    chosen: str = ""
    keep: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """A merged entity's members by themselves, and who went into whom, oldest first."""

    root: str
    own: Mapping[str, Unmerged]
    children: Mapping[str, list[str]]

    def members(self, identity: str) -> list[str]:
        """List an entity and all that has been merged into it."""
        found = {identity: None}
        for one in (waiting := [identity]):
            new = [child for child in self.children.get(one, ()) if child not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return list(found)

    def without(self, identity: str) -> "Family":
        """Give the family as it is once a member has left, with those that went into it."""
        children = {into: [one for one in ids if one != identity] for into, ids in self.children.items()}
        return Family(self.root, self.own, children)

    def keeping(self, identity: str, keep: Mapping[str, str]) -> "Family":
        """Give the family as it is once a member keeps the values of others."""
        return replace(self, own={**self.own, identity: replace(self.own[identity], keep=keep)})

    def foreign(self, identity: str) -> dict[str, Any]:
        """Fold what others have written on a member and on those that went into it."""
        folded: dict[str, dict[str, Any]] = {}
        # Those that went into one come after it in the list, however many steps it takes.
        for member in reversed(self.members(identity)):
            folded[member] = self._fold(member, folded)
        return folded[identity]

    def _fold(self, identity: str, folded: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        own = self.own.get(identity)
        united = dict(own.foreign) if own else {}
        for child in self.children.get(identity, ()):
            # One that is not there yet closes a circle, which no merge makes.
            united = unite(united, folded.get(child, {}))
        if own is None or not own.keep:
            return united
        said = {name: self.own[one].foreign.get(name) for name, one in own.keep.items() if self._holds(identity, one)}
        return prefer(united, {name: value for name, value in said.items() if value is not None})

    def labels(self, identity: str) -> frozenset[str]:
        """Unite the labels of a member and of those that went into it."""
        return frozenset(label for one in self.members(identity) if one in self.own for label in self.own[one].labels)

    def _holds(self, identity: str, member: str) -> bool:
        return member in self.own and member in self.members(identity)


def read_family(graph: FalkorGraph, root: str) -> Family:
    """Read an entity's members; one that was never merged has no copy, and no members but itself."""
    members = sorted(merged_into(graph, [root])[root])
    links = sorted(graph.ro_query(_MERGES, members), key=lambda row: (row[2], row[0])) if len(members) > 1 else []
    children: defaultdict[str, list[str]] = defaultdict(list)
    for identity, into, _ in links:
        children[into].append(identity)
    own = {identity: _read(properties) for identity, properties in graph.ro_query(_OWN, members)}
    return Family(root, own, dict(children))


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Name the properties that differ; the order of a list's values is none of a merge's business."""
    return {name for name in {*before, *after} if not _same(before.get(name), after.get(name))}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return not (extend(one, other)[len(one) :] or extend(other, one)[len(other) :])
    return same_value(one, other)


def _read(properties: Mapping[str, Any]) -> Unmerged:
    keep = orjson.loads(properties.get(KEPT) or "{}")
    return Unmerged(
        select_foreign(properties), frozenset(properties.get(LABELS) or ()), properties.get(CHOSEN) or "", keep
    )
