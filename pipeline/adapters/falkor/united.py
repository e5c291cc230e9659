"""What two entities hold as one: properties that others have written, and labels. Pure.

Such properties have no mention to be derived from. `__dropped` lists keep what lost against another value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.falkor.properties import LISTED
from pipeline.adapters.falkor.told import DROPPED, extend, same_value
from pipeline.tables import OWN_PROPERTIES

LABELS, CHOSEN, KEPT = "__labels__", "__chosen__", "__keep__"
"""On `__Unmerged__` nodes: an entity's own labels, the name chosen for it, whose values it keeps (JSON)."""
MERGED_LABELS = "merged_labels"
_OWN = OWN_PROPERTIES - {"source_chunk_ids"} | {LISTED, LABELS, CHOSEN, KEPT, MERGED_LABELS}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values of one property."""

    name: str
    kept: Any
    dropped: Any


def select_foreign(properties: Mapping[str, Any], *others: Mapping[str, Any]) -> dict[str, Any]:
    """Select the properties that others have written: neither identity, nor told by mentions of this or others."""
    derived = _OWN.union(*(one.get(LISTED) or () for one in (properties, *others)))
    return {name: value for name, value in properties.items() if name not in derived and value is not None}


def unite(kept: Mapping[str, Any], gone: Mapping[str, Any]) -> dict[str, Any]:
    """Give the survivor what it lacks; lists are united, and of two values the other one is not lost."""
    united = dict(kept)
    for name, value in sorted(gone.items()):
        if name not in united:
            united[name] = value
        elif isinstance(value, list) and isinstance(united[name], list):
            united[name] = extend(united[name], value)
        elif not same_value(united[name], value):
            # The duplicate's own list, if it has one, has been or will be united with this one.
            united[name + DROPPED] = extend(as_list(united.get(name + DROPPED)), as_list(value))
    return united


def list_conflicts(kept: Mapping[str, Any], gone: Mapping[str, Any]) -> list[Conflict]:
    """List the properties of which `unite` keeps one value and drops another."""
    return [
        Conflict(name, kept[name], value)
        for name, value in sorted(gone.items())
        if name in kept
        and not (isinstance(value, list) and isinstance(kept[name], list))
        and not same_value(kept[name], value)
    ]


def prefer(united: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Put chosen values in the place of those that won."""
    chosen = dict(united)
    for name, value in sorted(wanted.items()):
        present = chosen.get(name)
        if present is None or same_value(present, value) or isinstance(present, list):
            continue
        lost = [one for one in as_list(chosen.get(name + DROPPED)) if not same_value(one, value)]
        chosen[name], chosen[name + DROPPED] = value, extend(lost, [present])
    return chosen


def as_list(value: Any) -> list[Any]:
    """Give a value as a list; none is an empty one."""
    return [] if value is None else value if isinstance(value, list) else [value]
