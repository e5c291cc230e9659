"""A query worker that is killed in the middle of a question, or has a wrong clock, costs time and no answer."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scheduler.jobs import JobState
from workers.app import create_app
from workers.asking import NoAnswer
from workers.client import Client
from workers.connections import connect_redis
from workers.roles import ROLES, worker_arguments
from workers.settings import Settings

MODELS = Path(__file__).parents[1] / "service"
HARNESS = Path(__file__).parent / "harness"
pytestmark = pytest.mark.slow


@pytest.fixture
def settings(redis_server, redis_client, graph_server, tmp_path, monkeypatch):
    for name, value in {
        "PYTHONPATH": str(MODELS),
        "REDIS_URL": redis_server.url,
        "FALKORDB_URL": graph_server.url,
        "GRAPHMILL_DATA_DIR": str(tmp_path),
        "GRAPHMILL_EXTRACTOR": "waiting_models:extract",
        "GRAPHMILL_EMBED__EMBEDDER": "python:waiting_models:embed",
        "GRAPHMILL_QUERY_TIMEOUT": "60",
    }.items():
        monkeypatch.setenv(name, value)
    return Settings()


@pytest.fixture
def client(settings):
    app = create_app(settings)
    app.set_default()
    app.set_current()
    return Client(settings, app)


@pytest.fixture
def start_worker(tmp_path):
    """Start a worker of a role; all are killed at the end."""
    started = []

    def start(role, environment=None):
        with (tmp_path / "worker.log").open("ab") as log:
            command = [sys.executable, "-m", "celery", "-A", "workers.app", *worker_arguments(ROLES[role], 1)]
            command += [f"--hostname={role}-{len(started)}@%h"]
            whole = {**os.environ, **(environment or {})}  # noqa: TID251 - a child process needs a PATH
            started.append(subprocess.Popen(command, stdout=log, stderr=log, env=whole, start_new_session=True))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()
        worker.wait()


@pytest.fixture
def asked(client, start_worker, tmp_path, graph_name):
    """The name of a graph that can be asked."""
    (root := tmp_path / "corpus").mkdir()
    (root / "press.txt").write_text("Ada Quill founded Northlight Press in Corvane City.", "utf-8")
    start_worker("all")
    run = client.submit([root], root, graph=graph_name)
    wait_until(lambda: client.tick() and client.status(run).over)
    return graph_name


def wait_until(condition, seconds=60):
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.05)


def processes_that_wait(tmp_path):
    return [int(path.name.partition("-")[2]) for path in tmp_path.glob("waiting-*")]


def let_go(tmp_path):
    (tmp_path / "go").touch()


def test_the_next_worker_answers_what_a_killed_one_had_begun(client, asked, start_worker, tmp_path, survived):
    worker = start_worker("query")
    job = client.submit_retrieval("What is Molasses?", graph=asked)
    wait_until(lambda: processes_that_wait(tmp_path))
    worker.kill()
    worker.wait()
    let_go(tmp_path)
    start_worker("query")
    reply = client.result(job)
    assert reply["queue_ms"] > 5_000, "the claim had to lapse first"
    survived("kill of a query worker", 1)


def test_another_process_answers_what_a_killed_one_had_begun(client, asked, start_worker, tmp_path, survived):
    start_worker("query")
    job = client.submit_retrieval("What is Molasses?", graph=asked)
    wait_until(lambda: processes_that_wait(tmp_path))
    os.kill(processes_that_wait(tmp_path)[0], signal.SIGKILL)
    let_go(tmp_path)
    assert "evidence" in client.result(job)
    survived("kill of a process of a query worker", 1)


def test_a_killed_worker_s_job_expires_where_there_is_no_other(client, asked, start_worker, tmp_path, survived):
    worker = start_worker("query")
    arguments = {"graph": asked, "session": "s", "query": {"question": "What is Molasses?"}}
    # The time that a worker takes to start is not what is tested.
    client.retrieve("Who founded Northlight Press?", graph=asked)
    job = client.submit_query("retrieve", arguments, timeout=4)
    wait_until(lambda: processes_that_wait(tmp_path))
    worker.kill()
    worker.wait()
    with pytest.raises(NoAnswer, match="began, but had no answer within 4 s"):
        client.result(job)
    let_go(tmp_path)
    start_worker("query")
    client.retrieve("Who founded Northlight Press?", graph=asked)
    assert client.job_status(job).state is JobState.EXPIRED
    survived("kill of the only query worker", 1)


def test_a_killed_worker_s_message_is_not_answered_twice(client, asked, start_worker, tmp_path, settings, survived):
    start_worker("query")
    job = client.submit_retrieval("What is Molasses?", graph=asked)
    wait_until(lambda: processes_that_wait(tmp_path))
    with connect_redis(settings) as redis:
        # As a broker does that takes a worker for dead.
        (message,) = redis.hvals("unacked")
        redis.lpush("query", json.dumps(json.loads(message)[0]))
        wait_until(lambda: redis.llen("query") == 0)
    client.retrieve("Who founded Northlight Press?", graph=asked)
    assert len(processes_that_wait(tmp_path)) == 1
    let_go(tmp_path)
    assert client.result(job)["service_ms"] > 0
    survived("second delivery of a question's message", 1)


@pytest.mark.skipif(not shutil.which("cc"), reason="a wrong clock is made with a C compiler (cc)")
@pytest.mark.parametrize("shift", [3_600, -3_600])
def test_a_worker_whose_clock_is_wrong_answers_as_any_other(client, asked, start_worker, tmp_path, shift, survived):
    library = tmp_path / "clock.so"
    compiler = shutil.which("cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HARNESS / "clock.c", "-ldl"], check=True)
    start_worker("query", {"LD_PRELOAD": str(library), "PLANT_CLOCK": str(shift)})
    reply = client.retrieve("Who founded Northlight Press?", graph=asked)
    assert reply["evidence"]
    assert 0 <= reply["service_ms"] < 60_000
    survived("wrong clock of a query worker", 1)
