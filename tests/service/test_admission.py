"""Above the memory mark nothing new is taken in or dispatched, everybody is told, and it goes on by itself."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import structlog

from scheduler.errors import RunOver
from scheduler.states import RunState
from workers.app import create_app
from workers.client import Client
from workers.connections import connect_redis

ROOT = Path(__file__).parents[2]
MARK = 0.001
NARROW, ROOMY = 256 * 2**20, 100 * 2**30
"""Limits under which a Redis of a few megabytes is above and below the mark, and never full."""
FILES = 1100
"""Two pages of the manifest."""
WAIT_SECONDS = 120


@pytest.fixture(scope="module")
def redis(system):
    with connect_redis(system.settings) as client:
        yield client


@pytest.fixture
def limit(redis):
    """Set the memory limit of the real server; what it was comes back."""
    before = redis.config_get("maxmemory")["maxmemory"]
    yield lambda size: redis.config_set("maxmemory", size)
    redis.config_set("maxmemory", before)


@pytest.fixture
def client(system):
    settings = system.settings.model_copy(update={"memory_mark": MARK})
    return Client(settings, create_app(settings))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    for i in range(3):
        (place / f"{i}.txt").write_text(f"Ann Smith met Bob Jones in Room {i}.", encoding="utf-8")
    return place


@pytest.fixture
def start(system, tmp_path):
    """Start a command against the system; it is ended in any case."""
    started = []

    def run(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.cli", *arguments],
            cwd=tmp_path,
            env={**system.environment, "PYTHONPATH": f"{ROOT}:{system.environment['PYTHONPATH']}",
                 "GRAPHMILL_MEMORY_MARK": str(MARK)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def read_until(process, words):
    """Read remarks until one has the words; gives all of them."""
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return said
    raise AssertionError(f"{words!r} was not said: {said}")


def end(process):
    out, err = process.communicate(timeout=WAIT_SECONDS)
    return process.returncode, out, err


def test_submission_waits_between_pages_and_goes_on_when_there_is_room(client, limit, tmp_path, graph_name):
    for i in range(FILES):
        (tmp_path / f"{i}.none").touch()
    told = []

    def listed(files, memory):
        told.append((files, memory is not None))
        if len(told) == 1:
            limit(NARROW)
        elif len(told) == 4:
            assert client.runs(1)[0].state is RunState.OPEN
            assert client.runs(1)[0].total == files
            limit(ROOMY)

    limit(ROOMY)
    run = client.submit([tmp_path], tmp_path, graph=graph_name, listed=listed)
    assert told == [(1000, False), (1000, True), (1000, True), (1000, True), (FILES, False)]
    assert client.status(run).state is RunState.DONE


def test_a_program_without_callback_finds_the_waiting_in_its_log(client, limit, redis, folder, graph_name):
    limit(NARROW)

    class Room:
        """Makes room at the first line that is logged."""

        def __init__(self):
            self.lines = []

        def __call__(self, _logger, method, entry):
            self.lines.append((method, entry["event"]))
            limit(ROOMY)
            raise structlog.DropEvent

    room = Room()
    before = structlog.get_config()
    structlog.configure(processors=[room], cache_logger_on_first_use=False)
    try:
        client.verbs.cancel(client.submit([folder], folder, graph=graph_name))
    finally:
        structlog.configure(**before)
    waits = [line for line in room.lines if line[1].startswith("submission")]
    assert waits == [("warning", "submission_waits"), ("warning", "submission_goes_on")]


@pytest.mark.slow
def test_a_command_says_once_that_it_waits_and_once_that_it_goes_on(limit, start, folder, graph_name):
    limit(NARROW)
    ingest = start("ingest", str(folder), "--graph", graph_name)
    (said, *_) = read_until(ingest, "submission waits")[-1:]
    assert "of 256 MB, above the mark of 0%: submission waits and goes on by itself; a larger maxmemory" in said

    status, out, _ = end(start("status", "--json"))
    assert status == 0
    memory = json.loads(out)["memory"]
    assert (memory["limit_mb"], memory["held_back"]) == (256, True)
    status, out, _ = end(start("status"))
    assert "nothing new is dispatched. It goes on by itself" in out
    _, out, _ = end(start("health", "--json"))
    warnings = [f for f in json.loads(out)["findings"] if "nothing new is dispatched" in f["what"]]
    assert [f["level"] for f in warnings] == ["warning"]

    # It still says how far it is, as it does while it lists.
    read_until(ingest, "waits for memory of Redis")
    limit(ROOMY)
    status, out, err = end(ingest)
    assert (status, err.count("submission goes on"), err.count("submission waits")) == (0, 1, 0), err
    assert "is done" in out
    _, out, _ = end(start("status", "--json"))
    assert json.loads(out)["memory"]["held_back"] is False


def test_a_command_that_is_interrupted_while_it_waits_leaves_a_run_that_resume_completes(
    system, limit, start, folder, graph_name
):
    limit(NARROW)
    ingest = start("ingest", str(folder), "--graph", graph_name)
    read_until(ingest, "submission waits")
    ingest.send_signal(signal.SIGINT)
    status, out, err = end(ingest)
    assert status == 130, err
    run = out.split()[1].rstrip(":")
    assert f"graphmill resume {run}" in err
    assert system.client.status(run).state is RunState.OPEN
    limit(ROOMY)
    status, _, err = end(start("resume", run))
    assert status == 0, err
    assert system.client.status(run).counts["written"] == 3


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (("ingest", "--text", "files/0.txt", "--id", "note"), 130),
        (("ingest", "rows.csv", "--table", "--label", "Person", "--key", "id"), 130),
        (("sync", "files"), 130),
        (("watch", "files"), 0),
    ],
    ids=["text", "table", "sync", "watch"],
)
def test_a_run_whose_list_only_its_command_can_make_is_not_to_be_resumed(
    system, limit, start, folder, graph_name, given, code
):
    (folder.parent / "rows.csv").write_text("id,name\n1,Ada Quill\n", encoding="utf-8")
    limit(NARROW)
    process = start(*given, "--graph", graph_name)
    read_until(process, "submission_waits" if given[0] == "watch" else "submission waits")
    process.send_signal(signal.SIGINT)
    status, _, err = end(process)
    run = system.client.runs(1)[0]
    assert (status, run.state, run.graph) == (code, RunState.OPEN, graph_name)
    hint = f"Nothing is lost: run {run.run} had not begun. Give the command again (graphmill cancel {run.run} puts"
    assert hint in err
    assert "graphmill resume" not in err
    limit(ROOMY)
    with pytest.raises(RunOver, match="give the command again"):
        system.client.resume(run.run)
    system.client.verbs.cancel(run.run)


def test_dispatch_is_held_back_and_goes_on_and_the_watching_command_says_both(
    system, client, limit, start, folder, graph_name
):
    limit(ROOMY)
    run = client.submit([folder], folder, graph=graph_name)
    limit(NARROW)
    report = client.tick()
    assert (report.held_back, report.batches_sent) == (True, 0)
    watching = start("resume", run)
    read_until(watching, "nothing new is dispatched. It goes on by itself")
    assert client.status(run).pending == 3
    limit(ROOMY)
    status, _, err = end(watching)
    assert status == 0, err
    assert "Redis is below its mark again: dispatch goes on." in err
    assert client.status(run).counts["written"] == 3


def test_a_redis_that_restarts_while_its_memory_is_read_is_left_to_whoever_appends_next(
    client, folder, graph_name, monkeypatch
):
    from scheduler.errors import LedgerUnavailable

    def fail():
        raise LedgerUnavailable("it restarts")

    monkeypatch.setattr(client, "memory", fail)
    run = client.submit([folder], folder, graph=graph_name)
    assert client.status(run).total == 3
    client.verbs.cancel(run)
