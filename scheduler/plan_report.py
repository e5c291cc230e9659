"""What a plan of merges tells a person: which entities it is about, by name, and what becomes of their values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any

from pipeline.ports.merges import GraphMerges
from pipeline.resolve.resolution import Clash, Plan
from pipeline.resolve.values import Judged, Named, Pair

READ_AT_ONCE = 5_000
"""Entities looked up at once."""


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """Entities that may be one, of which nothing was merged as an answer of the judge is missing."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    """Parallel to `ids`."""


@dataclass(frozen=True, slots=True)
class ValueClash:
    """What two entities that become one say differently of an attribute."""

    into: str
    """The id of the entity that they become."""
    into_name: str
    attribute: str
    kept: str
    """The id of the entity whose value stays."""
    kept_value: Any
    dropped: str
    """The id of the one whose value is set aside."""
    dropped_value: Any


@dataclass(frozen=True, slots=True)
class ForeseenMerge:
    """An entity that would go into another, and why."""

    id: str
    name: str
    into: str
    into_name: str
    reason: str
    judge: str


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Two entities that no judge could decide about."""

    ids: Pair
    names: tuple[str, str]
    reason: str
    judge: str


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What of a finalize's plan a person may have to look into; empty where all went smoothly."""

    held: tuple[HeldGroup, ...] = ()
    clashes: tuple[ValueClash, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """What a finalize would do now."""

    merges: tuple[ForeseenMerge, ...]
    undecided: tuple[OpenPair, ...]
    report: PlanReport
    counts: Mapping[str, int]
    not_embedded: int = 0
    """Pending names that have no vector yet: what is like them in other words than theirs shows only later."""


def report_plan(plan: Plan, merges: GraphMerges) -> PlanReport:
    """Tell by name what a plan holds, and what it sets aside; looks only these entities up."""
    members = {member for group in plan.held for member in group}
    for clash in plan.clashes:
        members |= {clash.survivor, clash.kept, clash.dropped}
    return _report(plan, _look_up(merges, members))


def preview_plan(plan: Plan, merges: GraphMerges, counts: Mapping[str, int], not_embedded: int = 0) -> PlanPreview:
    """Tell by name all that a plan would do; it was made with so many pending names not embedded yet."""
    members = {member for one in plan.merges for member in (one.survivor, one.duplicate)}
    members |= {member for judged in plan.undecided for member in judged.pair}
    members |= {member for group in plan.held for member in group}
    named = _look_up(merges, members)
    foreseen = (
        ForeseenMerge(
            one.duplicate,
            _name(named, one.duplicate),
            one.survivor,
            _name(named, one.survivor),
            one.because.reason,
            one.because.judge,
        )
        for one in plan.merges
    )
    undecided = (_open_pair(judged, named) for judged in plan.undecided)
    return PlanPreview(tuple(foreseen), tuple(undecided), _report(plan, named), counts, not_embedded)


def _report(plan: Plan, named: Mapping[str, Named]) -> PlanReport:
    held = (HeldGroup(group, tuple(_name(named, member) for member in group)) for group in plan.held)
    # What an ingest has removed meanwhile says nothing any more.
    clashes = (_value_clash(clash, named) for clash in plan.clashes if {clash.kept, clash.dropped} <= named.keys())
    return PlanReport(tuple(held), tuple(clashes))


def _value_clash(clash: Clash, named: Mapping[str, Named]) -> ValueClash:
    kept, dropped = (named[one].properties.get(clash.name) for one in (clash.kept, clash.dropped))
    name = _name(named, clash.survivor)
    return ValueClash(clash.survivor, name, clash.name, clash.kept, kept, clash.dropped, dropped)


def _open_pair(judged: Judged, named: Mapping[str, Named]) -> OpenPair:
    one, other = judged.pair
    return OpenPair(judged.pair, (_name(named, one), _name(named, other)), judged.reason, judged.judge)


def _look_up(merges: GraphMerges, ids: Iterable[str]) -> dict[str, Named]:
    return {one.id: one for some in batched(sorted(ids), READ_AT_ONCE) for one in merges.named(some)}


def _name(named: Mapping[str, Named], identity: str) -> str:
    return named[identity].name if identity in named else ""
