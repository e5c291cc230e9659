"""What every store of a graph's ontology promises: versions in a row, and one winner where two change it at once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pipeline.adapters.falkor import (
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorOntologies,
    FalkorWriter,
    connect,
)
from pipeline.errors import GraphMissing, OntologyChanged
from pipeline.models import Document
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology
from pipeline.ports import OntologyStore

FIRST, SECOND, THIRD = (
    Ontology(entity_types=tuple(EntityType(label=label) for label in labels))
    for labels in (("Drug",), ("Drug", "Disease"), ("Drug", "Dose"))
)


@pytest.fixture
def store(graph: FalkorGraph) -> OntologyStore:
    return FalkorOntologies(graph)


def test_a_graph_that_does_not_exist_is_made_ready_for_the_first_version(
    store: OntologyStore, graph: FalkorGraph
) -> None:
    with pytest.raises(GraphMissing):
        store.current()
    assert graph.name not in graph.names()
    before = time.time()
    assert store.put(FIRST) == 1
    assert FalkorWriter(graph).fence() == 0
    stored = store.current()
    assert stored is not None
    assert (stored.number, stored.hash) == (1, FIRST.fingerprint)
    assert Ontology.model_validate_json(stored.settings) == FIRST
    assert before - 1 <= stored.at <= time.time() + 1


def test_a_prepared_graph_has_no_ontology_of_its_own_yet(store: OntologyStore, graph: FalkorGraph) -> None:
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    assert store.current() is None
    assert store.versions() == []


def test_versions_follow_each_other(store: OntologyStore) -> None:
    assert store.put(FIRST) == 1
    assert store.put(SECOND, FIRST.fingerprint) == 2
    assert [(one.number, one.hash) for one in store.versions()] == [(2, SECOND.fingerprint), (1, FIRST.fingerprint)]
    current = store.current()
    assert current is not None
    assert current.hash == SECOND.fingerprint


def test_who_follows_another_version_is_refused(store: OntologyStore) -> None:
    store.put(FIRST)
    store.put(SECOND, FIRST.fingerprint)
    for expected in ("", FIRST.fingerprint):
        with pytest.raises(OntologyChanged, match="give the command again"):
            store.put(THIRD, expected)
    assert len(store.versions()) == 2


def test_what_is_the_latest_version_already_stays_that(store: OntologyStore) -> None:
    store.put(FIRST)
    assert store.put(SECOND, FIRST.fingerprint) == 2
    assert store.put(SECOND, FIRST.fingerprint) == 2
    assert store.put(SECOND, SECOND.fingerprint) == 2
    assert len(store.versions()) == 2


@pytest.mark.parametrize("stored", [(), (FIRST,)])
def test_of_many_who_change_it_at_once_one_wins(
    graph: FalkorGraph, graph_server: Any, stored: tuple[Ontology, ...]
) -> None:
    for one in stored:
        FalkorOntologies(graph).put(one)
    expected = stored[0].fingerprint if stored else ""
    graphs = [connect(graph_server.url, graph.name) for _ in range(6)]

    def put(number: int) -> bool:
        own = Ontology(entity_types=(EntityType(label="Drug"), EntityType(label=f"Type {number}")))
        try:
            FalkorOntologies(graphs[number]).put(own, expected)
        except OntologyChanged:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(put, range(6)))
    for own in graphs:
        own.close()
    assert won.count(True) == 1
    assert [one.number for one in FalkorOntologies(graph).versions()] == [2, 1][1 - len(stored) :]


def test_versions_are_no_part_of_what_a_graph_says(
    store: OntologyStore, graph: FalkorGraph, make_document: Callable[..., Document]
) -> None:
    writer, inspector, curator = FalkorWriter(graph), FalkorInspector(graph), FalkorCurator(graph)
    writer.prepare(FIRST)
    writer.write([make_document("a", ("Tea.", [], []))], 1, lambda: None)
    said, counted = inspector.fingerprint(), curator.counts()
    store.put(FIRST)
    store.put(SECOND, FIRST.fingerprint)
    assert (inspector.fingerprint(), curator.counts()) == (said, counted)
    assert list(inspector.faults()) == []
