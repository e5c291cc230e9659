"""Runs carry the settings that their files are made with, and documents keep those of their last ingest."""

import json
import time

import pytest

from pipeline.config import ChunkConfig
from pipeline.ontology import EntityType, Ontology
from scheduler.records import NewFile
from workers.app import create_app
from workers.client import Client
from workers.graphs import open_graph
from workers.submitting import WorkersDiffer

TEXT = " ".join(f"Ada Quill met Bram Oster at the Tidewater Fair of {year}." for year in range(1900, 1940))
TYPES = Ontology(entity_types=(EntityType(label="Concept"),))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "corpus"
    root.mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_text(f"{name}. {TEXT}", "utf-8")
    return root


def client_with(system, **changes):
    settings = system.settings.model_copy(update=changes)
    return Client(settings, create_app(settings))


@pytest.fixture
def other(system):
    """A client that cuts shorter passages than the workers would."""
    return client_with(system, chunk=ChunkConfig(max_tokens=64))


def passages(system, graph, name):
    cypher = f"MATCH (d:Document {{id: '{name}'}})-[:PART_OF]->(c:Chunk) WHERE d.content_hash <> '' RETURN count(c)"
    return system.rows(graph, cypher)[0][0]


def made_with(system, graph):
    return {document.id: document.fingerprint for document in system.client.documents(graph)}


def redo(system, client, graph, *documents, **how):
    """Make documents anew; gives the outcomes of all files."""
    runs = client.reextract(list(documents) or None, graph=graph, **how)
    return {path: state for run in runs for path, (state, _) in system.outcomes(system.finish(run).run).items()}


def wait_until_none_can(system, run):
    """Wait until a worker has found that it cannot make the run's one file."""
    deadline = time.monotonic() + 60
    while system.outcomes(run) != {"a.txt": ("waiting", "recipe_unavailable")}:
        assert time.monotonic() < deadline, system.outcomes(run)
        system.client.tick()
        time.sleep(0.05)


def test_a_run_is_made_with_the_settings_of_who_gave_it_and_not_with_the_workers(system, other, folder, graph_name):
    system.ingest(folder, f"{graph_name}-plain")
    system.finish(other.submit([folder], folder, graph=graph_name))
    short, long = (passages(system, graph, "file:a.txt") for graph in (graph_name, f"{graph_name}-plain"))
    assert short > 2 * long
    assert made_with(system, graph_name) != made_with(system, f"{graph_name}-plain")


def test_a_resumed_run_goes_on_with_the_settings_that_it_was_begun_with(system, other, folder, graph_name):
    run = other.submit([folder], folder, graph=graph_name)
    other.verbs.pause(run, "")
    system.client.resume(run)
    system.finish(run)
    assert len(set(made_with(system, graph_name).values())) == 1
    short = passages(system, graph_name, "file:a.txt")
    system.ingest(folder, f"{graph_name}-plain")
    assert short > 2 * passages(system, f"{graph_name}-plain", "file:a.txt")


def test_documents_that_are_made_anew_keep_the_settings_of_their_last_ingest(system, other, folder, graph_name):
    system.finish(other.submit([folder / "a.txt"], folder, graph=graph_name))
    system.finish(system.client.submit([folder / "b.txt"], folder, graph=graph_name))
    system.finish(other.ingest_text(TEXT, id="note", graph=graph_name))
    before = made_with(system, graph_name)
    for client in (other, system.client):
        assert set(redo(system, client, graph_name).values()) == {"unchanged"}
    assert made_with(system, graph_name) == before

    # Other types, and the passages of before.
    counts = {name: passages(system, graph_name, name) for name in before}
    assert set(redo(system, system.client, graph_name, ontology=TYPES).values()) == {"updated"}
    assert {name: passages(system, graph_name, name) for name in before} == counts
    assert set(redo(system, system.client, graph_name).values()) == {"unchanged"}, "these types are remembered too"

    assert redo(system, other, graph_name, "note", "file:b.txt", present=True) == {
        "note": "updated",
        "b.txt": "updated",
    }
    assert passages(system, graph_name, "file:b.txt") == passages(system, graph_name, "file:a.txt")
    verdict = system.client.verify(graph_name)
    assert (verdict.at_work, verdict.findings) == (False, ())


def test_what_no_release_understands_is_made_with_the_present_settings(system, folder, graph_name):
    system.ingest(folder, graph_name)
    (document, *_) = system.client.documents(graph_name)
    open_graph(system.settings, graph_name).query(
        "MATCH (r:__Recipe__) SET r.settings = $odd", odd=json.dumps({"extractor": "x", "later": 1})
    )
    assert set(redo(system, system.client, graph_name).values()) == {"unchanged"}
    assert made_with(system, graph_name)[document.id] == document.fingerprint


def test_an_extractor_that_the_workers_have_not_is_refused_before_a_run_is_made(system, folder, graph_name):
    asking = client_with(system, extractor="os:system")
    with pytest.raises(WorkersDiffer, match="no extractor 'os:system'"):
        asking.submit([folder], folder, graph=graph_name)
    assert all(run.graph != graph_name for run in system.client.runs())


def test_a_worker_imports_no_code_that_a_run_names(system, folder, graph_name):
    recipe = system.settings.recipe.model_copy(update={"extractor": "os:system"})
    run = system.client.ledger.open_run(
        graph_name, str(folder), finalize="never", options={}, recipe=("forged", recipe.model_dump_json())
    )
    system.client.ledger.append(run, 0, [NewFile("a.txt", 1)])
    system.client.ledger.seal(run)
    wait_until_none_can(system, run)
    (report,) = system.client.files(run)
    assert "no extractor 'os:system'" in report.message
    with pytest.raises(WorkersDiffer):
        system.client.resume(run)
    system.client.verbs.cancel(run)
    system.finish(run)


def test_the_files_of_a_run_that_a_later_release_spelled_wait_and_resume_breaks_nothing(system, folder, graph_name):
    ledger = system.client.ledger
    run = ledger.open_run(graph_name, str(folder), finalize="never", options={}, recipe=("later", '{"later": 1}'))
    ledger.append(run, 0, [NewFile("a.txt", 1)])
    ledger.seal(run)
    system.client.verbs.pause(run, "")
    assert not system.client.resume(run).over
    wait_until_none_can(system, run)
    system.client.verbs.cancel(run)
    system.finish(run)
