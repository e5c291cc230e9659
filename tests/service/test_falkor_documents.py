"""Listing the documents of a graph, and removing a graph."""

import dataclasses

import numpy as np
import pytest

from pipeline.adapters.falkor import FalkorCurator, FalkorInspector, FalkorReviser, scan
from pipeline.errors import GraphMissing
from pipeline.models import Pending, PlacedDocument
from pipeline.ontology import DEFAULT_ONTOLOGY

SAID = ("Nothing is said here.", [], [])
FOUNDED = (
    "Ada founded Acme.", [("Ada", "Person"), ("Acme", "Organization")], [("Ada", "FOUNDED", "Acme")]
)  # fmt: skip


def proceed():
    """Stands for leases that hold."""


def test_complete_documents_are_listed_with_their_places_and_no_other_version(graph, writer, make_document):
    files = [dataclasses.replace(make_document(f"{i}.txt", SAID), root="/files") for i in range(3)]
    text = dataclasses.replace(make_document("", SAID), id="note-1")
    writer.write([*files, text], 1, proceed)
    reviser = FalkorReviser(graph)
    newer = dataclasses.replace(make_document("0.txt", ("Something else.", [], [])), root="/files")
    reviser.stage([newer], 1, proceed)
    reviser.retire(files[1].id, 1)
    listed = set(FalkorInspector(graph).documents())
    assert listed == {
        PlacedDocument("file:0.txt", "0.txt", "/files", files[0].source_hash, files[0].fingerprint, ""),
        PlacedDocument("file:2.txt", "2.txt", "/files", files[2].source_hash, files[2].fingerprint, ""),
        PlacedDocument("note-1", "", "", text.source_hash, text.fingerprint, ""),
    }


def test_documents_are_listed_page_by_page(graph, writer, make_document, monkeypatch):
    monkeypatch.setattr(scan, "_NODES", 2)
    writer.write([make_document(f"{i}.txt", SAID) for i in range(7)], 1, proceed)
    assert len({document.id for document in FalkorInspector(graph).documents()}) == 7


def test_a_graph_is_removed_with_its_fence_and_can_be_made_anew(graph, writer, make_document):
    writer.write([make_document("a.txt", SAID)], 5, proceed)
    writer.drop()
    with pytest.raises(GraphMissing):
        writer.fence()
    with pytest.raises(GraphMissing):
        writer.drop()
    with pytest.raises(GraphMissing):
        list(FalkorInspector(graph).documents())
    writer.prepare(DEFAULT_ONTOLOGY)
    writer.write([make_document("a.txt", SAID)], 1, proceed)
    assert [document.id for document in FalkorInspector(graph).documents()] == ["file:a.txt"]


def test_a_writer_whose_graph_is_dropped_under_it_leaves_it_dropped_whatever_step_it_is_at(
    graph, writer, make_document
):
    document = make_document("a.txt", FOUNDED)
    steps = []
    writer.write([document], 1, lambda: steps.append(1))
    for last in range(len(steps)):
        seen = iter(range(len(steps)))
        writer.drop()
        writer.prepare(DEFAULT_ONTOLOGY)
        with pytest.raises(GraphMissing):
            writer.write([document], 1, lambda last=last, seen=seen: graph.delete() if next(seen) == last else None)
        assert graph.name not in graph.names(), f"step {last}"
        writer.prepare(DEFAULT_ONTOLOGY)
    assert len(steps) > 5


@pytest.mark.parametrize(
    "act",
    [
        lambda graph: FalkorReviser(graph).retire("file:a.txt", 1),
        lambda graph: FalkorReviser(graph).clear(["file:a.txt"], 1, proceed),
        lambda graph: FalkorCurator(graph).clear_pending([Pending("a", "m", 0)], 1),
        lambda graph: FalkorCurator(graph).set_vectors("entity", [("a", "h", np.ones(2, np.float32))], 1),
        lambda graph: FalkorCurator(graph).merge("a__person", "b__person", 1),
        lambda graph: FalkorCurator(graph).derive_entities(["a__person"], 1),
    ],
)
def test_no_change_makes_a_graph_that_is_not_there(graph, writer, act):
    writer.drop()
    with pytest.raises(GraphMissing):
        act(graph)
    assert graph.name not in graph.names()


def test_a_graph_remembers_what_its_documents_are_made_with(graph, writer):
    odd = '{"ontology": "\'quotes\' \\\\ `ticks` $x {y} \\n", "size": 1}'
    for _ in range(2):
        writer.remember_recipe("one", odd)
    writer.remember_recipe("two", "{}")
    assert FalkorInspector(graph).recipes() == {"one": odd, "two": "{}"}
    assert graph.ro_query("MATCH (r:__Recipe__) RETURN count(r)") == [[2]]
