"""Merges by rule: entities of one label and one canonical key become one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.ids import key_of
from pipeline.models import Candidate
from pipeline.resolve.names import canonical_key


@dataclass(frozen=True, slots=True, order=True)
class Merge:
    """One decision, by entity ids: `duplicate` goes into `survivor`."""

    survivor: str
    duplicate: str


def rank_survivor(members: Iterable[Candidate]) -> list[Candidate]:
    """Order the members of a group, the survivor first.

    Best connected, then longest description, then longest name, then smallest id: a total order, so
    the order of arrival never decides.
    """
    return sorted(members, key=lambda one: (-one.degree, -len(one.description), -len(one.name), one.id))


def plan_merges(candidates: Iterable[Candidate]) -> tuple[Merge, ...]:
    """Group by label and canonical key and merge each group into its survivor, sorted by ids.

    A person Paris and a place Paris stay apart, as do blank names, and rows of tables, which have keys.
    Listing an id twice is harmless.
    """
    groups: dict[tuple[str, str], dict[str, Candidate]] = defaultdict(dict)
    for candidate in candidates:
        key = canonical_key(candidate.name)
        if key and not key_of(candidate.id):
            groups[candidate.label, key][candidate.id] = candidate
    merges: list[Merge] = []
    for members in groups.values():
        survivor, *duplicates = rank_survivor(members.values())
        merges.extend(Merge(survivor.id, duplicate.id) for duplicate in duplicates)
    return tuple(sorted(merges))
