"""A sealed plan is applied to what it was made of: what a person has undone, or others have changed, stays two."""

from collections.abc import Sequence

import fakeredis
import pytest
from merging import ACME, ADA, GROUP, INITECH, LTD, NAMES, Graph, Make, proceed

from pipeline import ids
from pipeline.adapters.falkor import FalkorGraph, FalkorWriter
from pipeline.errors import LeaseLost
from pipeline.models import Document
from pipeline.models.judging import EXACT, pair_of
from pipeline.ports.merges import MergeReason
from pipeline.tables import TableOrder, tell_table
from scheduler.applying import Applying
from scheduler.leases import Access, Leases
from scheduler.seals import SealedPlan, spell_told

NUMBER = 7


class Plant:
    """A graph with what applies plans to it."""

    def __init__(self, kb: Graph) -> None:
        self.kb = kb
        leases = Leases(fakeredis.FakeRedis(decode_responses=True, version=(7, 4)), ttl_ms=30_000)
        self.leases = leases
        self.applying = Applying(kb.store.name, kb.curator, kb.writer, kb.merges, leases, proceed)

    def plan(self, *merges: tuple[str, str]) -> SealedPlan:
        """Seal merges as of now."""
        told = {one.id: spell_told(one) for one in self.kb.merges.named([one for pair in merges for one in pair])}
        why = MergeReason("judged", "name", NUMBER, "rules")
        return SealedPlan(tuple((*pair, why) for pair in merges), (), (), told)

    def epoch(self) -> int:
        """Give an epoch that counts in the graph by now."""
        return self.kb.writer.fence()


@pytest.fixture
def plant(graph: FalkorGraph, writer: FalkorWriter, make_document: Make) -> Plant:
    kb = Graph(graph, writer)
    said = ("Ada of Acme, Acme Ltd, Acme Group, Initech, Ely.", NAMES, [("Acme Ltd", "OWNS", "Initech")])
    writer.write([make_document("a", said)], kb.epoch, proceed)
    kb.finalize()
    plant = Plant(kb)
    plant.leases.reseed(graph.name, plant.epoch(), Access.EXCLUSIVE)
    return plant


def list_merges(kb: Graph) -> list[tuple[str, str]]:
    return [(one.into, one.id) for one in kb.merges.merges()]


def test_what_a_person_undoes_while_a_plan_is_applied_is_not_merged_again(plant: Plant) -> None:
    plan = plant.plan((ACME, LTD))
    assert plant.applying.apply(plan).merged == 1
    assert plant.kb.merges.undo(LTD, plant.epoch())
    assert plant.applying.apply(plan).merged == 0
    assert list_merges(plant.kb) == []
    assert not plant.kb.curator.merge(ACME, LTD, plant.epoch())
    assert not plant.kb.curator.merge(LTD, ACME, plant.epoch())


def test_what_is_kept_apart_does_not_meet_in_a_third_one(plant: Plant) -> None:
    kb, plan = plant.kb, plant.plan((GROUP, ACME), (GROUP, LTD), (GROUP, INITECH))
    kb.merge(ACME, LTD)
    assert kb.merges.undo(LTD, plant.epoch())
    plan.told.clear()
    assert plant.applying.apply(plan).merged == 2
    assert list_merges(kb) == sorted([(GROUP, ACME), (GROUP, INITECH)], key=lambda pair: pair[1])


@pytest.mark.parametrize("changed", [ACME, LTD])
@pytest.mark.parametrize("change", ["e.name = 'Zebra'", "e.founded = 1999", "e.aliases = ['Zed']"])
def test_what_has_changed_since_it_was_judged_is_left_two_and_told(plant: Plant, changed: str, change: str) -> None:
    plan = plant.plan((ACME, LTD), (GROUP, INITECH))
    plant.kb.store.query(f"MATCH (e:__Entity__ {{id: $id}}) SET {change}", id=changed)
    applied = plant.applying.apply(plan)
    assert (applied.merged, applied.outdated) == (1, ((ACME, LTD),))
    assert list_merges(plant.kb) == [(GROUP, INITECH)]


def test_what_a_plan_itself_changes_keeps_it_from_nothing_nor_does_a_second_try(plant: Plant) -> None:
    plan = plant.plan((ACME, LTD), (ACME, GROUP), (ACME, INITECH))
    first = SealedPlan(plan.merges[:1], (), (), plan.told)
    assert plant.applying.apply(first).merged == 1
    applied = plant.applying.apply(plan)
    assert (applied.merged, applied.outdated) == (2, ())


def write_row(kb: Graph, key: str) -> str:
    table = tell_table(f"id,name\n{key},John Smith\n", TableOrder("Person", "id", "name"))
    name = f"{key}.csv"
    made = Document(f"file:{name}", name, "c", "s", "f", chunks=table.chunks, extractions=table.extractions)
    kb.writer.write([made], kb.epoch, proceed)
    return ids.keyed_entity_id(key, "Person")


def list_mentioned(kb: Graph, identities: Sequence[str]) -> dict[str, set[str]]:
    cypher = "UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[m:MENTIONED_IN]->() RETURN id, m.as_id"
    found: dict[str, set[str]] = {}
    for identity, as_id in kb.store.ro_query(cypher, list(identities)):
        found.setdefault(identity, set()).add(as_id)
    return found


def test_a_name_that_a_second_row_bears_is_neithers_any_more(plant: Plant, make_document: Make) -> None:
    kb, john = plant.kb, ids.entity_id("John Smith", "Person")
    kb.epoch = plant.epoch()
    first = write_row(kb, "1")
    kb.writer.write([make_document("b", ("John Smith.", [("John Smith", "Person")], []))], kb.epoch, proceed)
    kb.curator.settle()
    assert kb.curator.merge(first, john, kb.epoch, MergeReason("exact", "name", NUMBER, EXACT))
    assert plant.applying.separate([first, ADA]) == 0
    kb.epoch = plant.epoch()
    second = write_row(kb, "2")
    assert plant.applying.separate([second]) == 1
    kb.epoch = plant.epoch()
    kb.writer.write([make_document("c", ("John Smith left.", [("John Smith", "Person")], []))], kb.epoch, proceed)
    kb.finalize()
    assert list_mentioned(kb, [first, second, john]) == {first: {first}, second: {second}, john: {john}}
    assert kb.merges.kept_apart() == set(), "nobody has said so for good"


# Undo and leases


def test_an_undo_whose_lease_is_lost_midway_is_either_told_or_done(plant: Plant) -> None:
    kb = plant.kb
    kb.merge(ACME, LTD)
    kb.finalize()
    calls: list[int] = []

    def lose(at: int) -> None:
        calls.append(len(kb.living()))
        if len(calls) == at:
            raise LeaseLost("gone")

    with pytest.raises(LeaseLost):
        kb.merges.undo(LTD, plant.epoch(), lambda: lose(1))
    assert (list_merges(kb), kb.merges.kept_apart()) == ([(ACME, LTD)], set()), (
        "the two are one, and the verdict theirs"
    )
    assert kb.merges.verdicts([pair_of(ACME, LTD)])
    calls.clear()
    assert kb.merges.undo(LTD, plant.epoch(), lambda: lose(3))
    assert calls == [5, 5, 6]
    assert (list_merges(kb), kb.merges.kept_apart()) == ([], {pair_of(ACME, LTD)})
    kb.finalize()
    assert kb.faults() == []


# What others make again


def test_a_merged_id_that_another_writer_makes_again_goes_where_it_went_and_closes_no_circle(plant: Plant) -> None:
    kb = plant.kb
    kb.merge(ACME, LTD)
    kb.store.query("CREATE (:__Entity__:Organization {id: $id, name: 'Acme Ltd', type: 'Organization'})", id=LTD)
    kb.curator.settle()
    assert not kb.curator.merge(LTD, INITECH, plant.epoch())
    assert not kb.curator.merge(GROUP, LTD, plant.epoch())
    assert kb.curator.merge(LTD, ACME, plant.epoch())
    assert list_merges(kb) == [(ACME, LTD)]
    kb.finalize()
    assert kb.faults() == []
    assert kb.merges.undo(LTD, plant.epoch())
    kb.finalize()
    assert kb.faults() == []
