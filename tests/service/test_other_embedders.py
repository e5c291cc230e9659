"""A graph whose vectors are of another embedder takes nothing in, and one whose index cannot be built says so."""

import time
from pathlib import Path

import pytest

from pipeline.adapters.falkor import FalkorCurator, FalkorWriter, index_states
from pipeline.models import GraphRecord
from pipeline.ontology import DEFAULT_ONTOLOGY
from workers.app import create_app
from workers.client import Client
from workers.graphs import open_graph
from workers.parts import build_embedder
from workers.submitting import WorkersDiffer


@pytest.fixture
def folder(tmp_path):
    for i in range(3):
        (tmp_path / f"story{i}.txt").write_text(f"Ada Quill met Bram Oster in Room {i}.", "utf-8")
    return tmp_path


@pytest.fixture
def graph(system, graph_name):
    """The graph, made ready but empty."""
    opened = open_graph(system.settings, graph_name)
    FalkorWriter(opened).prepare(DEFAULT_ONTOLOGY)
    yield opened
    opened.close()


@pytest.fixture
def own(system, monkeypatch):
    """What the workers record."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    embedder = build_embedder(system.settings)
    return embedder.model_id, embedder.dimension


@pytest.mark.parametrize("differs", ["model", "width"])
def test_files_for_a_graph_of_another_embedder_fail_and_nothing_is_written(
    differs, system, folder, graph, own, graph_name
):
    model, width = own
    other = GraphRecord("other:model", width, "") if differs == "model" else GraphRecord(model, width + 1, "")
    FalkorCurator(graph).record_embedder(other)
    run = system.ingest(folder, graph_name).run
    assert set(system.outcomes(run).values()) == {("failed", "embedder_mismatch")}
    for report in system.client.files(run):
        assert f"embedded with {other.model_id} ({other.dimension} dimensions)" in report.message
    assert graph.ro_query("MATCH (n) WHERE n:Document OR n:Chunk OR n:__Entity__ OR n:__Pending__ RETURN n") == []
    assert FalkorCurator(graph).record_embedder(other) == other, "the record is left as it was"


def test_a_run_for_workers_of_another_embedder_is_refused_before_it_is_made(system, folder, graph_name):
    embed = system.settings.embed.model_copy(update={"embedder": "bundled:minilm-int8"})
    asking = Client(system.settings.model_copy(update={"embed": embed}), create_app(system.settings))
    with pytest.raises(WorkersDiffer, match=f"embeds with {system.settings.embed.embedder}, .* bundled:minilm-int8"):
        asking.submit([folder], folder, graph=graph_name)
    assert all(run.graph != graph_name for run in system.client.runs())


def test_an_index_that_cannot_be_built_ends_the_finalize_with_its_reason_and_the_next_one_builds_it(
    system, folder, graph, own, graph_name
):
    graph.query(
        "CREATE VECTOR INDEX FOR (e:__Entity__) ON (e.embedding) "
        f"OPTIONS {{dimension: {own[1] + 1}, similarityFunction: 'cosine'}}"
    )
    status = system.ingest(folder, graph_name)
    assert status.counts["written"] == 3
    assert f"dimension {own[1] + 1}" in status.error
    assert f"dimension {own[1] + 1}" in system.client.finalize_status(graph_name).error
    assert graph.ro_query("MATCH (p:__Pending__) RETURN count(p) > 0") == [[True]], "nothing is taken for done"

    graph.query("DROP VECTOR INDEX FOR (e:__Entity__) ON (e.embedding)")
    number = system.client.finalize(graph_name)
    deadline = time.monotonic() + 60
    while (finalize := system.client.finalize_status(graph_name)).state == "running":
        assert time.monotonic() < deadline
        system.client.tick()
        time.sleep(0.05)
    assert (finalize.number, finalize.error) == (number, "")
    built = {state.label: state.kinds for state in index_states(graph) if state.operational}
    assert built["Chunk"] == built["__Entity__"] == {"RANGE", "VECTOR", "FULLTEXT"}
    assert built["RELATES"] == {"VECTOR"}
    assert graph.ro_query("MATCH (p:__Pending__) RETURN count(p)") == [[0]]
    assert system.client.verify(graph_name).findings == ()
