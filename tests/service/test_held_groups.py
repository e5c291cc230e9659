"""A group without the judge's answer is held: nothing of it is merged, and the next finalize asks about it again."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from pipeline.adapters.falkor import FalkorCurator, FalkorMerges
from pipeline.findings import FaultCode
from pipeline.ids import entity_id
from pipeline.models.judging import Judged, Verdict, pair_of
from pipeline.resolve.judging import Judgement
from pipeline.resolve.values import Group, SetVerdict
from scheduler.finalize import PHASES, Phase, Shard
from scheduler.leases import Access, GraphLease
from workers.bootstrap import build_verification
from workers.cli.outcomes import _WORDS
from workers.merging import Merging
from workers.resources import build_resources
from workers.settings import Settings

ACME, GROUP = entity_id("Acme", "Organization"), entity_id("Acme Group", "Organization")


class Judge:
    """Answers that all of a set is one, or not at all; keeps what it was asked."""

    def __init__(self) -> None:
        self.answers = True
        self.name = ""
        self.asked = []

    def judge(self, sets):
        self.asked += [[one.id for one in members] for members in sets]
        for position, members in enumerate(sets):
            if not self.answers:
                yield Judgement({}, (position,))
                continue
            first, *others = sorted(one.id for one in members)
            same = tuple(Judged((first, other), Verdict.SAME, "judged", "a model") for other in others)
            named = Group(tuple(sorted(one.id for one in members)), self.name)
            yield Judgement({position: SetVerdict(same, (named,))})


class Finalizes:
    """Finalizes a graph in this process, with a judge of the test's."""

    def __init__(self, settings, graph, judge) -> None:
        self.graph, self.settings = graph, settings
        self.steps = build_resources(settings).finalize_steps
        self.steps.judging.judge_of = lambda *_: judge

    def run(self, before=lambda phase: None):
        """Finalize, phase after phase; gives the status at the end. `before` is called with each phase."""
        number = self.steps.finalizes.begin(self.graph, forced=True)
        shards = [Shard(self.graph, number, Phase.PLAN, 0)]
        while shards:
            before(shards[0].phase)
            for shard in shards:
                self.steps.run(shard)
            shards = self.steps.advance(shards[-1])
        status = self.steps.finalizes.status(self.graph)
        assert (status.state, status.error, status.number) == ("idle", "", number)
        return status


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def finalizes(redis_server, graph_server, graph_name, writer, make_document, judge, tmp_path, monkeypatch):
    """A graph of two documents that name Acme in two ways."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = Settings(
        redis_url=redis_server.url,
        falkordb_url=graph_server.url,
        data_dir=tmp_path,
        embed={"embedder": "python:tiny_models:embed"},
    )
    made = Finalizes(settings, graph_name, judge)
    documents = [
        make_document("one", ("Acme is in Ely.", [("Acme", "Organization"), ("Ely", "Location")], [])),
        make_document("two", ("Acme Group is rich.", [("Acme Group", "Organization")], [])),
    ]
    with GraphLease.hold(made.steps.leases, graph_name, Access.SHARED, "a writer") as lease:
        writer.write(documents, lease.epoch, lease.renew)
    return made


def test_a_held_group_stays_pending_until_its_answer_comes(finalizes, graph, judge):
    judge.answers = False
    status = finalizes.run()
    assert {one.id for one in FalkorCurator(graph).pending("entity", -1, 9)} == {ACME, GROUP}
    assert (status.report["held"], status.report["merged"]) == (1, 0)
    (held,) = Merging(finalizes.settings, None).plan_report(status).held
    assert dict(zip(held.ids, held.names, strict=True)) == {ACME: "Acme", GROUP: "Acme Group"}
    judge.answers = True
    status = finalizes.run()
    assert [sorted(asked) for asked in judge.asked] == [[GROUP, ACME]] * 2
    assert (status.report["held"], status.report["merged"]) == (0, 1)
    assert FalkorCurator(graph).counts().pending == {}
    finalizes.run()
    assert len(judge.asked) == 2, "nothing is pending any more"


def test_a_value_that_is_set_aside_is_told_with_the_one_that_stays(finalizes, graph):
    told = {ACME: 1990, GROUP: 1991}
    for identity, year in told.items():
        graph.query("MATCH (e:__Entity__ {id: $id}) SET e.founded = $year", id=identity, year=year)
    status = finalizes.run()
    (clash,) = Merging(finalizes.settings, None).plan_report(status).clashes
    assert status.report["collisions"] == 1
    assert (clash.into, clash.attribute, {clash.kept, clash.dropped}) == (clash.kept, "founded", {ACME, GROUP})
    assert (clash.kept_value, clash.dropped_value) == (told[clash.kept], told[clash.dropped])


def test_what_changes_after_it_was_judged_is_merged_by_no_stale_plan_and_looked_at_again(finalizes, graph, judge):
    def change(phase):
        if phase is Phase.MERGE:
            graph.query("MATCH (e:__Entity__ {id: $id}) SET e.founded = 1999", id=GROUP)

    status = finalizes.run(change)
    assert (status.report["merges_planned"], status.report["merges_outdated"], status.report["merged"]) == (1, 1, 0)
    assert {one.id for one in FalkorCurator(graph).pending("entity", -1, 9)} == {ACME, GROUP}
    status = finalizes.run()
    assert (len(judge.asked), status.report["merges_outdated"], status.report["merged"]) == (2, 0, 1)


def test_a_preview_counts_the_names_that_have_no_vector_and_writes_nothing(finalizes, graph, dump_graph):
    before = dump_graph(graph)
    preview = Merging(finalizes.settings, None).plan_merges(finalizes.graph)
    assert (preview.not_embedded, dump_graph(graph)) == (3, before)
    finalizes.run()
    assert Merging(finalizes.settings, None).plan_merges(finalizes.graph).not_embedded == 0


def test_a_report_counts_the_time_of_each_phase_and_every_count_has_words(finalizes):
    report = finalizes.run().report
    assert {f"{phase}_ms" for phase in PHASES} <= report.keys()
    assert report["names_ms"] > 0
    assert {name for name in report if not name.endswith("_ms")} <= _WORDS.keys()


def test_a_finalize_forgets_what_was_thought_of_entities_that_are_gone(finalizes, graph):
    merges, gone = FalkorMerges(graph), pair_of(ACME, "gone__organization")
    kept = pair_of(ACME, entity_id("Ely", "Location"))
    with GraphLease.hold(finalizes.steps.leases, finalizes.graph, Access.SHARED, "a judge") as lease:
        rows = [Judged(pair, Verdict.DIFFERENT, "judged", "a model") for pair in (gone, kept)]
        merges.put_verdicts(rows, lease.epoch)
    assert finalizes.run().report["verdicts_forgotten"] == 1
    assert merges.verdicts([gone, kept]).keys() == {kept}


def test_an_entity_that_comes_after_the_names_were_listed_is_judged_by_the_next_finalize(
    finalizes, graph, writer, make_document, judge
):
    late = make_document("three", ("The Acme Group Club is in Ely.", [("Acme Group Club", "Organization")], []))

    def write_late(phase):
        if phase is Phase.MERGE:
            with GraphLease.hold(finalizes.steps.leases, finalizes.graph, Access.SHARED, "a writer") as lease:
                writer.write([late], lease.epoch, lease.renew)

    finalizes.run(write_late)
    club = entity_id("Acme Group Club", "Organization")
    assert [one.id for one in FalkorCurator(graph).pending("entity", -1, 9)] == [club]
    finalizes.run()
    assert club in judge.asked[-1]
    assert FalkorCurator(graph).counts().pending == {}


def test_where_no_entity_is_pending_no_name_is_read(finalizes):
    finalizes.run()

    def refuse(_graph):
        raise AssertionError("names are read")

    merges_of, finalizes.steps.judging.merges_of = finalizes.steps.judging.merges_of, refuse

    def allow(phase):
        if phase is Phase.MERGE:
            finalizes.steps.judging.merges_of = merges_of

    assert finalizes.run(allow).report["merges_planned"] == 0


def test_what_is_held_is_no_fault_of_the_graph(finalizes, graph, judge):
    judge.answers = False
    finalizes.run()
    verification = build_verification(graph, finalizes.steps.ledger, finalizes.steps.finalizes)
    assert FalkorCurator(graph).counts().pending == {"entity": 2}
    assert FaultCode.PENDING_LEFT not in {one.code for one in verification.verify(finalizes.graph).findings}


def test_a_name_that_was_chosen_is_not_lost_with_a_finalize_that_failed_before_it_merged(
    finalizes, graph, judge, monkeypatch
):
    judge.name = "Acme Group"
    with monkeypatch.context() as broken:
        broken.setattr(FalkorCurator, "merge", Mock(side_effect=RuntimeError("out of order")))
        with pytest.raises(AssertionError, match="out of order"):
            finalizes.run()
    finalizes.run()
    assert len(judge.asked) == 2
    ((name,),) = graph.ro_query("MATCH (e:__Entity__) WHERE e.id IN $ids RETURN e.name", ids=[ACME, GROUP])
    assert name == "Acme Group"
