"""What a graph must hold before many write to it: made once, by anyone, and waited for."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from pipeline.adapters.falkor import (
    FalkorGraph,
    FalkorOntologies,
    FalkorReviser,
    FalkorWriter,
    build_search_indexes,
    connect,
    index_states,
    prepare_schema,
)
from pipeline.config import ChunkConfig, LoadConfig, RecipeConfig
from pipeline.errors import GraphMissing, GraphRejected, GraphUnavailable
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe

DIMENSION = 8


def proceed() -> None:
    """Stands for a lease that holds."""


def test_all_that_writers_rely_on_exists_and_is_operational(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    states = {state.label: state for state in index_states(graph)}
    for label in ("Document", "Chunk", "__Entity__", "__Pending__", "__Merged__", *DEFAULT_ONTOLOGY.labels):
        assert "id" in states[label].attributes, label
    assert all(state.operational for state in states.values())
    assert "canonical_key" in states["__Entity__"].attributes

    types = {name for (name,) in graph.ro_query("CALL db.relationshipTypes()")}
    assert {"PART_OF", "NEXT_CHUNK", "MENTIONED_IN", "RELATES", "__SUPPORT__"} <= types
    labels = {name for (name,) in graph.ro_query("CALL db.labels()")}
    assert {"Document", "Chunk", "__Entity__", *DEFAULT_ONTOLOGY.labels} <= labels
    assert graph.ro_query("MATCH (n) RETURN labels(n), n.epoch") == [[["__Fence__"], 0]]


def test_many_processes_may_prepare_one_graph_at_once(graph_server: Any, graph_name: str) -> None:
    graphs = [connect(graph_server.url, graph_name) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda one: prepare_schema(one, DEFAULT_ONTOLOGY), graphs):
            pass
    assert graphs[0].ro_query("MATCH (n) RETURN count(n)") == [[1]]
    for graph in graphs:
        graph.close()


def test_a_second_fence_is_refused(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    with pytest.raises(GraphRejected):
        graph.query("CREATE (:__Fence__ {scope: 'graph', epoch: 0})")


def test_another_ontology_adds_its_types(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    prepare_schema(graph, Ontology(entity_types=(EntityType(label="Court Case"), EntityType(label="Gesetz-Übersicht"))))
    assert {"Court Case", "Gesetz-Übersicht", "Person"} <= {state.label for state in index_states(graph)}


def test_search_indexes_are_built_once_with_the_chosen_options(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    for _ in range(2):
        build_search_indexes(graph, DIMENSION, proceed)
    kinds = {state.label: state.kinds for state in index_states(graph)}
    assert kinds["Chunk"] == kinds["__Entity__"] == {"RANGE", "VECTOR", "FULLTEXT"}
    assert kinds["RELATES"] == {"VECTOR"}
    options = dict(graph.ro_query("CALL db.indexes() YIELD label, options RETURN label, options"))
    for label in ("Chunk", "__Entity__", "RELATES"):
        vector = options[label]["embedding"]
        assert vector["dimension"] == DIMENSION
        assert vector["similarityFunction"] == "cosine"
        assert [vector[name] for name in ("M", "efConstruction", "efRuntime")] == [16, 64, 64]


def test_an_index_of_another_dimension_is_refused(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    build_search_indexes(graph, DIMENSION, proceed)
    with pytest.raises(GraphRejected, match="dimension 8"):
        build_search_indexes(graph, DIMENSION + 1, proceed)


def test_building_waits_until_what_is_there_is_indexed(graph: FalkorGraph) -> None:
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    graph.query("UNWIND range(1, 20000) AS i CREATE (:Chunk {id: toString(i), text: 'word number ' + toString(i)})")
    build_search_indexes(graph, DIMENSION, proceed)
    found = graph.ro_query("CALL db.idx.fulltext.queryNodes('Chunk', 'word') YIELD node RETURN count(node)")
    assert found == [[20000]]


def test_the_states_of_a_missing_graph_are_an_error(graph: FalkorGraph) -> None:
    with pytest.raises(GraphMissing):
        index_states(graph)


# Failures


class Parts:
    """Stands for a reader and an extractor, of which only the names count here."""

    fingerprint = "any"


@pytest.fixture
def fill(engine: Any, tmp_path: Any, start_server: Any, stop_server: Any, graph_name: str) -> Any:
    """Give a graph on a server of its own, and what fills that server or makes room again."""
    server, process = start_server(engine.server, tmp_path, "--loadmodule", str(engine.module))
    graph = connect(server.url, graph_name)
    with redis.Redis(host=server.host, port=server.port, password=server.password) as admin:
        yield graph, lambda full: admin.config_set("maxmemory", int(full))
    graph.close()
    stop_server(process)


def test_a_graph_that_cannot_be_made_ready_is_an_error_and_is_made_so_by_the_next_batch(fill: Any) -> None:
    graph, set_full = fill
    checked: list[str] = []
    graphs = Graphs(
        lambda _: FalkorWriter(graph), lambda _: FalkorReviser(graph), lambda _: FalkorOntologies(graph), checked.append
    )
    config = RecipeConfig(extractor="any", ontology=DEFAULT_ONTOLOGY, load=LoadConfig(), chunk=ChunkConfig())
    recipe = Recipe(Parts(), Parts(), config)  # type: ignore[arg-type]
    set_full(True)
    for _ in range(2):
        with pytest.raises(GraphUnavailable):
            graphs.prepare(graph.name, recipe)
    assert checked == []
    set_full(False)
    graphs.prepare(graph.name, recipe)
    assert {"Document", "Chunk", "__Entity__", "Person"} <= {state.label for state in index_states(graph)}
    assert FalkorWriter(graph).fence() == 0
    assert checked == [graph.name]


def test_a_search_index_that_cannot_be_built_is_an_error_and_is_built_the_next_time(fill: Any) -> None:
    graph, set_full = fill
    prepare_schema(graph, DEFAULT_ONTOLOGY)
    set_full(True)
    for _ in range(2):
        with pytest.raises(GraphUnavailable):
            build_search_indexes(graph, DIMENSION, proceed)
    set_full(False)
    build_search_indexes(graph, DIMENSION, proceed)
    kinds = {state.label: state.kinds for state in index_states(graph)}
    assert kinds["Chunk"] == kinds["__Entity__"] == {"RANGE", "VECTOR", "FULLTEXT"}
    assert kinds["RELATES"] == {"VECTOR"}
