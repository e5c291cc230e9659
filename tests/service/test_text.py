"""Text that is no file becomes a document, and follows what is given under its id."""

import json
import shutil
import subprocess
import sys

import pytest

from pipeline.errors import LoadError
from scheduler.errors import DocumentIdInvalid
from workers.app import create_app
from workers.client import Client
from workers.giving import StoreDiffers

FIRST = "Ada Quill founded Northlight Press in Port Ember.\n\nBram Oster met Ada Quill at the Tidewater Fair."
SECOND = "Ada Quill founded Northlight Press in Port Ember.\n\nCass Verity sold the Lighthouse."


def give(system, text, graph, identity="minutes"):
    """Ingest a text and give its run and outcome."""
    run = system.finish(system.client.ingest_text(text, id=identity, graph=graph)).run
    return run, system.outcomes(run)[identity]


def names(system, graph):
    return {name for (name,) in system.rows(graph, "MATCH (e:__Entity__) RETURN e.name")}


def assert_sound(system, graph):
    verdict = system.client.verify(graph)
    assert (verdict.at_work, verdict.findings) == (False, ())


def test_a_text_is_written_and_cited_by_its_id(system, graph_name):
    run, outcome = give(system, f"{FIRST}\0", graph_name, "wiki/Ada Quill")
    assert outcome == ("written", "ok")
    (report,) = system.client.files(run)
    assert (report.relative, report.document) == ("wiki/Ada Quill", "wiki/Ada Quill")
    rows = system.rows(graph_name, "MATCH (d:Document) RETURN d.id, d.path, d.root, d.media_type")
    assert rows == [["wiki/Ada Quill", "wiki/Ada Quill", "", "text/plain"]]
    assert "Bram Oster" in names(system, graph_name)
    found = system.client.retrieve("Who founded Northlight Press?", graph=graph_name)
    assert {one["source"] for one in found["evidence"]} == {"wiki/Ada Quill"}
    assert_sound(system, graph_name)


def test_an_unchanged_text_is_neither_extracted_nor_written_again(system, graph_name):
    give(system, FIRST, graph_name)
    before = system.client.fingerprint(graph_name)
    stamp = "MATCH (d:Document) RETURN d.run_id"
    written_by = system.rows(graph_name, stamp)
    # Nothing of it may be needed: without what was given, chunked and extracted it is known all the same.
    shutil.rmtree(system.settings.artifacts / "objects")
    run, outcome = give(system, FIRST, graph_name)
    assert outcome == ("unchanged", "ok")
    (report,) = system.client.files(run)
    assert set(report.details["times"]) == {"load"}
    kept = [path for path in (system.settings.artifacts / "objects").rglob("*") if path.is_file()]
    assert len(kept) == 1, "what was given, and nothing that a stage made of it"
    assert system.client.fingerprint(graph_name) == before
    assert system.rows(graph_name, stamp) == written_by


def test_another_text_replaces_it_in_place(system, graph_name):
    give(system, FIRST, graph_name)
    assert give(system, SECOND, graph_name)[1] == ("updated", "ok")
    assert "Cass Verity" in names(system, graph_name)
    assert "Bram Oster" not in names(system, graph_name)
    assert_sound(system, graph_name)
    give(system, SECOND, f"{graph_name}-fresh")
    mine, fresh = (system.client.fingerprint(name) for name in (graph_name, f"{graph_name}-fresh"))
    assert mine.kinds == fresh.kinds


def test_an_empty_text_removes_its_document_and_is_refused_where_there_is_none(system, graph_name):
    with pytest.raises(LoadError, match="has no document minutes"):
        system.client.ingest_text(" \n", id="minutes", graph=graph_name)
    give(system, FIRST, graph_name)
    run, outcome = give(system, "\0\u200b", graph_name)
    assert outcome == ("skipped", "empty_document")
    (report,) = system.client.files(run)
    assert report.message == "The text that was given is empty. Its document has left the graph."
    assert system.rows(graph_name, "MATCH (d:Document) RETURN d.id") == []
    assert names(system, graph_name) == set()
    assert_sound(system, graph_name)


def test_text_and_file_of_like_names_are_two_documents(system, tmp_path, graph_name):
    (tmp_path / "minutes").with_suffix(".txt").write_text(SECOND, "utf-8")
    give(system, FIRST, graph_name, "minutes.txt")
    system.ingest(tmp_path, graph_name)
    assert {one for (one,) in system.rows(graph_name, "MATCH (d:Document) RETURN d.id")} == {
        "minutes.txt", "file:minutes.txt",
    }  # fmt: skip
    with pytest.raises(DocumentIdInvalid, match="that of a file's document"):
        system.client.ingest_text("Other.", id="file:minutes.txt", graph=graph_name)
    assert_sound(system, graph_name)


def test_a_text_that_the_workers_store_lacks_fails_with_a_clear_code(system, graph_name, monkeypatch):
    lost = system.settings.artifacts.with_name("lost")
    monkeypatch.setattr("workers.giving._shared_store", lambda *_: _open(lost))
    run, outcome = give(system, "Dora Finch bought Glass.", graph_name)
    assert outcome == ("failed", "missing")
    (report,) = system.client.files(run)
    assert "Give the text once more" in report.message
    monkeypatch.undo()
    assert give(system, "Dora Finch bought Glass.", graph_name)[1] == ("written", "ok")


def test_a_text_is_not_put_where_no_worker_looks(system, tmp_path, graph_name):
    client = Client(system.settings.model_copy(update={"artifacts_dir": tmp_path}), create_app(system.settings))
    with pytest.raises(StoreDiffers, match=r"GRAPHMILL_ARTIFACTS_DIR"):
        client.ingest_text(FIRST, id="minutes", graph=graph_name)
    assert system.client.runs(1) == [] or system.client.runs(1)[0].graph != graph_name


def _open(folder):
    from pipeline.adapters.artifacts import FolderArtifactStore

    return FolderArtifactStore(folder)


@pytest.fixture
def command(system):
    """Run `graphmill ingest` with JSON output."""

    def run(*arguments, stdin=b""):
        done = subprocess.run(
            [sys.executable, "-m", "workers.cli", "ingest", "--json", *arguments],
            input=stdin, capture_output=True, check=False, timeout=120, env=system.environment,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout)

    return run


def test_the_command_takes_text_from_standard_input_and_from_a_file(system, command, tmp_path, graph_name):
    how = ("--id", "minutes", "--graph", graph_name)
    status, document = command("--text", "-", *how, stdin=FIRST.encode())
    assert (status, document["files"]["written"]) == (0, 1)
    (tmp_path / "notes").write_bytes(b"\xff\xfe" + SECOND.encode("utf-16-le"))
    status, document = command("--text", str(tmp_path / "notes"), *how)
    assert (status, document["files"]["updated"]) == (0, 1)
    assert "Cass Verity" in names(system, graph_name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--text", "-"), "--id ID"),
        (("--id", "x"), "--text -"),
        ((), "Nothing to ingest"),
        (("--text", "-", "--id", "x", "."), "ingested alone"),
        (("--text", "-", "--id", "file:x"), "that of a file's document"),
        (("--text", "/nowhere", "--id", "x"), "cannot be read"),
        (("--text", "-", "--id", "x"), "There is no text to ingest"),
    ],
)
def test_the_command_says_what_is_wrong_with_a_text(command, graph_name, arguments, said):
    status, document = command("--graph", graph_name, *arguments)
    assert status == 2
    assert said in document["message"]
