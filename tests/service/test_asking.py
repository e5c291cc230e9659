"""Questions as jobs, answered by real workers of two processes."""

import json
import subprocess
import sys
import threading
import time

import pytest
from pydantic import SecretStr

from pipeline.errors import GraphMissing, QueryInvalid
from scheduler.jobs import JobState, JobUnknown
from workers.app import create_app
from workers.asking import NoAnswer
from workers.client import Client
from workers.connections import connect_redis

SLOW = "What is Molasses?"
SUBMIT = """
import sys
from workers.app import create_app
from workers.client import Client
from workers.settings import Settings
settings = Settings()
print(Client(settings, create_app(settings)).submit_retrieval("Who founded Northlight Press?", graph=sys.argv[1]))
"""


@pytest.fixture(scope="module")
def more_environment():
    return {"GRAPHMILL_EMBED__EMBEDDER": "python:waiting_models:embed"}


@pytest.fixture(scope="module")
def asked(system, tmp_path_factory):
    """The name of a graph that can be asked."""
    root = tmp_path_factory.mktemp("corpus")
    (root / "press.txt").write_text("Ada Quill founded Northlight Press in Corvane City.", "utf-8")
    system.ingest(root, "asked")
    return "asked"


@pytest.fixture
def go(system):
    """Let slow questions go on, at the end of the test at the latest."""
    path = system.settings.data_dir / "go"
    path.unlink(missing_ok=True)
    for left in system.settings.data_dir.glob("waiting-*"):
        left.unlink()
    yield path.touch
    path.touch()


def wait_until(condition, seconds=20):
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.02)


def waiting(system):
    return len(list(system.settings.data_dir.glob("waiting-*")))


def test_any_process_may_fetch_what_another_asked_for(system, asked):
    submitted = subprocess.run(
        [sys.executable, "-c", SUBMIT, asked], env=system.environment, capture_output=True, text=True, check=True
    )
    job = submitted.stdout.strip()
    reply = system.client.result(job)
    assert reply["evidence"]
    assert reply["session"]
    assert reply["graph"] == asked
    assert reply["queue_ms"] >= 0 < reply["service_ms"]
    assert system.client.result(job, 0) == reply
    assert system.client.job_status(job).state is JobState.DONE


def test_a_question_that_was_waited_for_leaves_no_record(system, asked):
    with connect_redis(system.settings) as redis:
        # Celery keeps results of ingests.
        before = {*redis.keys("gm:query:*"), *redis.keys("celery-task-meta-*")}
        assert system.client.retrieve("Who founded Northlight Press?", graph=asked)["evidence"]
        assert {*redis.keys("gm:query:*"), *redis.keys("celery-task-meta-*")} <= before


def test_a_batch_is_answered_in_order_in_one_session(system, asked):
    questions = [f"Who founded Northlight Press {number}?" for number in range(20)]
    replies = system.client.result(system.client.submit_batch(questions, graph=asked))["replies"]
    assert len(replies) == 20
    assert len({reply["session"] for reply in replies}) == 1
    assert all(reply["evidence"] for reply in replies)


def test_an_error_in_a_batch_stands_in_its_place(system, asked):
    job = system.client.submit_batch(["?", "Who founded Northlight Press?"], graph=asked)
    refused, answered = system.client.result(job)["replies"]
    assert refused["error"] == "QueryInvalid"
    assert answered["evidence"]


def test_the_worker_s_error_is_raised_here(system):
    with pytest.raises(GraphMissing):
        system.client.retrieve("Who founded Northlight Press?", graph="nowhere")
    with pytest.raises(QueryInvalid, match="no query 'guess'"):
        system.client.result(system.client.submit_query("guess", {}))


def test_a_job_that_waits_leaves_the_other_process_to_quick_ones(system, asked, go):
    slow = [
        system.client.submit_retrieval(SLOW, graph=asked, paths=["cypher", "passages", "exact_names"]) for _ in range(3)
    ]
    wait_until(lambda: waiting(system) == 1)
    for _ in range(5):
        assert system.client.retrieve("Who founded Northlight Press?", graph=asked)["evidence"]
    assert waiting(system) == 1, "of those that ask a language model, one runs"
    with pytest.raises(NoAnswer, match=r"is queued|is running"):
        system.client.result(slow[2], 0.1)
    go()
    assert all("evidence" in system.client.result(job) for job in slow)


def test_what_expired_before_a_worker_took_it_is_not_run_afterwards(system, asked, go):
    # Its message goes to where no worker listens.
    address, _, database = system.settings.redis_url.get_secret_value().rpartition("/")
    elsewhere = system.settings.model_copy(update={"broker_url": SecretStr(f"{address}/7")})
    app = create_app(elsewhere)
    client = Client(elsewhere, app)
    job = client.submit_retrieval(SLOW, graph=asked, timeout=1)
    with pytest.raises(NoAnswer, match=r"No query worker answered within 1 s.*graphmill worker query"):
        client.result(job, 3)
    with connect_redis(elsewhere.model_copy(update={"redis_url": elsewhere.broker_url})) as broker:
        assert job in json.loads(broker.lindex("query", 0))["headers"]["argsrepr"]
        assert broker.move("query", int(database))
    for _ in range(3):
        system.client.retrieve("Who founded Northlight Press?", graph=asked)
    assert waiting(system) == 0
    assert system.client.job_status(job).state is JobState.EXPIRED


def test_an_unknown_job_is_an_error_that_says_so(system):
    with pytest.raises(JobUnknown, match="ended more than an hour ago"):
        system.client.result("0" * 24)
    with pytest.raises(QueryInvalid, match="no id of a job"):
        system.client.result("my job")


def test_a_message_carries_nothing_of_the_question(system, asked):
    address = system.settings.redis_url.get_secret_value().rpartition("/")[0]
    elsewhere = system.settings.model_copy(update={"broker_url": SecretStr(f"{address}/8")})
    Client(elsewhere, create_app(elsewhere)).submit_retrieval("Where is Zanzibar?", graph=asked, timeout=1)
    with connect_redis(elsewhere.model_copy(update={"redis_url": elsewhere.broker_url})) as broker:
        (message,) = broker.lrange("query", 0, -1)
        broker.delete("query")
    assert "Zanzibar" not in message


def test_a_batch_of_one_question_is_answered_like_any_batch(system, asked):
    job = system.client.submit_batch(["Who founded Northlight Press?"], graph=asked)
    (reply,) = system.client.result(job)["replies"]
    assert reply["evidence"]
