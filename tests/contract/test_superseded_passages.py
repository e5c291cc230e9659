"""What was cited is found again for a while: passages that an update replaced are kept, those of a removed file not."""

import dataclasses
import time

import pytest
from superseding import (
    FOUNDED,
    LEFT,
    NEW,
    OLD,
    QUIET,
    SOLD,
    count_kept,
    look_up,
    named,
    proceed,
    remove,
    rename,
    statuses,
    update,
)

from pipeline import ids
from pipeline.adapters.falkor import FalkorCurator, FalkorGraph, FalkorInspector, FalkorReviser, FalkorWriter, schema
from pipeline.adapters.falkor.read_exact import read_exact
from pipeline.errors import LeaseLost
from pipeline.models import ExactPassage
from pipeline.ontology import DEFAULT_ONTOLOGY


@pytest.fixture
def reviser(graph, writer) -> FalkorReviser:
    """One that keeps what it replaces."""
    return FalkorReviser(graph, keep_superseded=True)


def test_a_replaced_passage_is_found_with_its_version_its_place_and_the_time(graph, writer, reviser, make_document):
    old, new = make_document("a", FOUNDED, LEFT), make_document("a", LEFT, QUIET)
    writer.write([old], 1, proceed)
    began = int(time.time() * 1000)
    update(reviser, new)
    superseded, kept, added, unknown = look_up(graph, FOUNDED, LEFT, QUIET, SOLD)
    assert began <= superseded.replaced_at <= time.time() * 1000
    assert dataclasses.replace(superseded, replaced_at=0) == ExactPassage(
        named(FOUNDED), "superseded", FOUNDED[0], "a", None, 0, len(FOUNDED[0]), "", "file:a", old.content_hash, 0
    )
    assert (kept.status, kept.start, kept.index, kept.version) == ("current", 0, 0, new.content_hash)
    assert (added.status, added.text, added.index) == ("current", QUIET[0], 1)
    assert unknown == ExactPassage(named(SOLD), "gone")


def test_nothing_is_kept_where_that_is_not_wanted(graph, writer, make_document):
    reviser = FalkorReviser(graph)
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    reviser.stage([make_document("a", LEFT)], 1, proceed)
    reviser.swap(make_document("a", LEFT), 1)
    assert statuses(graph, FOUNDED, LEFT) == ["gone", "current"]
    reviser.clear(["file:a"], 1, proceed)
    rename(reviser, make_document("a", LEFT), "b")
    assert (statuses(graph, FOUNDED, LEFT), count_kept(graph)) == (["gone", "gone"], 0)


@pytest.mark.parametrize("fingerprint", ["f1", "f2"])
def test_a_replaced_passage_is_kept_from_the_swap_on_before_it_is_cleared(
    fingerprint, graph, writer, reviser, make_document
):
    writer.write([make_document("a", FOUNDED, QUIET)], 1, proceed)
    new = make_document("a", LEFT, QUIET, fingerprint=fingerprint)
    reviser.stage([new], 1, proceed)
    assert statuses(graph, FOUNDED, QUIET, LEFT) == ["current", "current", "gone"]
    reviser.swap(new, 1)
    window = look_up(graph, FOUNDED, QUIET, LEFT)
    assert [one.status for one in window] == ["superseded", "current", "current"]
    assert read_exact(graph, [named(LEFT) + ids.VERSION_SUFFIX]) == [window[2]], "as it was cited meanwhile"
    reviser.clear([new.id], 1, proceed)
    assert look_up(graph, FOUNDED, QUIET, LEFT) == window


def test_with_other_settings_a_passage_of_the_same_text_is_current_and_kept_once(graph, writer, reviser, make_document):
    writer.write([make_document("a", FOUNDED, LEFT)], 1, proceed)
    update(reviser, make_document("a", FOUNDED, fingerprint="f2"))
    assert statuses(graph, FOUNDED, LEFT) == ["current", "superseded"]
    assert count_kept(graph) == 1


def test_a_passage_that_comes_back_is_current_again_and_superseded_anew(graph, writer, reviser, make_document):
    first, second = make_document("a", QUIET, FOUNDED), make_document("a", LEFT)
    writer.write([first], 1, proceed)
    update(reviser, second)
    (before,) = look_up(graph, FOUNDED)
    third = make_document("a", FOUNDED)
    update(reviser, third)
    assert statuses(graph, FOUNDED, LEFT, QUIET) == ["current", "superseded", "superseded"]
    update(reviser, second)
    (again,) = look_up(graph, FOUNDED)
    assert (again.version, again.start) == (third.content_hash, 0)
    assert (before.version, before.start) == (first.content_hash, len(QUIET[0]) + 1)
    assert again.replaced_at >= before.replaced_at


def test_nothing_is_kept_of_a_removed_document_from_the_moment_it_is_gone(graph, writer, reviser, make_document):
    other = make_document("b", FOUNDED)
    writer.write([make_document("a", FOUNDED), other], 1, proceed)
    update(reviser, make_document("a", LEFT))
    update(reviser, make_document("b", QUIET))
    reviser.retire("file:a", 1)
    assert statuses(graph, FOUNDED, LEFT) == ["gone", "gone"]
    reviser.clear(["file:a"], 1, proceed)
    assert statuses(graph, FOUNDED, LEFT) == ["gone", "gone"]
    assert statuses(graph, FOUNDED, document="file:b") == ["superseded"]
    assert count_kept(graph) == 1


def test_what_is_kept_too_long_is_forgotten_page_by_page(graph, writer, reviser, make_document):
    curator = FalkorCurator(graph)
    many = [(f"Passage {number}.", [], []) for number in range(1_100)]
    writer.write([make_document("a", *many, FOUNDED)], 1, proceed)
    update(reviser, make_document("a", QUIET))
    assert curator.forget_superseded(1, 1) == 0
    graph.query("MATCH (p:__Past__) WHERE p.id <> $id SET p.replaced_at = p.replaced_at - 24 * 3600 * 1000",
                id=named(FOUNDED))  # fmt: skip
    assert curator.forget_superseded(2, 1) == 0
    assert [curator.forget_superseded(1, 1) for _ in range(4)] == [500, 500, 100, 0]
    assert statuses(graph, many[0], many[-1], FOUNDED) == ["gone", "gone", "superseded"]
    assert [curator.forget_superseded(0, 1) for _ in range(2)] == [1, 0]
    assert (statuses(graph, FOUNDED), count_kept(graph)) == (["gone"], 0)


def test_what_is_kept_too_long_is_found_by_an_index(graph, writer):
    plan = graph._client.select_graph(graph.name).explain("MATCH (p:__Past__) WHERE p.replaced_at <= 1 RETURN p.id")
    assert "Node By Index Scan" in str(plan)


def test_keeping_and_forgetting_are_behind_the_fence(graph, writer, reviser, make_document):
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    update(reviser, make_document("a", LEFT))
    reviser.stage([make_document("a", QUIET)], 1, proceed)
    reviser.swap(make_document("a", QUIET), 1)
    writer.raise_fence(5, exclusive=True)
    for late in (lambda: reviser.clear(["file:a"], 1, proceed), lambda: FalkorCurator(graph).forget_superseded(0, 1)):
        with pytest.raises(LeaseLost):
            late()
    assert count_kept(graph) == 1


def test_what_is_kept_counts_in_no_comparison_and_is_no_fault(graph, graph_name, graph_server, make_document):
    told = []
    for keep in (False, True):
        graph.query("RETURN 1")
        graph.delete()
        FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
        reviser = FalkorReviser(graph, keep_superseded=keep)
        FalkorWriter(graph).write([make_document("a", *OLD)], 1, proceed)
        update(reviser, make_document("a", *NEW))
        inspector = FalkorInspector(graph)
        assert count_kept(graph) == (2 if keep else 0)
        told.append((inspector.fingerprint(), FalkorCurator(graph).counts(), list(inspector.faults())))
    assert told[0] == told[1]


def test_a_graph_of_an_older_release_is_read_and_keeps_once_it_is_prepared_anew(graph, make_document, monkeypatch):
    older = tuple(row for row in schema._RANGE_INDEXES if row[0] != "__Past__")
    monkeypatch.setattr(schema, "_RANGE_INDEXES", older)
    words = "document_id: '', kept_version: '', moved_from: '', replaced_at: 0"
    assert words in schema._SEED
    monkeypatch.setattr(schema, "_SEED", schema._SEED.replace(f",\n                     {words}", ""))
    writer = FalkorWriter(graph)
    assert "kept_version" not in schema._SEED
    writer.prepare(DEFAULT_ONTOLOGY)
    monkeypatch.undo()
    assert ["__Past__"] not in graph.ro_query("CALL db.labels()")
    writer.write([make_document("a", FOUNDED), make_document("b", QUIET)], 1, proceed)
    assert statuses(graph, FOUNDED, LEFT) == ["current", "gone"]
    assert FalkorCurator(graph).forget_superseded(0, 1) == 0
    remove(FalkorReviser(graph, keep_superseded=True), "file:b")
    writer.prepare(DEFAULT_ONTOLOGY)
    update(FalkorReviser(graph, keep_superseded=True), make_document("a", LEFT))
    assert statuses(graph, FOUNDED, LEFT) == ["superseded", "current"]


def test_keeping_costs_one_query_more_a_page(graph, writer, make_document, monkeypatch):
    writer.write([make_document("a", *[(f"Passage {n}.", [], []) for n in range(1_200)])], 1, proceed)
    asked, original = [], FalkorGraph._run
    monkeypatch.setattr(
        FalkorGraph, "_run", lambda self, *args, **more: asked.append(1) or original(self, *args, **more)
    )
    costs = []
    for turn, keep in enumerate((False, True)):
        reviser = FalkorReviser(graph, keep_superseded=keep)
        new = make_document("a", *[(f"Passage {n} of turn {turn}.", [], []) for n in range(1_200)])
        reviser.stage([new], 1, proceed)
        reviser.swap(new, 1)
        asked.clear()
        reviser.clear([new.id], 1, proceed)
        costs.append(len(asked))
    assert costs[1] - costs[0] == 3
