"""Chooses what an entity or a relation says of itself among all that is said of it, whatever came first. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import orjson


def spell_fact(source_name: str, rel_type: str, target_name: str, description: str) -> str:
    """Spell a relation as the GraphRAG SDK does: `(Ada, FOUNDED, Acme): Ada founded Acme.`."""
    return f"({source_name}, {rel_type}, {target_name}): {description}"


def pick_name(votes: Mapping[str, int]) -> str:
    """Choose among spellings: the most frequent, then the longest, then the first by code points."""
    return min(votes, key=lambda name: (-votes[name], -len(name), name))


def pick_description(descriptions: Iterable[str]) -> str:
    """Choose among descriptions: the longest, then the first by code points; empty where there is none."""
    return min(descriptions, key=rank_description, default="")


def rank_description(text: str) -> tuple[int, str]:
    """Put descriptions into the order in which `pick_description` prefers them."""
    return -len(text), text


def pick_properties(told: Mapping[str, int]) -> dict[str, Any]:
    """Choose the properties that mentions tell as JSON objects, each object with how many tell it.

    Of each property the most frequent value counts, then that of the smallest JSON. What is empty is no value;
    an object within is its JSON, as a graph keeps no objects.
    """
    votes: defaultdict[str, dict[bytes, int]] = defaultdict(dict)
    for row in sorted(told):
        for name, value in orjson.loads(row).items():
            if value not in (None, "", [], {}):
                spelled = orjson.dumps(_flatten(value))
                votes[name][spelled] = votes[name].get(spelled, 0) + told[row]
    # Of equals the first counts: that of the smallest JSON.
    return {name: orjson.loads(max(values, key=values.__getitem__)) for name, values in sorted(votes.items())}


def _flatten(value: object) -> object:
    if isinstance(value, list):
        return [orjson.dumps(item).decode() if isinstance(item, list | dict) else item for item in value]
    return orjson.dumps(value).decode() if isinstance(value, dict) else value
