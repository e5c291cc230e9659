"""What is told of a plan of merges: names, values that collide, and that it is kept as it was sealed."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.errors import ArtifactMissing
from pipeline.models.judging import Judged, Named, Verdict
from pipeline.resolve.resolution import Clash, Plan, PlannedMerge
from scheduler.finalize import Phase, Shard
from scheduler.plan_report import HeldGroup, PlanReport, ValueClash, preview_plan, report_plan
from scheduler.seals import Seals, spell_told

SHARD = Shard("kb", 7, Phase.JUDGE, 0)
ENTITIES = {
    "a": Named("a", "Person", "Ada", properties={"age": 1}),
    "b": Named("b", "Person", "Ada Q.", properties={"age": 2}),
    "c": Named("c", "Person", "Cass", properties={"age": [3.5]}),
}
AGES = Clash("a", "age", "a", "b")
TOLD = ValueClash("a", "Ada", "age", "a", 1, "b", 2)


class Entities:
    """The one side of `GraphMerges` that is asked, with what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def named(self, ids: Sequence[str]) -> list[Named]:
        self.asked += ids
        return [ENTITIES[one] for one in ids if one in ENTITIES]


class Kept(dict):
    """An artifact store in memory."""

    put = dict.__setitem__


class Names:
    """The one side of `FinalizeLedger` that is asked: under which name the plan is."""

    name = ""

    def seal(self, shard: Shard, phase: Phase) -> str:
        return self.name


def same(one: str, other: str) -> Judged:
    return Judged((one, other), Verdict.SAME, "name", "rules")


def test_held_groups_and_clashes_are_told_by_name_and_nothing_else_is_looked_up() -> None:
    entities = Entities()
    plan = Plan((PlannedMerge("a", "x", same("a", "x")),), held=(("a", "c"),), clashes=(AGES,))
    assert report_plan(plan, entities) == PlanReport((HeldGroup(("a", "c"), ("Ada", "Cass")),), (TOLD,))
    assert entities.asked == ["a", "b", "c"]


def test_what_went_in_the_meantime_has_no_name_and_collides_with_nothing() -> None:
    plan = Plan(held=(("a", "gone"),), clashes=(AGES, Clash("a", "age", "a", "gone")))
    assert report_plan(plan, Entities()) == PlanReport((HeldGroup(("a", "gone"), ("Ada", "")),), (TOLD,))


def test_a_preview_tells_merges_and_open_pairs_by_name() -> None:
    undecided = Judged(("b", "c"), Verdict.UNDECIDED, "numbers", "rules")
    plan = Plan((PlannedMerge("a", "b", same("a", "b")),), undecided=(undecided,), clashes=(AGES,))
    preview = preview_plan(plan, Entities(), plan.counts)
    (merge,), (pair,) = preview.merges, preview.undecided
    assert (merge.id, merge.name, merge.into, merge.into_name, merge.reason) == ("b", "Ada Q.", "a", "Ada", "name")
    assert (pair.ids, pair.names, pair.reason) == (("b", "c"), ("Ada Q.", "Cass"), "numbers")
    assert preview.report.clashes == (TOLD,)


def test_a_report_is_read_as_it_was_sealed() -> None:
    seals = Seals(Kept(), Names())
    plan = Plan(held=(("a", "c"),), clashes=(AGES, Clash("a", "age", "a", "c")))
    report = report_plan(plan, Entities())
    seals.seal_plan(SHARD, plan, report, (), {})
    seals.finalizes.name, _ = seals.seal(SHARD, Phase.MERGE, None)
    assert seals.report(Shard("kb", 7, Phase.INDEX, 0)) == report


def test_a_plan_that_comes_late_is_read_by_nobody_and_one_that_is_lost_is_told() -> None:
    seals = Seals(Kept(), Names())
    with pytest.raises(ArtifactMissing):
        seals.seal(SHARD, Phase.MERGE, None)
    first = Plan((PlannedMerge("a", "b", same("a", "b")),))
    seals.seal_plan(SHARD, first, PlanReport(), (), {"a": "hash"})
    seals.finalizes.name, _ = seals.seal(SHARD, Phase.MERGE, None)
    sealed = seals.plan(SHARD)
    seals.seal_plan(SHARD, Plan((PlannedMerge("a", "c", same("a", "c")),)), PlanReport((HeldGroup((), ()),)), (), {})
    assert (seals.plan(SHARD), seals.report(SHARD)) == (sealed, PlanReport())
    assert ([merge[:2] for merge in sealed.merges], sealed.told) == ([("a", "b")], {"a": "hash"})


def test_what_an_entity_tells_is_its_label_name_aliases_and_properties() -> None:
    one = Named("a", "Person", "Ada", ("A.", "B."), "of Ely", {"age": 1})
    same_told = replace(one, aliases=("B.", "A."), description="of Bath", degree=7, pending=True)
    assert spell_told(same_told) == spell_told(one)
    others = [{"label": "Firm"}, {"name": "Bea"}, {"aliases": ("A.",)}, {"properties": {"age": True}}]
    assert spell_told(one) not in {spell_told(replace(one, **other)) for other in others}
