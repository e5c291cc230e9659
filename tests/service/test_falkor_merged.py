"""Where merged ids are followed to, whether merges are few or many."""

import pytest

from pipeline.adapters.falkor import merged

CHAIN = "UNWIND [['a', 'b'], ['b', 'c'], ['x', 'c'], ['p', 'q']] AS m CREATE (:__Merged__ {id: m[0], into: m[1]})"


@pytest.fixture(params=[1, 4, 500])
def graph_of_merges(graph, writer, monkeypatch, request):
    """A graph with four merges, which are many, just as many as are read at once, and few."""
    monkeypatch.setattr(merged, "_FEW", request.param)
    monkeypatch.setattr(merged, "_MANY", 3)
    graph.query(CHAIN)
    return graph


def test_a_merged_id_is_followed_to_the_end(graph_of_merges):
    found = merged.resolve_merged(graph_of_merges, ["a", "b", "c", "p", "alone"])
    assert found == {"a": "c", "b": "c", "p": "q"}
    assert merged.resolve_merged(graph_of_merges, ["a", "q"]) == {"a": "c"}


def test_an_entity_is_all_that_was_merged_into_it(graph_of_merges):
    found = merged.merged_into(graph_of_merges, ["c", "b", "q", "alone"])
    assert found == {"c": {"a", "b", "c", "x"}, "b": {"a", "b"}, "q": {"p", "q"}, "alone": {"alone"}}


def test_nothing_is_asked_about_no_ids(graph_of_merges, monkeypatch):
    monkeypatch.setattr(graph_of_merges, "ro_query", lambda *_, **__: pytest.fail("the graph was asked"))
    assert merged.merged_into(graph_of_merges, []) == {}
    assert merged.resolve_merged(graph_of_merges, []) == {}
