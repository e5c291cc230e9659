"""What the judging of entities is about: entities with their names, pairs of them, and what is thought of them."""

from dataclasses import dataclass

from pipeline.models.judging import EXACT, PERSON, Judged, Named, Pair, Verdict, pair_of

__all__ = ["EXACT", "PERSON", "Group", "Judged", "Named", "Pair", "SetVerdict", "Verdict", "pair_of"]


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Members of a set that a judge takes for one and the same, and what it would make of them."""

    ids: tuple[str, ...]
    name: str = ""
    """The best of their names and aliases; '' where the judge has no opinion."""
    keep: tuple[tuple[str, str], ...] = ()
    """Where their values of an attribute differ: its name, and the id of the member whose value is right."""


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """What a judge makes of one set: a verdict on each of its pairs."""

    judged: tuple[Judged, ...]
    groups: tuple[Group, ...] = ()
