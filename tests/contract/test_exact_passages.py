"""Passages by their ids: with their place, and with what stands around them."""

import dataclasses

import pytest
from superseding import FOUNDED, LEFT, look_up, named, proceed, remove, rename, update

from pipeline.adapters.falkor import FalkorReviser
from pipeline.adapters.falkor.read_exact import read_around, read_exact
from pipeline.errors import GraphMissing
from pipeline.ids import VERSION_SUFFIX


@pytest.fixture
def reviser(graph, writer) -> FalkorReviser:
    """One that keeps what it replaces."""
    return FalkorReviser(graph, keep_superseded=True)


def said(number: int):
    return (f"Passage {number}.", [], [])


def with_headings(document, *headings):
    """Let passages stand under headings, on pages counted from 1."""
    placed = [
        dataclasses.replace(chunk, heading_path=heading, page_first=chunk.index + 1, page_last=chunk.index + 1)
        for chunk, heading in zip(document.chunks, headings, strict=True)
    ]
    return dataclasses.replace(document, chunks=tuple(placed))


def around(graph, one, reach: int, document: str = "file:a") -> list[int]:
    return [passage.index for passage in read_around(graph, named(one, document), reach)]


def test_passages_are_given_in_the_order_asked_for_each_as_often(graph, writer, make_document):
    writer.write([make_document("a", FOUNDED, LEFT)], 1, proceed)
    wanted = [named(LEFT), "nobody", named(FOUNDED), named(LEFT)]
    found = read_exact(graph, wanted)
    assert [one.id for one in found] == wanted
    assert [one.text for one in found] == [LEFT[0], "", FOUNDED[0], LEFT[0]]
    assert read_exact(graph, []) == []


def test_headings_and_pages_are_told_of_current_and_of_superseded_passages(graph, writer, reviser, make_document):
    document = with_headings(make_document("a", FOUNDED, LEFT), ("One", "Deep"), ())
    writer.write([document], 1, proceed)
    (before,) = look_up(graph, FOUNDED)
    assert (before.heading, before.page) == ("One > Deep", 1)
    update(reviser, with_headings(make_document("a", LEFT), ("Two",)))
    (after, moved) = look_up(graph, FOUNDED, LEFT)
    assert (after.heading, after.page, after.status) == ("One > Deep", 1, "superseded")
    assert (moved.heading, moved.page, moved.status) == ("Two", 1, "current")
    # Superseded once more, from another place: nothing of the former one stays.
    update(reviser, make_document("a", FOUNDED))
    update(reviser, make_document("a", LEFT))
    (again,) = look_up(graph, FOUNDED)
    assert (again.heading, again.page, again.index) == ("", None, 0)


def test_a_half_written_document_and_a_graph_that_is_not_there_have_no_passages(graph, writer, make_document):
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    graph.query("MATCH (d:Document) SET d.content_hash = NULL")
    assert read_exact(graph, [named(FOUNDED)])[0].status == "gone"
    assert read_around(graph, named(FOUNDED), 2) == []
    graph.delete()
    with pytest.raises(GraphMissing):
        read_exact(graph, ["x"])


def test_around_a_passage_are_its_neighbours_in_order(graph, writer, make_document):
    writer.write([make_document("a", *map(said, range(9))), make_document("b", *map(said, range(9)))], 1, proceed)
    assert around(graph, said(4), 2) == [2, 3, 4, 5, 6]
    assert around(graph, said(0), 1) == [0, 1]
    assert around(graph, said(8), 5, "file:b") == [3, 4, 5, 6, 7, 8]
    assert {one.document for one in read_around(graph, named(said(8), "file:b"), 5)} == {"file:b"}
    assert read_around(graph, named(said(4)), 0) == read_exact(graph, [named(said(4))])
    assert around(graph, said(99), 2) == []


def test_around_a_passage_are_all_under_its_heading_as_far_as_there_is_room(graph, writer, make_document):
    headings = [("One",) if number % 3 == 0 else ("Two",) for number in range(200)]
    writer.write([with_headings(make_document("a", *map(said, range(200))), *headings)], 1, proceed)
    found = around(graph, said(99), 1)
    assert found == sorted([98, 100, *range(27, 171, 3)])
    assert len(found) == 50


def test_passages_under_no_heading_have_only_neighbours_around_them(graph, writer, make_document):
    document = make_document("a", *map(said, range(9)))
    writer.write([with_headings(document, *[("One",), *[()] * 7, ("One",)])], 1, proceed)
    assert around(graph, said(4), 1) == [3, 4, 5]
    assert around(graph, said(0), 1) == [0, 1, 8]


def test_around_a_passage_stands_what_stands_there_now_whatever_happens_to_its_document(
    graph, writer, reviser, make_document
):
    writer.write([make_document("a", said(0), said(1), said(2))], 1, proceed)
    new = make_document("a", said(2), said(1), said(3), fingerprint="f2")
    reviser.stage([new], 1, proceed)
    assert [one.text for one in read_around(graph, named(said(1)), 1)] == [said(n)[0] for n in range(3)]
    reviser.swap(new, 1)
    window = read_around(graph, named(said(1)), 1)
    assert [one.id for one in window] == [named(said(n)) for n in (2, 1, 3)]
    assert read_around(graph, named(said(1)) + VERSION_SUFFIX, 1) == window
    reviser.clear([new.id], 1, proceed)
    assert read_around(graph, named(said(1)), 1) == window
    assert read_around(graph, named(said(0)), 1) == [], "it is superseded"
    to = rename(reviser, new, "b")
    assert [one.id for one in read_around(graph, named(said(1)), 1)] == [named(said(n), to.id) for n in (2, 1, 3)]
    remove(reviser, to.id)
    assert read_around(graph, named(said(1)), 1) == []
