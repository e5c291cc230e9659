"""The commands as programs: against configured servers, and with the embedded stack from start to end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from scheduler.workers import Offer, Workers

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DONE, FAILED, USAGE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130
WAIT_SECONDS = 120


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    @property
    def document(self):
        """The one JSON document on standard output."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def documents(self):
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Shell:
    """A folder, and variables, in which commands run."""

    folder: Path
    variables: dict[str, str]

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "workers.cli", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{HERE}", **self.variables},  # noqa: TID251 - a program needs PATH and the like
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> Ended:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Ended(process.returncode, out, err)


@pytest.fixture
def files(tmp_path) -> Path:
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "founding.md").write_text(
        "# Brightwater Optics\n\nMarta Lindqvist founded Brightwater Optics in 1987. It is based in Gothenburg.\n",
        encoding="utf-8",
    )
    (folder / "deep" / "people.txt").write_text(
        "Jonas Feld joined Brightwater Optics in 1994. He leads the laboratory in Bergen.\n", encoding="utf-8"
    )
    (folder / "[bold]broken.pdf").write_bytes(b"%PDF-1.4\nnothing that a reader could use")
    (folder / "empty.txt").write_bytes(b"")
    return folder


@pytest.fixture
def cluster(redis_server, redis_client, graph_server, tmp_path) -> Shell:
    return Shell(tmp_path, {"REDIS_URL": redis_server.url, "FALKORDB_URL": graph_server.url})


@pytest.fixture
def embedded(tmp_path) -> Shell:
    return Shell(tmp_path, {})


def test_a_detached_run_waits_in_the_ledger_and_every_report_knows_it(cluster, files, graph_name) -> None:
    made = cluster.run("ingest", "files", "--graph", graph_name, "--detach", "--json")
    assert made.status == DONE
    run = made.document["run"]
    assert f"Run {run}" in made.err
    assert made.document["files"] | {"total": 4, "pending": 4} == made.document["files"]

    (listed,) = cluster.run("runs", "--json").documents
    assert (listed["run"], listed["graph"], listed["root"]) == (run, graph_name, str(files))
    status = cluster.run("status", run, "--json").document
    assert (status["runs"][0]["state"], status["workers"]) == ("running", [])
    assert status["queues"] == dict.fromkeys(status["queues"], 0)
    everything = cluster.run("failures", run, "--all", "--json").documents
    assert {row["path"] for row in everything} == {
        "[bold]broken.pdf", "deep/people.txt", "empty.txt", "founding.md"
    }  # fmt: skip


@pytest.fixture
def detached(cluster, files, graph_name) -> str:
    """A run that nothing works on."""
    return str(cluster.run("ingest", "files", "--graph", graph_name, "--detach", "--json").document["run"])


def test_an_unknown_run_is_named_and_the_one_that_was_meant_is_suggested(cluster, detached) -> None:
    typo = f"{detached[:-1]}x"
    for command in (["status"], ["failures"], ["resume"], ["pause"], ["cancel"], ["retry", "--failed"]):
        asked = cluster.run(*command, typo, "--json")
        assert asked.status == USAGE, command
        assert asked.document["error"] == "run_not_found"
        for said in (repr(typo), f"Did you mean {detached}?", "`graphmill runs` lists them"):
            assert said in asked.err


def test_a_run_that_is_done_is_shown_by_resume_with_what_else_can_be_done(cluster, tmp_path, graph_name) -> None:
    # Nothing in it needs a worker.
    folder = tmp_path / "no text"
    folder.mkdir()
    (folder / "picture.png").write_bytes(b"\x89PNG")
    skipped = cluster.run("ingest", "no text", "--graph", graph_name, "--json")
    (folder / "broken.txt").symlink_to("nowhere.txt")
    failed = cluster.run("ingest", "no text", "--graph", graph_name, "--json")
    for ended, status in ((skipped, DONE), (failed, FAILED)):
        run = ended.document["run"]
        resumed = cluster.run("resume", run)
        assert (ended.status, resumed.status) == (status, status)
        assert f"Run {run} is done already" in resumed.err
        assert f"graphmill ingest '{folder}' --graph {graph_name}" in resumed.err
        assert (f"graphmill retry {run} --failed" in resumed.err) is (status == FAILED)
        assert cluster.run("resume", run, "--json").document["state"] == "done"


def test_a_cancelled_run_does_not_go_on(cluster, detached, files) -> None:
    assert cluster.run("cancel", detached).status == DONE
    resumed = cluster.run("resume", detached, "--json")
    assert (resumed.status, resumed.document["error"]) == (USAGE, "run_over")
    assert f"Ingest {files} again" in resumed.err


def test_a_code_that_no_file_failed_with_is_refused(cluster, detached) -> None:
    refused = cluster.run("retry", detached, "--failed", "--code", "worker_last")
    assert refused.status == USAGE
    assert f"graphmill failures {detached}" in refused.err


def test_a_run_that_runs_is_followed_to_its_end_by_all_who_resume_it(cluster, detached) -> None:
    followers = [cluster.start("resume", detached, "--json") for _ in range(2)]
    for follower in followers:
        assert "ingest: 0/4" in follower.stderr.readline()
    assert cluster.run("cancel", detached).status == DONE
    for follower in followers:
        out, err = follower.communicate(timeout=WAIT_SECONDS)
        assert follower.returncode == DONE, err
        assert json.loads(out)["state"] == "cancelled"


def test_names_of_every_kind_are_listed_each_on_a_line_that_a_terminal_cannot_obey(
    cluster, tmp_path, graph_name
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    shown = {
        b"caf\xe9.txt": r"caf\xe9.txt",
        b"two\nlines.txt": r"two\x0alines.txt",
        b"\x1b[31mred.txt": r"\x1b[31mred.txt",
        b"[red]markup.txt": "[red]markup.txt",
        b"--json": "--json",
        b"-n.txt": "-n.txt",
        b'it\'s "quoted".txt': 'it\'s "quoted".txt',
        "\u202egnp.txt".encode(): "\u202egnp.txt",
        b"x" * 251 + b".txt": "x" * 251 + ".txt",
    }
    for name in shown:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("Ada Quill wrote this.", encoding="utf-8")
    made = cluster.run("ingest", "odd", "--graph", graph_name, "--detach", "--json")
    run = made.document["run"]
    listed = cluster.run("failures", run, "--all", "--json").documents
    assert {row["path"] for row in listed} == set(shown.values())
    text = cluster.run("failures", run, "--all")
    lines = text.out.splitlines()
    assert {line.partition(": ")[0] for line in lines if not line.startswith(" ")} == {
        name.replace("\u202e", r"\x202e") for name in shown.values()
    }
    assert "\x1b" not in text.out + made.err + cluster.run("status", run).out
    alone = cluster.run("ingest", "--graph", graph_name, "--detach", "--json", "--", "odd/-n.txt", "odd/--json")
    assert alone.document["files"]["total"] == 2


def test_a_path_that_is_not_utf8_is_refused_with_what_to_do(cluster, tmp_path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    refused = cluster.run("ingest", str(folder))
    assert refused.status == USAGE
    assert "must be UTF-8" in refused.err


def test_a_path_that_goes_up_from_a_link_means_what_the_system_means(cluster, tmp_path, graph_name) -> None:
    for place in ("real/deep", "real/files", "files"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.txt").write_text("Ada Quill wrote this.", encoding="utf-8")
    (tmp_path / "link").symlink_to("real/deep")
    made = cluster.run("ingest", "link/../files", "--graph", graph_name, "--detach", "--json")
    assert made.document["root"] == str(tmp_path / "real" / "files")
    again = cluster.run("ingest", "link", "link/../deep", "real/deep/a.txt", "--root", "real", "--detach", "--json")
    assert again.document["files"]["total"] == 1


def test_health_of_a_cluster_tells_servers_and_unread_queues(cluster, redis_client, redis_server) -> None:
    checked = cluster.run("health", "--json")
    assert checked.status == DONE
    findings = {finding["what"]: finding for finding in checked.document["findings"]}
    assert findings["queue query: no living worker reads it"]["fix"] == "graphmill worker query"
    assert checked.document["status"] == "warning"
    assert redis_server.password not in checked.out

    assert cluster.run("health", "--role", "query").status == FAILED
    Workers(redis_client).announce(f"query-1@{socket.gethostname()}", ["query"], 1, 1, Offer())
    assert cluster.run("health", "--role", "query").status == DONE


def test_health_calls_an_eviction_policy_an_error_and_a_missing_graph_server_unreachable(cluster, redis_client) -> None:
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert cluster.run("health").status == FAILED
    finally:
        redis_client.config_set("maxmemory-policy", "noeviction")
    lonely = Shell(cluster.folder, {**cluster.variables, "FALKORDB_URL": "falkor://127.0.0.1:1"})
    checked = lonely.run("health")
    assert checked.status == UNREACHABLE
    assert "FALKORDB_URL" in checked.out


def test_a_look_at_a_new_folder_finds_the_engine_and_leaves_nothing(embedded) -> None:
    checked = embedded.run("health")
    assert checked.status == DONE
    assert "embedded: engine of" in checked.out
    assert "FalkorDB" in checked.out
    assert list(embedded.folder.iterdir()) == []


@pytest.fixture
def cheap(tmp_path) -> Shell:
    """The embedded stack with models of no cost."""
    models = {
        "GRAPHMILL_EXTRACTOR": "tiny_models:extract",
        "GRAPHMILL_EMBED__EMBEDDER": "python:tiny_models:embed",
    }
    return Shell(tmp_path, models)


@pytest.fixture
def stack(embedded) -> Iterator["subprocess.Popen[str]"]:
    process = embedded.start("up")
    assert process.stdout is not None
    assert process.stdout.readline() == "graphmill is up. Ctrl-C ends it.\n"
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def _read_and_wait(embedded, asked) -> None:
    """Read evidence whole, and hand a question in that is kept within a folder."""
    number = asked["evidence"][0]["n"]
    exact = embedded.run("evidence", str(number), "--around", "1", "--json").document["passages"]
    assert [item["n"] for item in exact if item["here"]] == [number]
    job = embedded.run("ask", "Who joined Brightwater Optics?", "--where", "path^=deep/", "--submit").out.strip()
    reply = embedded.run("result", job, "--json").document
    assert {item["source"] for item in reply["evidence"]} == {"deep/people.txt"}


def test_commands_share_a_running_stack_from_ingest_to_a_checked_answer(embedded, stack, files) -> None:
    family = psutil.Process(stack.pid).children(recursive=True)
    first = embedded.run("ingest", "files", "--json")
    assert first.status == FAILED  # one file is broken
    assert "Starting" not in first.err
    counts = first.document["files"]
    assert (counts["written"], counts["skipped"], counts["failed"]) == (2, 1, 1)
    assert (first.document["state"], first.document["error"]) == ("done", "")
    assert first.document["graph_counts"]["documents"] == 2
    assert first.document["graph_counts"]["entities"] > 0
    (failure,) = first.document["failures"]
    assert (failure["path"], failure["code"]) == ("[bold]broken.pdf", "corrupt")

    again = embedded.run("ingest", "files")
    assert "unchanged  2" in again.out
    assert "[bold]broken.pdf: failed corrupt (load)" in again.out

    asked = embedded.run("ask", "Who founded Brightwater Optics?", "--json")
    assert asked.status == DONE
    number = next(item["n"] for item in asked.document["evidence"] if "Marta" in item["text"])
    grounded = embedded.run("check", f"Marta Lindqvist founded Brightwater Optics [{number}].", "--json")
    assert (grounded.status, grounded.document["session"]) == (DONE, asked.document["session"])
    invented = embedded.run("check", "Brightwater Optics has 4000 staff [99].")
    assert invented.status == FAILED
    assert "point at nothing: 99" in invented.out
    assert embedded.run("ask", "Who?", "--graph", "nowhere").status == USAGE
    forgotten = embedded.run("check", "It is so.", "--session", "nobody")
    assert forgotten.status == USAGE
    assert "session 'nobody' is unknown here or has expired" in forgotten.err
    _read_and_wait(embedded, asked.document)

    assert embedded.run("health", "--role", "all").status == DONE
    assert "another graphmill process runs this stack" in embedded.run("up").err.lower()

    stack.send_signal(signal.SIGTERM)
    assert stack.wait(WAIT_SECONDS) == DONE
    assert [process for process in family if process.is_running()] == []


def test_a_folder_of_stage_results_that_cannot_be_opened_is_named_and_nothing_waits_for_it(cheap, files) -> None:
    there = files / "empty.txt" / "artifacts"
    ended = Shell(cheap.folder, {**cheap.variables, "GRAPHMILL_ARTIFACTS_DIR": str(there)}).run("ingest", "files")
    assert ended.status == UNREACHABLE
    assert str(there) in ended.err


@pytest.mark.slow
def test_workers_of_a_killed_command_do_not_hold_up_one_with_other_settings(cheap, files) -> None:
    process = cheap.start("ingest", "files")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Run ")
    process.kill()
    process.communicate()
    changed = Shell(cheap.folder, {**cheap.variables, "GRAPHMILL_CHUNK__MAX_TOKENS": "64"})
    ended = changed.run("ingest", "files")
    assert ended.status == FAILED, ended.err  # the broken file, and nothing else


def test_an_interrupted_ingest_leaves_nothing_running_and_is_resumed(cheap, files) -> None:
    for number in range(100):
        (files / f"note {number}.txt").write_text(
            f"Note {number}: Jonas Feld of Brightwater Optics visited Tromso in {1800 + number}.\n", encoding="utf-8"
        )
    process = cheap.start("ingest", "files")
    assert process.stdout is not None
    run = process.stdout.readline().split()[1].rstrip(":")
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == INTERRUPTED
    assert f"graphmill resume {run}" in err
    assert [child for child in family if child.is_running()] == []

    assert cheap.run("status", "--json").document["workers"] == []
    resumed = cheap.run("resume", run, "--json")
    assert resumed.status == FAILED  # the broken file, and nothing else
    assert resumed.document["files"]["written"] == 102
    assert resumed.document["files"]["failed"] == 1
