"""Which entities of a graph are one: by their names, by a judge of those that look alike, resolved to one plan.

Only what is pending is looked at, against the names of all. What a judge has decided before is not asked again; what
nobody could decide is kept for a person. Nothing is merged here: the plan is sealed first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import batched, combinations

import numpy as np

from pipeline.embed import text_hash
from pipeline.ids import key_of
from pipeline.models import Usage
from pipeline.ports import Vectors
from pipeline.ports.merges import GraphMerges
from pipeline.resolve import canonical_key
from pipeline.resolve.bridges import doubt_bridges
from pipeline.resolve.judging import Judge
from pipeline.resolve.merges import ExactPlan, Merge, plan_exact
from pipeline.resolve.nominate import nominate_groups, nominate_nearest
from pipeline.resolve.resolution import Plan, resolve
from pipeline.resolve.rules import RULES
from pipeline.resolve.sets import make_sets, settle
from pipeline.resolve.values import EXACT, Group, Judged, Named, Pair, Verdict, pair_of
from scheduler.name_vectors import NOTHING_FRESH, FreshVectors
from scheduler.seals import spell_told

NAME_PAGE = 5_000
"""Names read at once."""
MOST_COMPARED = 200_000**2
"""Comparisons of names of one label by their vectors, some minutes; where more are due, only equal spellings and
initials are nominated, and the report says so."""
SETS_AT_ONCE = 200
"""Sets judged between two signs of life."""
LEAST_KEPT_COSINE = 0.8
"""How near two names must be for an open question about them to be kept: most near names are no question at all."""


@dataclass(slots=True)
class _Names:
    """The names of all entities of a graph; everything runs parallel to `ids`."""

    ids: list[str] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    """Of the texts that their vectors were made of."""
    labels: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pending: set[str] = field(default_factory=set)

    def crowded(self) -> dict[str, int]:
        """Count what is pending of labels of which comparing every name would take hours."""
        rows = zip(self.ids, self.labels, strict=True)
        all_of, pending_of = Counter(self.labels), Counter(label for one, label in rows if one in self.pending)
        return {label: count for label, count in pending_of.items() if count * all_of[label] > MOST_COMPARED}

    def count_not_embedded(self) -> int:
        """Count what is pending and has no vector."""
        rows = zip(self.ids, self.hashes, strict=True)
        return sum(one in self.pending and not text_hash for one, text_hash in rows)

    def light(self) -> Iterator[Named]:
        """Give them as far as names tell."""
        for identity, label, name in zip(self.ids, self.labels, self.names, strict=True):
            yield Named(identity, label, name, keyed=bool(key_of(identity)))


@dataclass(slots=True)
class _Brought:
    """What a judge has brought so far."""

    judged: list[Judged] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    unanswered: list[Sequence[str]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be merged, and what the report tells of how that was found."""

    plan: Plan
    verdicts: tuple[Judged, ...]
    """What is to be kept once the plan is applied: what need not be asked again, and what is open."""
    counts: dict[str, int]
    told: dict[str, str]
    """What the entities of the plan's merges said of themselves, as `spell_told` gives it."""
    not_embedded: int
    """Pending names without a vector yet: they were compared by their spelling only."""


@dataclass(slots=True)
class Judging:
    """What decides; one per process."""

    merges_of: Callable[[str], GraphMerges]
    judge_of: Callable[[str, Collection[Pair]], Judge]
    """Gives the judge of a graph; the pairs are those that phase 1 has put together."""
    vectors_of: Callable[[str, GraphMerges, Sequence[tuple[str, str]], FreshVectors, Callable[[], None]], Vectors]
    """Gives the vectors of a graph's names, parallel to pairs of an entity's id and the hash of what was embedded."""

    def decide(self, graph: str, progress: Callable[[], None], fresh: FreshVectors = NOTHING_FRESH) -> Decision:
        """Decide about all that is pending, without a change to the graph; `progress` is called in between.

        `fresh` are vectors of pending names, whether the graph holds them or will do so soon.
        """
        merges = self.merges_of(graph)
        names = self._read_names(merges, fresh.hashes, progress)
        exact = self._plan_exact(merges, names)
        nominated = self._nominate(graph, merges, names, exact, fresh, progress)
        wanted = {member for pair in nominated for member in pair} | {m for one in exact.merges for m in _pair(one)}
        named = {one.id: one for some in batched(sorted(wanted), NAME_PAGE) for one in merges.named(some)}
        known = [stored.judged for stored in merges.verdicts(nominated).values()]
        apart = exact.protected | merges.kept_apart()
        keyed = {one.id for one in named.values() if one.keyed}
        present = {pair: near for pair, near in nominated.items() if pair[0] in named and pair[1] in named}
        sets = make_sets(present, settle(known) | apart, keyed)
        group_of = {member: number for number, group in enumerate(exact.groups) for member in group}
        pairs = (pair for members in sets for pair in combinations(sorted(members), 2) if pair[0] in group_of)
        grouped = {(one, other) for one, other in pairs if group_of[one] == group_of.get(other)}
        brought, asked = _Brought(), [[named[member] for member in members] for members in sets]
        self._judge(self.judge_of(graph, grouped), asked, brought, progress)
        brought.judged = doubt_bridges(brought.judged, named)
        by_name = [Judged(pair_of(*_pair(one)), Verdict.SAME, "name", EXACT) for one in exact.merges]
        plan = resolve([*by_name, *known, *brought.judged], named, apart, brought.unanswered, brought.groups)
        plan = replace(
            plan, undecided=tuple(j for j in plan.undecided if nominated.get(j.pair, 0) >= LEAST_KEPT_COSINE)
        )
        verdicts = (*_worth_keeping(brought.judged, known, plan.held), *plan.undecided)
        counts = {**plan.counts, "sets": len(sets), "unanswered": len(brought.unanswered)}
        counts["held_entities"] = sum(named[member].pending for group in plan.held for member in group)
        counts["names_not_compared"] = sum(names.crowded().values())
        usage = {"judge_calls": brought.usage.calls, "judge_tokens": brought.usage.tokens_in + brought.usage.tokens_out}
        counts = {name: n for name, n in (counts | usage).items() if name != "merged"}
        merging = {member for one in plan.merges for member in (one.survivor, one.duplicate)}
        told = {member: spell_told(named[member]) for member in sorted(merging & named.keys())}
        return Decision(plan, verdicts, counts, told, names.count_not_embedded())

    def _read_names(self, merges: GraphMerges, fresh: frozenset[str], progress: Callable[[], None]) -> _Names:
        names, after = _Names(), -1
        while (page := merges.names(after, NAME_PAGE)).ids:
            names.ids += page.ids
            names.labels += page.labels
            names.names += page.names
            rows = zip(page.ids, page.names, page.embedded_hashes, page.pending, strict=True)
            for identity, name, embedded_hash, is_pending in rows:
                if is_pending:
                    names.pending.add(identity)
                # What is stored may be an older name's, or nothing yet.
                made = is_pending and fresh and (digest := text_hash(name)) in fresh
                names.hashes.append(digest if made else embedded_hash)
            after = page.last
            progress()
        return names

    def _plan_exact(self, merges: GraphMerges, names: _Names) -> ExactPlan:
        """Group by names what a pending entity is in; members are looked up in full, as they rank by all they say."""
        light = plan_exact(names.light())
        groups = [*light.groups, *(_pair(one) for one in light.merges), *light.protected, *light.ambiguous]
        touched = {member for group in groups if not names.pending.isdisjoint(group) for member in group}
        keys = {(label, canonical_key(name)) for i, label, name in _rows(names) if i in touched}
        members = [i for i, label, name in _rows(names) if i in touched or (label, canonical_key(name)) in keys]
        return plan_exact(one for some in batched(members, NAME_PAGE) for one in merges.named(some))

    def _nominate(
        self,
        graph: str,
        merges: GraphMerges,
        names: _Names,
        exact: ExactPlan,
        fresh: FreshVectors,
        progress: Callable[[], None],
    ) -> dict[Pair, float]:
        keyed = {identity for identity in names.ids if key_of(identity)}
        found: dict[Pair, float] = {}
        # One of those that are spelled the same stands for all, lest they fill each other's places.
        others = {member for group in exact.groups for member in group[1:]} | {one.duplicate for one in exact.merges}
        labels = {label for one, label, _ in _rows(names) if one in names.pending} - names.crowded().keys()
        rows = [row for row, one in enumerate(names.ids) if names.labels[row] in labels and one not in others]
        if rows:
            ids = [names.ids[row] for row in rows]
            hashed = [(names.ids[row], names.hashes[row]) for row in rows]
            vectors = self.vectors_of(graph, merges, hashed, fresh, progress)
            pending = np.array([identity in names.pending for identity in ids])
            rows_of_tables = np.array([identity in keyed for identity in ids])
            found = nominate_nearest(ids, [names.labels[row] for row in rows], vectors, pending, rows_of_tables)
        return found | nominate_groups((*exact.groups, *exact.ambiguous), names.pending, keyed)

    def _judge(
        self, judge: Judge, sets: Sequence[Sequence[Named]], brought: _Brought, progress: Callable[[], None]
    ) -> None:
        for some in batched(sets, SETS_AT_ONCE):
            for step in judge.judge(some):
                for verdict in step.answered.values():
                    brought.judged += verdict.judged
                    brought.groups += verdict.groups
                brought.unanswered += ([one.id for one in some[position]] for position in step.unanswered)
                brought.usage += step.usage
                progress()


def _worth_keeping(judged: Iterable[Judged], known: Iterable[Judged], held: Iterable[Sequence[str]]) -> list[Judged]:
    """Choose what is decided; what rules say costs nothing to say again, but settles a question that was kept.

    Nothing of a held group: it is asked about again as a whole, and told its name then.
    """
    asked = {one.pair for one in known}
    waiting = {member for group in held for member in group}
    decided = (one for one in judged if one.verdict is not Verdict.UNDECIDED and waiting.isdisjoint(one.pair))
    return [one for one in decided if one.judge != RULES or one.pair in asked]


def _pair(merge: Merge) -> Pair:
    return merge.survivor, merge.duplicate


def _rows(names: _Names) -> Iterator[tuple[str, str, str]]:
    return zip(names.ids, names.labels, names.names, strict=True)
