"""The rules of query jobs, on the quick double and on a real Redis."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from asked_jobs import echo, submit
from billiard.exceptions import SoftTimeLimitExceeded
from redis.backoff import NoBackoff
from redis.retry import Retry

from pipeline.errors import GraphMissing, QueryInvalid
from scheduler import jobs
from scheduler.errors import LedgerUnavailable
from scheduler.job_runs import run_job
from scheduler.jobs import MAX_BATCH, MAX_BYTES, MAX_STARTS, SLICE, JobState, JobStatus, QueryJobs


def test_a_job_is_answered_and_its_message_carries_the_id_alone(query_jobs, queue):
    job = submit(query_jobs, 7)
    assert queue == [(job, 30)]
    assert query_jobs.status(job).state is JobState.QUEUED
    run_job(query_jobs, echo, job)
    status, replies = query_jobs.result(job, 0)
    assert (status.state, status.done, status.total) == (JobState.DONE, 1, 1)
    assert replies == [{"ok": {"kind": "retrieve", "number": 7}}]
    assert query_jobs.result(job, 0)[1] == replies, "it can be asked for again"


def test_a_reply_has_the_time_on_the_queue_and_the_time_of_service(query_jobs, travel):
    job = submit(query_jobs)
    travel(job, 3)
    claim = query_jobs.claim(job)
    assert query_jobs.status(job).state is JobState.RUNNING
    travel(job, 2)
    query_jobs.end(claim, [{"ok": {}}])
    status = query_jobs.status(job)
    assert 3_000 <= status.queue_ms < 4_000
    assert 2_000 <= status.service_ms < 3_000
    travel(job, 20)
    assert query_jobs.status(job) == status


def test_an_error_of_the_question_is_its_reply(query_jobs):
    def refuse(kind, arguments):
        raise GraphMissing("no such graph")

    job = submit(query_jobs)
    run_job(query_jobs, refuse, job)
    status, replies = query_jobs.result(job, 0)
    assert status.state is JobState.FAILED
    assert replies == [{"error": "GraphMissing", "message": "no such graph"}]


def test_a_fault_of_the_worker_is_told_to_whoever_waits_but_not_what_it_says(query_jobs):
    def fail(kind, arguments):
        raise OSError("/srv/secret cannot be read")

    job = submit(query_jobs)
    run_job(query_jobs, fail, job)
    status, (reply,) = query_jobs.result(job, 0)
    assert (status.state, reply["error"]) == (JobState.FAILED, "JobFailed")
    assert "OSError" in reply["message"]
    assert "secret" not in reply["message"]


def test_a_question_that_takes_too_long_is_no_fault_of_the_question(query_jobs):
    def wait_too_long(kind, arguments):
        raise SoftTimeLimitExceeded

    job = submit(query_jobs)
    run_job(query_jobs, wait_too_long, job)
    _, (reply,) = query_jobs.result(job, 0)
    assert reply["error"] == "JobFailed"
    assert "longer than a query worker may work" in reply["message"]


def test_a_reply_says_of_which_conversation_and_graph_its_numbers_are(query_jobs):
    job = query_jobs.submit("fetch", {"session": "s", "graph": "g", "numbers": [1]}, timeout_s=5)
    run_job(query_jobs, lambda kind, arguments: {"passages": []}, job)
    assert query_jobs.result(job, 0)[1] == [{"ok": {"passages": [], "session": "s", "graph": "g"}}]


def test_a_job_whose_deadline_has_come_is_never_run(query_jobs, travel):
    job = submit(query_jobs)
    travel(job, 30)
    assert query_jobs.claim(job) is None
    status, replies = query_jobs.result(job, 0)
    assert (status.state, replies) == (JobState.EXPIRED, [])
    assert status.queue_ms >= 30_000


def test_a_job_expires_also_if_no_worker_looks_at_it(query_jobs, travel):
    job = submit(query_jobs)
    travel(job, 31)
    assert query_jobs.status(job).state is JobState.EXPIRED


def test_a_reply_after_the_deadline_is_dropped(query_jobs, travel):
    job = submit(query_jobs)
    claim = query_jobs.claim(job)
    travel(job, 31)
    query_jobs.end(claim, [{"ok": {}}])
    status, replies = query_jobs.result(job, 0)
    assert (status.state, replies) == (JobState.EXPIRED, [])


def test_a_message_that_comes_twice_is_answered_once(query_jobs):
    job = submit(query_jobs)
    claim = query_jobs.claim(job)
    assert query_jobs.claim(job) is None, "it runs"
    query_jobs.end(claim, [{"ok": {}}])
    assert query_jobs.claim(job) is None, "it is done"
    assert query_jobs.status(job).state is JobState.DONE


def test_of_many_workers_one_gets_a_job(query_jobs):
    job = submit(query_jobs)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(query_jobs.claim, [job] * 8))
    assert len([claim for claim in claims if claim]) == 1


def test_the_job_of_a_worker_that_died_is_sent_again_and_answered_by_the_next(query_jobs, queue, travel):
    job = submit(query_jobs)
    query_jobs.claim(job)
    queue.clear()
    travel(job, 4)
    assert query_jobs.status(job).state is JobState.RUNNING
    assert queue == []
    travel(job, 4)
    assert query_jobs.status(job).state is JobState.QUEUED
    assert queue == [(job, pytest.approx(22, abs=1))]
    assert query_jobs.status(job).state is JobState.QUEUED
    assert len(queue) == 1, "once for all who wait"
    run_job(query_jobs, echo, job)
    assert query_jobs.status(job).state is JobState.DONE


def test_a_worker_that_was_thought_dead_may_still_give_the_reply(query_jobs, travel):
    job = submit(query_jobs)
    slow = query_jobs.claim(job)
    travel(job, 7)
    quick = query_jobs.claim(job)
    query_jobs.end(slow, [{"ok": {"by": "slow"}}])
    query_jobs.end(quick, [{"ok": {"by": "quick"}}])
    assert query_jobs.result(job, 0)[1] == [{"ok": {"by": "slow"}}]


def test_a_job_that_kills_its_workers_is_given_up(query_jobs, travel):
    job = submit(query_jobs, timeout_s=600)
    for _ in range(MAX_STARTS):
        assert query_jobs.claim(job)
        travel(job, 7)
    assert query_jobs.claim(job) is None
    status, (reply,) = query_jobs.result(job, 0)
    assert (status.state, reply["error"]) == (JobState.FAILED, "JobFailed")


def test_a_claim_is_renewed_while_its_worker_works(query_jobs, client, monkeypatch):
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.3)
    job = submit(query_jobs)
    claim = query_jobs.claim(job)
    before = float(client.hget(f"gm:query:{job}", "lease"))
    renewed = threading.Event()
    with query_jobs.renewing(claim):
        while float(client.hget(f"gm:query:{job}", "lease")) == before:
            renewed.wait(0.02)
    assert query_jobs.status(job).state is JobState.RUNNING


def test_a_message_that_nobody_takes_is_sent_again_ever_more_rarely(query_jobs, queue, travel):
    job = submit(query_jobs, timeout_s=600)
    sent = []
    for second in range(1, 40):
        travel(job, 1)
        queue.clear()
        query_jobs.status(job)
        sent += [second] * len(queue)
    assert sent == [5, 15, 35]


def test_all_who_wait_get_the_reply_as_soon_as_it_is_there(query_jobs, client):
    job = submit(query_jobs)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(query_jobs.result, job, 20) for _ in range(3)]
        run_job(query_jobs, echo, job)
        assert [one.result()[0].state for one in waiting] == [JobState.DONE] * 3


def test_who_waits_too_short_is_told_where_the_job_stands(query_jobs):
    job = submit(query_jobs)
    assert query_jobs.result(job, 0.05)[0].state is JobState.QUEUED
    query_jobs.claim(job)
    assert query_jobs.result(job, 0.05)[0].state is JobState.RUNNING


def test_nothing_of_a_job_stays_for_ever(query_jobs, client, queue):
    done, batch = submit(query_jobs), submit(query_jobs, *range(SLICE + 1))
    open_, slow = submit(query_jobs), submit(query_jobs, slow=True)
    for job in (done, batch, slow):
        run_job(query_jobs, echo, job)
    keys = client.keys("gm:query:*")
    assert {key.split(":")[2] for key in keys} == {done, batch, open_, slow}
    assert all(0 < client.ttl(key) <= 3_631 for key in keys)


def test_a_forgotten_job_is_unknown(query_jobs, client):
    job = submit(query_jobs)
    run_job(query_jobs, echo, job)
    query_jobs.forget(job)
    assert query_jobs.status(job) == JobStatus(JobState.UNKNOWN)
    assert client.keys("*") == []


def test_a_job_that_was_forgotten_while_it_ran_leaves_nothing(query_jobs, client):
    job = submit(query_jobs)
    claim = query_jobs.claim(job)
    query_jobs.forget(job)
    query_jobs.end(claim, [{"ok": {}}])
    assert client.keys("*") == []
    assert query_jobs.claim(job) is None


def test_an_unknown_job_is_told_from_a_bad_id(query_jobs):
    assert query_jobs.result("0" * 24, 5)[0].state is JobState.UNKNOWN
    for bad in ("", "0" * 23, "x" * 24, "0" * 24 + "\n", "*"):
        with pytest.raises(QueryInvalid, match="no id of a job"):
            query_jobs.status(bad)


def test_what_no_job_can_carry_is_refused(query_jobs, queue):
    with pytest.raises(QueryInvalid, match=f"1 to {MAX_BATCH} questions"):
        query_jobs.submit_batch("retrieve", [], timeout_s=1)
    with pytest.raises(QueryInvalid, match="bytes"):
        query_jobs.submit("check", {"draft": "x" * MAX_BYTES}, timeout_s=1)
    with pytest.raises(QueryInvalid, match="plain JSON"):
        query_jobs.submit("check", {"draft": object()}, timeout_s=1)
    for seconds in (0, -1, float("nan"), 1e9):
        with pytest.raises(QueryInvalid, match="seconds"):
            query_jobs.submit("check", {}, timeout_s=seconds)
    assert queue == []


def test_a_reply_that_is_too_long_is_an_error_that_says_so(query_jobs):
    job = submit(query_jobs)
    run_job(query_jobs, lambda kind, arguments: {"text": "x" * MAX_BYTES}, job)
    status, (reply,) = query_jobs.result(job, 0)
    assert (status.state, reply["error"]) == (JobState.FAILED, "QueryInvalid")
    assert "ask for less" in reply["message"]


@pytest.mark.parametrize("text", ["größer", "\ud800 alone", "\x00\x1f", "]]>\\u0000", "𝔘"])
def test_any_text_comes_and_goes_unchanged(query_jobs, text):
    job = query_jobs.submit("retrieve", {"question": text}, timeout_s=5)
    run_job(query_jobs, echo, job)
    assert query_jobs.result(job, 0)[1][0]["ok"]["question"] == text


def test_a_job_whose_message_cannot_be_sent_leaves_nothing(query_jobs, queue, client):
    queue.broken = True
    with pytest.raises(ConnectionError):
        submit(query_jobs)
    assert client.keys("*") == []


def test_an_unreachable_redis_is_an_error_that_says_so(queue):
    with redis.Redis(port=1, decode_responses=True, retry=Retry(NoBackoff(), 0)) as client:
        unreachable = QueryJobs(client, queue.send, lambda: 1)
        with pytest.raises(LedgerUnavailable):
            submit(unreachable)
        with pytest.raises(LedgerUnavailable):
            unreachable.result("0" * 24, 1)
    assert queue == []
