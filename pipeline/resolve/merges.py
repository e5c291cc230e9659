"""Merges by rule: entities of one label and one canonical key become one, where no judge is needed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.resolve.acronyms import acronym_of, find_expansions, read_acronym
from pipeline.resolve.bearers import find_bearer
from pipeline.resolve.names import canonical_key
from pipeline.resolve.reading import key_of_bearer
from pipeline.resolve.values import Named, Pair, pair_of

_PLACEHOLDER = "is_stub"
"""The property of an entity that is only pointed at, as the GraphRAG SDK calls it."""


@dataclass(frozen=True, slots=True, order=True)
class Merge:
    """One decision, by entity ids: `duplicate` goes into `survivor`."""

    survivor: str
    duplicate: str


@dataclass(frozen=True, slots=True)
class ExactPlan:
    """What equal names and initials settle, and what they leave to a judge; by ids, sorted."""

    merges: tuple[Merge, ...]
    """Mentions into the only row of a table that bears their name."""
    groups: tuple[tuple[str, ...], ...]
    """Of two and more mentions, survivor first: the same spelling is evidence, not proof."""
    ambiguous: tuple[Pair, ...]
    """Acronyms and each of the several names that they may stand for."""
    protected: frozenset[Pair]
    """Never to be merged, nor judged: a mention that two rows of tables could own, with either. Two rows never are."""


def rank_survivor(members: Iterable[Named]) -> list[Named]:
    """Order the members of a group, the survivor first.

    A row of a table, then a real entity over a placeholder, a long form over an acronym of it, the best connected, the
    longest description, the longest name, the smallest id: a total order, so the order of arrival never decides.
    """
    group = list(members)
    # Few names may be acronyms at all, and a group of one spelling may be large.
    short = [one for one in group if read_acronym(one.name)]
    acronyms = {one.id for one in short if any(acronym_of(one.name, other.name) for other in group)}

    def rank(one: Named) -> tuple[bool, bool, bool, int, int, int, str]:
        placeholder = bool(one.properties.get(_PLACEHOLDER))
        sizes = -one.degree, -len(one.description), -len(one.name)
        return not one.keyed, placeholder, one.id in acronyms, *sizes, one.id

    return sorted(group, key=rank)


def plan_exact(members: Iterable[Named]) -> ExactPlan:
    """Group by label and canonical key, acronyms with their only expansion, and decide what needs no judge.

    A person Paris and a place Paris stay apart, as do blank names. Listing an id twice is harmless.
    """
    groups, ambiguous = _group(members)
    merges: list[Merge] = []
    handed: list[tuple[str, ...]] = []
    protected: set[Pair] = set()
    for group in groups:
        if len(group) == 1:
            continue
        ranked = [one.id for one in rank_survivor(group)]
        rows = sum(one.keyed for one in group)
        if rows == 1:
            merges.extend(Merge(ranked[0], duplicate) for duplicate in ranked[1:])
            continue
        keyed, mentions = ranked[:rows], ranked[rows:]
        protected.update(pair_of(row, mention) for row in keyed for mention in mentions)
        if len(mentions) > 1:
            handed.append(tuple(mentions))
    return ExactPlan(tuple(sorted(merges)), tuple(sorted(handed)), ambiguous, frozenset(protected))


def _group(members: Iterable[Named]) -> tuple[list[Sequence[Named]], tuple[Pair, ...]]:
    """Put what one key or one acronym names together; give the pairs of ambiguous acronyms beside it."""
    of_key: dict[tuple[str, str], dict[str, Named]] = defaultdict(dict)
    for one in members:
        key = canonical_key(one.name)
        if key:
            of_key[one.label, key][one.id] = one
    ambiguous: set[Pair] = set()
    for found in find_expansions(one for group in of_key.values() for one in group.values()):
        short = of_key[found.label, found.short]
        if found.sure:
            of_key[found.label, found.longs[0]] |= short
            del of_key[found.label, found.short]
        else:
            longs = (one for long in found.longs for one in of_key[found.label, long])
            ambiguous.update(pair_of(one, long) for long in longs for one in short)
    return [group for named in of_key.values() for group in _part(named.values())], tuple(sorted(ambiguous))


def _part(group: Iterable[Named]) -> Iterator[Sequence[Named]]:
    """Part what a key makes one by taking an end for a legal form that only organisations have: Smith, S.A."""
    members = list(group)
    if len(members) == 1:
        yield members
        return
    parts: dict[str, list[Named]] = defaultdict(list)
    for one in members:
        key = key_of_bearer(one.name, find_bearer((one.label,), (one.name,)))
        parts["" if key == canonical_key(one.name) else key].append(one)
    yield from parts.values()
