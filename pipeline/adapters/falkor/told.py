"""What the mentions of a merged entity tell of it: whose value of a property counts, and which are dropped. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from pipeline.write import pick_properties

DROPPED = "__dropped"
"""Ends the name of the list of what lost against a property's value."""


def pick_told(told: Iterable[tuple[str, int, str]], identity: str, keep: Mapping[str, str]) -> dict[str, Any]:
    """Choose the properties that mentions tell, each a JSON object, how many tell it, and as which entity.

    Of the values that the members of a merge tell, the one of the member in `keep` counts, then the entity's own, then
    the most frequent one; the others are its `__dropped`. Lists are united.
    """
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for spelled, times, member in told:
        rows[member][spelled] += times
    picked = pick_properties(sum(rows.values(), Counter()))
    if len(rows) <= 1:
        return picked
    by_member = {member: pick_properties(votes) for member, votes in sorted(rows.items())}
    united: dict[str, Any] = {}
    for name, frequent in picked.items():
        said = {member: values[name] for member, values in by_member.items() if name in values}
        value = said.get(keep.get(name, ""), said.get(identity, frequent))
        others = [one for one in said.values() if not same_value(one, value)]
        if isinstance(value, list) and all(isinstance(one, list) for one in others):
            for one in others:
                value = extend(value, one)
        elif others:
            united[name + DROPPED] = sorted(extend([], others), key=orjson.dumps)
        united[name] = value
    return united


def extend(values: list[Any], more: list[Any]) -> list[Any]:
    """Add to a list what it does not hold yet."""
    return [*values, *(one for one in more if not any(same_value(one, other) for other in values))]


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two values are the same; 1 and true are not."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
