"""Questions of a client as jobs: their time, whether they are slow, and when none is taken in."""

import fakeredis
import pytest
from asked_jobs import Queue

from pipeline.errors import QueryInvalid
from pipeline.models import Scope, SearchPath
from scheduler.errors import LedgerUnavailable
from scheduler.job_runs import run_job
from scheduler.jobs import MAX_SECONDS, JobFailed, JobState, QueryJobs
from scheduler.records import MemoryUse
from workers import asking
from workers.asking import NoAnswer, Questioner
from workers.settings import Settings

MB = 2**20


class Asking(Questioner):
    """A client that asks, with so much memory used of a hundred megabytes."""

    used = 10 * MB

    def memory(self):
        return MemoryUse(self.used, 100 * MB, 0.8)


class AnsweringQueue(Queue):
    """A queue whose worker answers at once what a test has made it do."""

    jobs: QueryJobs
    answer = None

    def send(self, job, seconds):
        super().send(job, seconds)
        if self.answer:
            run_job(self.jobs, self.answer, job)


@pytest.fixture
def redis_double():
    return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))


@pytest.fixture
def queue(redis_double):
    queue = AnsweringQueue()
    queue.jobs = QueryJobs(redis_double, queue.send, lambda: 2)
    return queue


@pytest.fixture
def client(queue, monkeypatch):
    monkeypatch.setattr(asking, "build_jobs", lambda settings, app: queue.jobs)
    return Asking(Settings(query_timeout=30), None)


def submit(client, **options):
    return client.submit_retrieval("?", graph="g", **options)


def submit_batch(client, **options):
    return client.submit_batch(["?", "??"], graph="g", **options)


@pytest.mark.parametrize("submitting", [submit, submit_batch])
@pytest.mark.parametrize(("given", "seconds"), [({}, MAX_SECONDS), ({"timeout": 7}, 7)])
def test_what_is_submitted_has_an_hour_unless_it_is_given_less(client, queue, submitting, given, seconds):
    job = submitting(client, **given)
    assert queue == [(job, seconds)]


@pytest.mark.parametrize(
    ("ask", "seconds"),
    [
        (lambda client: client.retrieve("?", graph="g"), 30),
        (lambda client: client.check_citations("Yes.", session="s"), 30),
        (lambda client: client.retrieve("?", graph="g", paths=["cypher", "facts"]), 120),
        (lambda client: client.answer("?", graph="g"), 120),
    ],
)
def test_who_waits_gives_more_time_to_what_asks_a_model(client, queue, ask, seconds):
    queue.answer = lambda kind, arguments: {}
    ask(client)
    assert [limit for _, limit in queue] == [seconds]


@pytest.mark.parametrize("submitting", [submit, submit_batch])
@pytest.mark.parametrize(("paths", "slow"), [(["facts"], "0"), ([SearchPath.CYPHER], "1"), (("facts", "cypher"), "1")])
def test_a_job_is_slow_where_it_asks_a_model(client, redis_double, submitting, paths, slow):
    job = submitting(client, paths=paths)
    assert redis_double.hget(f"gm:query:{job}", "slow") == slow


@pytest.mark.parametrize("submitting", [submit, submit_batch])
def test_above_the_mark_nothing_is_taken_in_whose_reply_is_kept(client, queue, submitting):
    client.used = 81 * MB
    with pytest.raises(LedgerUnavailable, match=r"81 of 100 MB.*maxmemory.*still answered"):
        submitting(client)
    assert queue == []
    queue.answer = lambda kind, arguments: {}
    assert client.retrieve("?", graph="g")["graph"] == "g"


def test_an_expired_batch_gives_what_was_answered_and_tells_what_was_not(client, queue, redis_double):
    job = client.submit_batch(["?"] * 20, graph="g", session="s")
    run_job(queue.jobs, lambda kind, arguments: {"evidence": []}, job)
    redis_double.hset(f"gm:query:{job}", "deadline", 1)
    replies = client.result(job, 0)["replies"]
    assert replies[:16] == [{"evidence": [], "session": "s", "graph": "g"}] * 16
    assert [reply["error"] for reply in replies[16:]] == ["expired"] * 4
    assert "16 of 20 questions were answered" in replies[16]["message"]
    assert client.job_status(job).state is JobState.EXPIRED


@pytest.mark.parametrize("timeout", ["7", True, [7], 0, float("nan")])
def test_a_time_that_is_no_number_of_seconds_is_refused(client, queue, timeout):
    with pytest.raises(QueryInvalid, match="seconds, not"):
        submit(client, timeout=timeout)
    assert queue == []


def test_options_of_an_answer_may_be_values_of_the_models(client, queue):
    asked = []
    queue.answer = lambda kind, arguments: asked.append(arguments) or {}
    client.answer("Who?", graph="g", scope=Scope(("d1",)), paths={SearchPath.FACTS})
    (arguments,) = asked
    assert arguments["question"] == "Who?"
    assert arguments["query"]["scope"]["documents"] == ["d1"]
    assert arguments["query"]["paths"] == ["facts"]
    assert "question" not in arguments["query"]


def test_what_is_waited_for_leaves_no_record(client, queue, redis_double):
    queue.answer = lambda kind, arguments: {}
    client.retrieve("?", graph="g")
    assert redis_double.keys("*") == []


def test_sessions_without_a_name_differ_and_those_with_one_keep_it(client, queue):
    queue.answer = lambda kind, arguments: {}
    sessions = [client.retrieve("?", graph="g", session=name)["session"] for name in (None, None, "mine")]
    assert len(set(sessions)) == 3
    assert sessions[2] == "mine"


def test_an_unforeseen_error_of_a_worker_is_raised_as_its_fault(client, queue):
    queue.answer = lambda kind, arguments: 1 / 0
    with pytest.raises(JobFailed, match="ZeroDivisionError"):
        client.result(submit(client))


def test_advice_fits_where_a_job_stands(client, queue):
    job = submit(client)
    with pytest.raises(NoAnswer, match=r"is queued .* Is a worker running"):
        client.result(job, 0)
    queue.jobs.claim(job)
    with pytest.raises(NoAnswer, match=r"is running .* can be fetched later"):
        client.result(job, 0)


@pytest.mark.parametrize(("begun", "advice"), [(False, "Is a worker running"), (True, "Give it more time")])
def test_advice_on_an_expired_job_tells_whether_a_worker_had_begun(client, queue, redis_double, begun, advice):
    job = submit(client)
    if begun:
        queue.jobs.claim(job)
    redis_double.hset(f"gm:query:{job}", "deadline", 1)
    with pytest.raises(NoAnswer, match=advice):
        client.result(job, 0)
    assert client.job_status(job).state is JobState.EXPIRED
