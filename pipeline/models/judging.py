"""What the judging of entities is about: entities with their names, pairs of them, and what is thought of a pair."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Pair = tuple[str, str]
"""Two ids of entities, the smaller one first: see `pair_of`."""

PERSON = "person"
"""The judge whose word counts more than any other's."""
EXACT = "exact"
"""The judge of phase 1: the rules of names alone."""


class Verdict(StrEnum):
    """What a judge thinks of two entities."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    """It cannot tell. Nothing is merged for it, and nothing kept apart."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as a judge sees it."""

    id: str
    label: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    """By name: texts, numbers, booleans, or lists of them."""
    degree: int = 0
    """Its relations and mentions."""
    keyed: bool = False
    """A row of a table wrote it."""
    pending: bool = False
    """New or changed since the last finalize."""
    merged_labels: tuple[str, ...] = ()
    """Labels beside its own, of what was merged into it."""


@dataclass(frozen=True, slots=True, order=True)
class Judged:
    """A verdict on one pair, as it is kept."""

    pair: Pair
    verdict: Verdict
    reason: str
    """A word or a few, for `explain`."""
    judge: str
    """`person`, `exact`, `rules`, or the name of a model."""


def pair_of(one: str, other: str) -> Pair:
    """Name two entities in either order the same."""
    return (one, other) if one < other else (other, one)
