"""Which entities of a graph are one: by their names, by a judge of those that look alike, resolved to one plan.

Only what is pending is looked at, against the names of all. What a judge has decided before is not asked again; what
nobody could decide is kept for a person. Nothing is merged here: the plan is sealed first.
"""

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched, combinations

import numpy as np

from pipeline.errors import TransientError
from pipeline.ids import key_of
from pipeline.models import Usage
from pipeline.ports import Vectors
from pipeline.ports.merges import GraphMerges
from pipeline.resolve import canonical_key
from pipeline.resolve.judging import Judge
from pipeline.resolve.merges import ExactPlan, Merge, plan_exact
from pipeline.resolve.nominate import nominate_groups, nominate_nearest
from pipeline.resolve.resolution import Plan, resolve
from pipeline.resolve.rules import RULES
from pipeline.resolve.sets import make_sets, settle
from pipeline.resolve.values import EXACT, Group, Judged, Named, Pair, Verdict, pair_of
from scheduler.leases import Access, GraphLease, Leases

NAME_PAGE = 5_000
"""Names read at once."""
MOST_NAMES = 200_000
"""Names that are compared with each other by their vectors; in a larger graph only equal spellings are nominated."""
SETS_AT_ONCE = 200
"""Sets judged between two signs of life."""
LEAST_KEPT_COSINE = 0.8
"""How near two names must be for an open question about them to be kept: most near names are no question at all."""


@dataclass(slots=True)
class _Names:
    """The names of all entities of a graph; everything runs parallel to `ids`."""

    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pending: set[str] = field(default_factory=set)

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
    counts: dict[str, int]


@dataclass(slots=True)
class Judging:
    """What decides; one per process."""

    merges_of: Callable[[str], GraphMerges]
    judge_of: Callable[[str, Collection[Pair]], Judge]
    """Gives the judge of a graph; the pairs are those that phase 1 has put together."""
    leases: Leases
    dimension: int
    """Of the vectors of names."""

    def decide(self, graph: str, progress: Callable[[], None], *, keep: bool = True) -> Decision:
        """Decide about all that is pending; `keep` writes down what was judged. `progress` is called in between."""
        merges = self.merges_of(graph)
        names = self._read_names(merges, progress)
        exact = self._plan_exact(merges, names)
        nominated = self._nominate(merges, names, exact, progress)
        wanted = {member for pair in nominated for member in pair} | {m for one in exact.merges for m in _pair(one)}
        named = {one.id: one for some in batched(sorted(wanted), NAME_PAGE) for one in merges.named(some)}
        known = [stored.judged for stored in merges.verdicts(nominated).values()]
        apart = exact.protected | merges.kept_apart()
        keyed = {one.id for one in named.values() if one.keyed}
        present = {pair: near for pair, near in nominated.items() if pair[0] in named and pair[1] in named}
        sets = make_sets(present, settle(known) | apart, keyed)
        grouped = {pair_of(one, other) for group in exact.groups for one, other in combinations(group, 2)}
        brought, asked = _Brought(), [[named[member] for member in members] for members in sets]
        try:
            self._judge(self.judge_of(graph, grouped), asked, brought, progress)
        except TransientError:
            # What was answered is not asked again when this is tried again.
            self._keep(graph, merges, _worth_keeping(brought.judged, known))
            raise
        by_name = [Judged(pair_of(*_pair(one)), Verdict.SAME, "name", EXACT) for one in exact.merges]
        plan = resolve([*by_name, *known, *brought.judged], named, apart, brought.unanswered, brought.groups)
        if keep:
            kept = _worth_keeping(brought.judged, known)
            kept += [j for j in plan.undecided if nominated.get(j.pair, 0.0) >= LEAST_KEPT_COSINE]
            self._keep(graph, merges, kept)
        counts = {**plan.counts, "sets": len(sets), "unanswered": len(brought.unanswered)}
        usage = {"judge_calls": brought.usage.calls, "judge_tokens": brought.usage.tokens_in + brought.usage.tokens_out}
        return Decision(plan, {name: n for name, n in (counts | usage).items() if name != "merged"})

    def _read_names(self, merges: GraphMerges, progress: Callable[[], None]) -> _Names:
        names, after = _Names(), -1
        while (page := merges.names(after, NAME_PAGE)).ids:
            names.ids += page.ids
            names.labels += page.labels
            names.names += page.names
            names.pending.update(one for one, is_pending in zip(page.ids, page.pending, strict=True) if is_pending)
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
        self, merges: GraphMerges, names: _Names, exact: ExactPlan, progress: Callable[[], None]
    ) -> dict[Pair, float]:
        keyed = {identity for identity in names.ids if key_of(identity)}
        found: dict[Pair, float] = {}
        if names.pending and len(names.ids) <= MOST_NAMES:
            parts: list[Vectors] = []
            for some in batched(names.ids, NAME_PAGE):
                parts.append(merges.name_vectors(some, self.dimension))
                progress()
            vectors = np.concatenate(parts)
            # One of those that are spelled the same stands for all, lest they fill each other's places.
            others = {member for group in exact.groups for member in group[1:]} | {
                one.duplicate for one in exact.merges
            }
            rows = [row for row, identity in enumerate(names.ids) if identity not in others]
            ids = [names.ids[row] for row in rows]
            pending = np.array([identity in names.pending for identity in ids])
            labels, rows_of_tables = [names.labels[row] for row in rows], np.array([one in keyed for one in ids])
            found = nominate_nearest(ids, labels, vectors[rows], pending, rows_of_tables)
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

    def _keep(self, graph: str, merges: GraphMerges, judged: Iterable[Judged]) -> None:
        for some in batched(judged, NAME_PAGE):
            with GraphLease.hold(self.leases, graph, Access.SHARED, secrets.token_hex(8)) as lease:
                merges.put_verdicts(some, lease.epoch)


def _worth_keeping(judged: Iterable[Judged], known: Iterable[Judged]) -> list[Judged]:
    """Choose what is decided; what rules say costs nothing to say again, but settles a question that was kept."""
    asked = {one.pair for one in known}
    decided = (one for one in judged if one.verdict is not Verdict.UNDECIDED)
    return [one for one in decided if one.judge != RULES or one.pair in asked]


def _pair(merge: Merge) -> Pair:
    return merge.survivor, merge.duplicate


def _rows(names: _Names) -> Iterator[tuple[str, str, str]]:
    return zip(names.ids, names.labels, names.names, strict=True)
