"""The commands that keep a graph in step, as programs."""

import json
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DONE, FAILED, USAGE = 0, 1, 2
WAIT_SECONDS = 120


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    @property
    def document(self):
        (line,) = self.out.splitlines()
        return json.loads(line)


def start(environment, *arguments, **streams):
    return subprocess.Popen(
        [sys.executable, "-m", "workers.cli", *arguments],
        env={**environment, "PYTHONPATH": f"{ROOT}:{environment.get('PYTHONPATH', '')}"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **streams,
    )  # fmt: skip


def finish(process, given=None):
    try:
        out, err = process.communicate(given, timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Ended(process.returncode, out, err)


@pytest.fixture
def graphmill(system, graph_name, tmp_path):
    """Run a command on the test's graph, in a folder of its own."""

    def run(command, *arguments, given=""):
        process = start(
            system.environment, command, *arguments, "--graph", graph_name, cwd=tmp_path, stdin=subprocess.PIPE
        )
        return finish(process, given)

    return run


def write(place, person):
    place.write_text(f"Ada Quill founded Northlight Press. {person} met Bram Oster.", "utf-8")


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, person in (("a.txt", "Esme Venn"), ("b.txt", "Finn Moss"), ("c.txt", "Gita Pike")):
        write(folder / name, person)
    return folder


@pytest.mark.slow
def test_a_dry_run_lists_what_a_sync_then_does(system, graphmill, graph_name, corpus):
    dry = graphmill("sync", "corpus", "--dry-run")
    assert dry.status == DONE
    assert dry.out.splitlines()[:3] == ["add     a.txt", "add     b.txt", "add     c.txt"]
    assert "3 added, 0 kept. Nothing was done." in dry.out
    assert graph_name not in system.graphs()
    made = graphmill("sync", "corpus", "--json")
    assert (made.status, made.document["changes"]["added"], made.document["state"]) == (DONE, 3, "done")

    write(corpus / "a.txt", "Hugo Lark")
    (corpus / "b.txt").rename(corpus / "moved.txt")
    (corpus / "c.txt").unlink()
    dry = graphmill("sync", "corpus", "--dry-run", "--json")
    assert dry.document == {
        "dry_run": True, "graph": graph_name, "root": str(corpus), "added": [], "updated": ["a.txt"],
        "renamed": [{"from": "b.txt", "to": "moved.txt"}], "adopted": [], "removed": ["c.txt"], "kept": 0, "unread": [],
    }  # fmt: skip
    done = graphmill("sync", "corpus")
    assert done.status == DONE
    assert "updated" in done.out
    assert "has left the graph" in done.out
    again = graphmill("sync", "corpus")
    assert again.out == f"Graph {graph_name} is as {corpus}: 2 kept.\n"
    assert graphmill("sync", "corpus", "--json").document == {
        "run": None, "files": {"total": 0}, "kept": 2, "unread": []
    }  # fmt: skip


@pytest.mark.slow
def test_a_folder_that_is_gone_or_named_from_elsewhere_is_refused(graphmill, corpus):
    assert graphmill("sync", "corpus").status == DONE
    (corpus / "sub").mkdir()
    write(corpus / "sub" / "d.txt", "Hugo Lark")
    assert graphmill("sync", "corpus").status == DONE
    unclear = graphmill("sync", "corpus/sub")
    assert unclear.status == USAGE
    assert f"--root: {corpus}" in unclear.err
    assert graphmill("sync", "corpus/sub", "--root", "corpus").out.endswith("1 kept.\n")
    corpus.rename(corpus.with_name("unmounted"))
    refused = graphmill("sync", "corpus", "--json")
    assert (refused.status, refused.document["error"]) == (USAGE, "folder_empty")
    assert "--allow-empty" in refused.err
    emptied = graphmill("sync", "corpus", "--allow-empty", "--json")
    assert (emptied.status, emptied.document["changes"]["removed"]) == (DONE, 4)


@pytest.mark.slow
def test_a_moved_folder_is_adopted_and_another_of_the_same_names_is_refused(graphmill, corpus):
    assert graphmill("sync", "corpus").status == DONE
    moved = corpus.rename(corpus.with_name("moved"))
    (moved / "c.txt").unlink()
    dry = graphmill("sync", "moved", "--dry-run")
    assert dry.out.splitlines()[:3] == ["adopt   a.txt", "adopt   b.txt", "remove  c.txt"]
    assert "2 adopted, 1 removed, 0 kept" in dry.out
    done = graphmill("sync", "moved", "--json")
    assert (done.status, done.document["adopted"], done.document["changes"]["removed"]) == (DONE, 2, 1)
    assert graphmill("sync", "moved").out.endswith(": 2 kept.\n")
    corpus.mkdir()
    write(corpus / "a.txt", "Hugo Lark")
    refused = graphmill("sync", "corpus", "--json")
    assert (refused.status, refused.document["error"]) == (USAGE, "root_unclear")
    assert f"a.txt (of {moved})" in refused.err


def test_a_file_that_cannot_be_read_is_told_and_keeps_its_document(system, graphmill, graph_name, corpus, tmp_path):
    assert graphmill("sync", "corpus").status == DONE
    (corpus / "a.txt").unlink()
    write(tmp_path / "outside.txt", "Esme Venn")
    (corpus / "a.txt").symlink_to(tmp_path / "outside.txt")
    told = graphmill("sync", "corpus")
    assert told.status == FAILED
    assert "unread  a.txt (outside_root)" in told.out
    assert len(system.client.documents(graph_name)) == 3


def test_documents_are_deleted_by_path_or_id(system, graphmill, graph_name, corpus):
    assert graphmill("sync", "corpus").status == DONE
    unknown = graphmill("delete", "corpus/a.txt", "file:bb.txt", "--json")
    assert (unknown.status, unknown.document["error"]) == (USAGE, "document_unknown")
    assert "did you mean 'file:b.txt'?" in unknown.err
    done = graphmill("delete", "corpus/a.txt", "file:b.txt", "--json")
    assert (done.status, done.document["changes"]["removed"], done.document["graph_counts"]["documents"]) == (
        DONE,
        2,
        1,
    )
    assert (corpus / "a.txt").exists()
    shown = graphmill("delete", "corpus/c.txt")
    assert "removed" in shown.out
    assert system.client.documents(graph_name) == []


def test_a_graph_is_dropped_when_its_name_is_typed(system, graphmill, graph_name, corpus):
    assert graphmill("sync", "corpus").status == DONE
    for given, said in (("", "was not typed"), ("another\n", "'another' is not")):
        refused = graphmill("drop", given=given)
        assert refused.status == USAGE
        assert said in refused.err
    assert graphmill("drop", "--json").status == USAGE
    assert graph_name in system.graphs()
    dropped = graphmill("drop", given=f"{graph_name}\n")
    assert dropped.status == DONE
    assert f"Graph {graph_name} is dropped" in dropped.out
    assert graph_name not in system.graphs()
    assert graphmill("drop", "--yes").status == USAGE
    assert graphmill("sync", "corpus", "--json").document["changes"]["added"] == 3
    dropped = graphmill("drop", "--yes", "--json")
    assert (dropped.document["dropped"]["documents"], dropped.document["runs"]) == (3, 2)


@pytest.mark.slow
def test_files_are_extracted_anew_on_request(graphmill, corpus, tmp_path):
    assert graphmill("sync", "corpus").status == DONE
    assert graphmill("reextract").status == USAGE
    assert graphmill("reextract", "corpus/a.txt", "--all").status == USAGE
    assert graphmill("reextract", "corpus/none.txt").status == USAGE
    done = graphmill("reextract", "--all", "--json")
    assert (done.status, done.document["files"]["unchanged"]) == (DONE, 3)
    (tmp_path / "types.yaml").write_text("entities: [{label: Person}]\n", "utf-8")
    other = graphmill("reextract", "corpus/a.txt", "--ontology", "types.yaml", "--json")
    assert (other.status, other.document["changes"]["updated"]) == (DONE, 1)
    again = graphmill("reextract", "--all", "--json")
    assert [json.loads(line)["files"]["unchanged"] for line in again.out.splitlines()] == [1, 2], (
        "a run for each recipe"
    )
    assert graphmill("reextract", "--all", "--present-settings", "--json").document["changes"]["updated"] == 1


class Lines:
    """The lines that a program writes, waited for."""

    def __init__(self, stream):
        self._lines = queue.Queue()
        threading.Thread(target=lambda: [self._lines.put(line) for line in stream], daemon=True).start()

    def next(self):
        return self._lines.get(timeout=WAIT_SECONDS)


@pytest.mark.parametrize("options", [(), pytest.param(("--poll",), marks=pytest.mark.slow)])
def test_a_watched_folder_is_followed_until_ctrl_c(system, graph_name, corpus, tmp_path, options):
    arguments = ("watch", "corpus", "--graph", graph_name, "--delay", "0.3", "--json", *options)
    process = start(system.environment, *arguments, cwd=tmp_path)
    try:
        lines = Lines(process.stdout)

        def told():
            return json.loads(lines.next())

        assert told()["added"] == 3
        write(corpus / "d.txt", "Hugo Lark")
        assert told()["added"] == 1
        (corpus / "d.txt").rename(corpus / "e.txt")
        assert told()["renamed"] == 1
        corpus.rename(tmp_path / "away")
        corpus.mkdir()
        emptied = told()
        assert emptied["error"] == "folder_empty"
        assert "`graphmill sync --allow-empty`" in emptied["message"], "watch has no such option"
        corpus.rmdir()
        (tmp_path / "away").rename(corpus)
        assert told() == {"run": None, "kept": 4, "unread": 0}
        (corpus / "a.txt").unlink()
        assert told()["removed"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == DONE
    finally:
        process.kill()
        process.stdout.close()
        process.stderr.close()
        process.wait()
