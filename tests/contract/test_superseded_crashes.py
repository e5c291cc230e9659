"""Whatever stops half-way, and whatever a document is called: what it replaced is kept, what was removed is not."""

import dataclasses

import pytest
from superseding import (
    FOUNDED,
    LEFT,
    NEW,
    OLD,
    QUIET,
    SOLD,
    count_kept,
    each_crash,
    look_up,
    named,
    proceed,
    remove,
    rename,
    statuses,
    update,
)

from pipeline.adapters.falkor import FalkorReviser


@pytest.fixture
def reviser(graph, writer) -> FalkorReviser:
    """One that keeps what it replaces."""
    return FalkorReviser(graph, keep_superseded=True)


@pytest.mark.parametrize("fingerprint", [pytest.param("f1", marks=pytest.mark.slow), "f2"])
def test_a_crash_at_any_query_of_an_update_loses_no_passage(
    fingerprint, graph, writer, reviser, make_document, monkeypatch
):
    old, new = make_document("a", *OLD), make_document("a", *NEW, fingerprint=fingerprint)
    writer.write([old], 1, proceed)
    crashes = 0
    for _ in each_crash(monkeypatch, lambda: update(reviser, new)):
        crashes += 1
        met = look_up(graph, *OLD)
        assert [one.text for one in met] == [text for text, *_ in OLD]
        assert {one.status for one in met[:2]} in ({"current"}, {"superseded"})
        assert met[2].status == "current"
        update(reviser, new)
        assert statuses(graph, *OLD, SOLD) == ["superseded", "superseded", "current", "current"]
        assert {one.version for one in look_up(graph, FOUNDED, LEFT)} == {old.content_hash}
        assert count_kept(graph) == 2
        remove(reviser, old.id)
        assert (statuses(graph, *OLD), count_kept(graph)) == (["gone"] * 3, 0)
        writer.write([old], 1, proceed)
    assert crashes > 10


@pytest.mark.parametrize("ended_by", [pytest.param("clear", marks=pytest.mark.slow), "write"])
def test_a_crash_at_any_query_of_a_removal_leaves_no_text_to_whoever_comes_next(
    ended_by, graph, writer, reviser, make_document, monkeypatch
):
    old, new, other = make_document("a", *OLD), make_document("a", *NEW), make_document("a", SOLD)
    writer.write([old], 1, proceed)
    update(reviser, new)
    gone = 0
    for _ in each_crash(monkeypatch, lambda: remove(reviser, new.id)):
        if writer.stored([new.id]):
            assert statuses(graph, *OLD) == ["superseded", "superseded", "current"]
            continue
        gone += 1
        assert statuses(graph, *OLD, SOLD) == ["gone"] * 4
        if ended_by == "clear":
            reviser.clear([new.id], 1, proceed)
        writer.write([other], 1, proceed)
        assert (statuses(graph, *OLD, SOLD), count_kept(graph)) == (["gone"] * 3 + ["current"], 0)
        remove(reviser, other.id)
        writer.write([old], 1, proceed)
        update(reviser, new)
    assert gone > 3


def test_a_renamed_documents_passages_are_found_under_their_old_ids(graph, writer, reviser, make_document):
    writer.write([make_document("a", FOUNDED, LEFT)], 1, proceed)
    second = make_document("a", LEFT)
    update(reviser, second)
    third = rename(reviser, second, "b")
    (stored,) = graph.ro_query("MATCH (d:Document) RETURN keys(d)")
    assert not {"kept_version", "moved_from", "replaced_at", "writing"} & set(*stored)
    superseded, current = look_up(graph, FOUNDED, LEFT)
    assert (superseded.status, superseded.text, superseded.source) == ("superseded", FOUNDED[0], "a")
    assert (current.status, current.id, current.source) == ("current", named(LEFT, third.id), "b")
    update(reviser, make_document("b", QUIET))
    (superseded,) = look_up(graph, LEFT)
    assert (superseded.status, superseded.text, superseded.source) == ("superseded", LEFT[0], "b")
    remove(reviser, third.id)
    assert (statuses(graph, FOUNDED, LEFT), count_kept(graph)) == (["gone", "gone"], 0)


def test_a_document_that_is_renamed_to_and_fro_is_followed_and_ends_as_superseded(
    graph, writer, reviser, make_document
):
    first = make_document("a", FOUNDED)
    writer.write([first], 1, proceed)
    rename(reviser, rename(reviser, first, "b"), "a")
    assert [one.status for one in (*look_up(graph, FOUNDED), *look_up(graph, FOUNDED, document="file:b"))] == [
        "current", "current",
    ]  # fmt: skip
    update(reviser, make_document("a", QUIET))
    for document in ("file:a", "file:b"):
        assert statuses(graph, FOUNDED, document=document) == ["superseded"]
    graph.query("MATCH (p:__Past__) SET p.moved_to = CASE p.id WHEN $a THEN $b ELSE $a END",
                a=named(FOUNDED), b=named(FOUNDED, "file:b"))  # fmt: skip
    assert statuses(graph, FOUNDED) == ["gone"], "a circle ends"


def test_whoever_takes_a_freed_name_keeps_passages_of_its_own(graph, writer, reviser, make_document):
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    second = make_document("a", LEFT)
    update(reviser, second)
    to = dataclasses.replace(second, id="file:b", path="b")
    reviser.rename("file:a", to, 1)
    writer.write([make_document("a", QUIET)], 1, proceed)
    update(reviser, make_document("a", SOLD))
    reviser.clear([to.id], 1, proceed)
    owners = dict(graph.ro_query("MATCH (p:__Past__) RETURN p.id, p.document_id"))
    assert owners == {named(FOUNDED): "file:b", named(LEFT): "file:b", named(QUIET): "file:a"}
    remove(reviser, "file:a")
    assert statuses(graph, FOUNDED, LEFT, QUIET, SOLD) == ["superseded", "current", "gone", "gone"]


def test_a_crash_at_any_query_of_a_renaming_loses_no_passage(graph, writer, reviser, make_document, monkeypatch):
    second = make_document("a", *NEW)

    def make() -> None:
        writer.write([make_document("a", *OLD)], 1, proceed)
        update(reviser, second)

    make()
    crashes = 0
    for _ in each_crash(monkeypatch, lambda: rename(reviser, second, "b")):
        crashes += 1
        assert statuses(graph, *NEW) == ["current", "current"]
        rename(reviser, second, "b")
        assert statuses(graph, *OLD, SOLD) == ["superseded", "superseded", "current", "current"]
        remove(reviser, "file:b")
        assert (statuses(graph, *OLD, SOLD), count_kept(graph)) == (["gone"] * 4, 0)
        make()
    assert crashes > 4


def test_a_document_that_is_removed_while_its_renaming_is_not_cleared_leaves_nothing(
    graph, writer, reviser, make_document
):
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    second = make_document("a", LEFT)
    update(reviser, second)
    reviser.rename("file:a", dataclasses.replace(second, id="file:b", path="b"), 1)
    assert reviser.retire("file:b", 1)
    assert statuses(graph, FOUNDED, LEFT) == ["gone", "gone"]
    reviser.clear(["file:b"], 1, proceed)
    assert (statuses(graph, FOUNDED, LEFT), count_kept(graph)) == (["gone", "gone"], 0)


def test_a_mark_that_was_left_over_keeps_nothing_of_a_document_that_is_gone(graph, writer, reviser, make_document):
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    assert reviser.retire("file:a", 1)
    graph.query("MATCH (d:Document) SET d.kept_version = 'one', d.replaced_at = 1")
    reviser.clear(["file:a"], 1, proceed)
    assert (statuses(graph, FOUNDED), count_kept(graph)) == (["gone"], 0)
