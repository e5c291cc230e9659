"""Which passages reach the extractor: those that it has not seen, through real workers, and none that need not."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from scheduler.stages import run_stage
from workers.app import create_app
from workers.client import Client
from workers.resources import build_resources

EXTRACTOR = "counting_models:extract"
HERE = Path(__file__).parent
MENTIONS = "MATCH (e:__Entity__)-[m:MENTIONED_IN]->(c:Chunk) RETURN c.id, e.id, m.spans ORDER BY c.id, e.id"
CHUNKS = "MATCH (d:Document)-[:PART_OF]->(c:Chunk) WHERE d.content_hash <> '' RETURN c.id, c.text ORDER BY c.index"


@pytest.fixture
def file(tmp_path, graph_name):
    """A file of sections, each of which is a passage; no other test has the like."""

    def write(*sections, name="story.md"):
        path = tmp_path / name
        path.write_text("".join(f"# Part {graph_name}\n\n{text}\n\n" for text in sections), "utf-8")
        return path

    return write


@pytest.fixture
def asked(system):
    """Tell which passages the extractor has been given since this was last asked."""
    log = system.settings.data_dir / "asked.jsonl"
    log.touch()
    seen = len(log.read_text("utf-8").splitlines())

    def new():
        nonlocal seen
        texts = [json.loads(line).split("\n\n")[-1] for line in log.read_text("utf-8").splitlines()[seen:]]
        seen += len(texts)
        return sorted(texts)

    return new


@pytest.fixture
def ingest(system, file, tmp_path, graph_name):
    """Ingest the folder; gives the outcome of the file."""

    def run(graph=graph_name):
        return system.outcomes(system.ingest(tmp_path, graph).run)["story.md"]

    return run


ONE, TWO = "Ada Quill founded Northlight Press.", "Bram Oster met Cass Verity."
THREE, OTHER = "Dora Finch sold the Lighthouse.", "Esme Venn left Port Ember."


def test_of_an_updated_document_only_the_changed_passages_are_extracted(system, file, asked, ingest, graph_name):
    file(ONE, TWO, THREE)
    file(TWO, ONE, name="beside.md")
    ingest()
    assert asked() == sorted([ONE, TWO, THREE])
    chunks, mentions = (system.rows(graph_name, query) for query in (CHUNKS, MENTIONS))
    file(ONE, OTHER, THREE, OTHER)
    assert ingest() == ("updated", "ok")
    assert asked() == [OTHER]
    after = system.rows(graph_name, CHUNKS)
    gone = [one for one in chunks if one not in after]
    assert [text.split("\n\n")[-1] for _, text in gone] == [TWO], "and the other document's passages stay"
    assert sorted(text.split("\n\n")[-1] for _, text in after) == sorted([ONE, OTHER, THREE, OTHER, ONE, TWO])
    kept = [row for row in mentions if row[0] != gone[0][0]]
    assert kept == [row for row in system.rows(graph_name, MENTIONS) if row[0] in {name for name, *_ in kept}]
    assert len(kept) >= 6
    assert system.client.verify(graph_name).findings == ()


def test_equal_passages_are_extracted_once_and_each_has_its_mentions(system, file, asked, ingest, graph_name):
    file(ONE, TWO, ONE, ONE)
    assert ingest() == ("written", "ok")
    assert asked() == sorted([ONE, TWO])
    equal = [name for name, text in system.rows(graph_name, CHUNKS) if ONE in text]
    assert len(set(equal)) == 3
    said = {name: [row[1:] for row in system.rows(graph_name, MENTIONS) if row[0] == name] for name in equal}
    assert len(said[equal[0]]) >= 2
    assert said[equal[0]] == said[equal[1]] == said[equal[2]]
    facts = system.rows(graph_name, "MATCH ()-[x:RELATES]->() RETURN x.source_chunk_ids")
    assert any(set(found) >= set(equal) for (found,) in facts)


def test_the_same_content_any_number_of_times_is_one_set_of_passages_and_one_extraction(
    system, file, asked, ingest, tmp_path, graph_name
):
    path = file(ONE, TWO)
    assert ingest() == ("written", "ok")
    once, chunks = system.client.fingerprint(graph_name), system.rows(graph_name, CHUNKS)
    assert asked() == sorted([ONE, TWO])
    for _ in range(3):
        path.write_bytes(path.read_bytes())  # a newer file of the same bytes
        assert ingest() == ("unchanged", "ok")
    clients = [Client(system.settings, create_app(system.settings)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda client: client.submit([tmp_path], tmp_path, graph=graph_name), clients))
    assert [system.finish(run).counts["unchanged"] for run in runs] == [1, 1]
    assert system.client.fingerprint(graph_name) == once
    assert system.rows(graph_name, CHUNKS) == chunks
    assert ingest(f"{graph_name}-other") == ("written", "ok")
    assert asked() == []


def test_a_document_of_which_a_passage_failed_is_not_stored_and_is_tried_again(system, file, asked, ingest, graph_name):
    failing = system.settings.data_dir / "failing"
    file(ONE, TWO)
    failing.write_text(TWO, "utf-8")
    try:
        for _ in range(2):
            assert ingest() == ("failed", "internal_error")
            assert TWO in asked(), "a failure is not taken for an answer"
            assert system.rows(graph_name, "MATCH (n) WHERE n:Document OR n:Chunk OR n:__Entity__ RETURN n.id") == []
    finally:
        failing.unlink()
    assert ingest() == ("written", "ok")
    assert TWO in asked()
    assert len(system.rows(graph_name, CHUNKS)) == 2
    assert ingest() == ("unchanged", "ok")


def test_a_new_version_of_which_a_passage_failed_leaves_the_old_one_and_is_tried_again(
    system, file, asked, ingest, graph_name
):
    failing = system.settings.data_dir / "failing"
    file(ONE, TWO)
    ingest()
    before = system.client.fingerprint(graph_name)
    file(ONE, THREE)
    failing.write_text(THREE, "utf-8")
    try:
        assert ingest() == ("failed", "internal_error")
    finally:
        failing.unlink()
    assert system.client.fingerprint(graph_name) == before
    asked()
    assert ingest() == ("updated", "ok")
    assert asked() == [THREE]


def test_while_the_graph_cannot_be_reached_files_wait_and_nothing_is_extracted(
    system, file, asked, tmp_path, graph_name, monkeypatch
):
    file(ONE, TWO)
    monkeypatch.syspath_prepend(HERE)
    away = system.settings.model_copy(update={"falkordb_url": SecretStr("redis://127.0.0.1:1")})
    resources = build_resources(away)
    # Before the files of runs that other tests have left.
    run = system.client.submit([tmp_path], tmp_path, graph=graph_name, finalize="never", priority=9)
    batch = resources.ledger.take(window=9, max_files=20, max_bytes=100_000, spread=1)
    assert batch.run == run
    for stage in ("load", "chunk", "extract", "write"):
        assert run_stage(resources.ledger, batch, stage, resources.stages[stage], "w") == 0
    assert system.outcomes(run) == {"story.md": ("waiting", "graph_unavailable")}
    assert asked() == []
    assert system.finish(run).counts["written"] == 1
    assert asked() == sorted([ONE, TWO])
