"""Jobs that wait for a language model leave a process to quick ones, on both kinds of Redis; two may run at once."""

import threading

import pytest
from asked_jobs import SLOW_JOBS, lapse_place, submit

from scheduler import jobs
from scheduler.jobs import JobState, JobStatus


@pytest.fixture
def ask(query_jobs):
    """Submit slow jobs; gives their ids."""
    return lambda count: [submit(query_jobs, slow=True, timeout_s=60) for _ in range(count)]


@pytest.fixture
def crowd(query_jobs, queue, ask):
    """Two claims that hold all places, and the ids of two jobs that wait for one, in their order."""
    first, second, *waiting = ask(4)
    claims = [query_jobs.claim(job) for job in (first, second)]
    assert all(claims)
    assert [query_jobs.claim(job) for job in waiting] == [None, None]
    queue.clear()
    return claims, waiting


def forget(query_jobs, travel, job):
    query_jobs.forget(job)


def look_after_deadline(query_jobs, travel, job):
    travel(job, 61)
    assert query_jobs.status(job).state is JobState.EXPIRED


def test_slow_jobs_leave_a_process_to_the_others(query_jobs, queue, client, crowd):
    claims, (third, fourth) = crowd
    assert query_jobs.status(third).state is JobState.QUEUED
    assert query_jobs.claim(submit(query_jobs)), "a quick one has its process"
    queue.clear()
    query_jobs.end(claims[0], [{"ok": {}}])
    assert queue.take_all() == [third], "the one that waits longest is next"
    assert query_jobs.claim(third)
    assert query_jobs.claim(fourth) is None
    assert all(client.ttl(key) > 0 for key in client.keys("*"))


@pytest.mark.parametrize("lose", [forget, look_after_deadline])
def test_a_worker_keeps_its_place_until_its_work_ends_whatever_becomes_of_the_job(
    query_jobs, queue, travel, client, crowd, lose
):
    claims, (third, fourth) = crowd
    places = client.zrange(SLOW_JOBS, 0, -1, withscores=True)
    lose(query_jobs, travel, claims[0].job)
    client.zadd(SLOW_JOBS, dict(places), xx=True)  # its worker is alive
    assert query_jobs.claim(third) is None, "two workers still work"
    queue.clear()
    query_jobs.end(claims[0], [{"ok": {}}])
    assert queue.take_all() == [third]
    assert query_jobs.claim(third)
    assert query_jobs.claim(fourth) is None


@pytest.mark.parametrize("lose", [forget, look_after_deadline])
def test_a_place_is_renewed_also_for_a_job_that_is_lost(query_jobs, travel, client, ask, monkeypatch, lose):
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.3)
    claim = query_jobs.claim(*ask(1))
    lose(query_jobs, travel, claim.job)
    before, pause = client.zscore(SLOW_JOBS, claim.holder), threading.Event()
    with query_jobs.renewing(claim):
        while client.zscore(SLOW_JOBS, claim.holder) <= before:
            pause.wait(0.02)
    query_jobs.end(claim, [{"ok": {}}])
    assert not client.exists(SLOW_JOBS)


def test_a_job_that_another_worker_answered_frees_one_place_for_each_of_its_workers(query_jobs, queue, travel, ask):
    first, *others = ask(4)
    slow = query_jobs.claim(first)
    travel(first, 7)
    quick = query_jobs.claim(first)
    assert query_jobs.claim(others[0])
    assert [query_jobs.claim(job) for job in others[1:]] == [None, None]
    queue.clear()
    query_jobs.end(quick, [{"ok": {}}])
    assert queue.take_all() == [others[1]]
    assert query_jobs.claim(others[1])
    query_jobs.end(slow, [{"ok": {}}])
    assert queue.take_all() == [others[2]], "it is answered, and its worker free"
    assert query_jobs.claim(others[2]) is None, "its place had lapsed, and was given away before"


@pytest.mark.parametrize("lose", [forget, look_after_deadline])
def test_a_place_given_to_a_job_that_is_lost_on_the_way_goes_to_the_next(query_jobs, queue, travel, crowd, lose):
    claims, (third, fourth) = crowd
    query_jobs.end(claims[0], [{"ok": {}}])
    assert queue.take_all() == [third]
    lose(query_jobs, travel, third)
    queue.clear()
    assert query_jobs.claim(third) is None
    assert queue.take_all() == [fourth]
    assert query_jobs.claim(fourth)


def test_a_job_that_is_awake_in_vain_keeps_its_turn(query_jobs, queue, crowd, ask):
    claims, (third, _) = crowd
    query_jobs.end(claims[0], [{"ok": {}}])
    assert queue.take_all() == [third]
    (fresh,) = ask(1)
    assert query_jobs.claim(fresh), "its message was there first"
    assert query_jobs.claim(third) is None
    queue.clear()
    query_jobs.end(claims[1], [{"ok": {}}])
    assert queue.take_all() == [third]


def test_the_end_of_a_slow_job_may_be_told_twice(query_jobs, queue, crowd):
    claims, (third, fourth) = crowd
    query_jobs.end(claims[0], [{"ok": {}}])
    query_jobs.end(claims[0], [{"ok": {}}])
    assert queue.take_all() == [third, fourth]
    assert query_jobs.claim(third)
    assert query_jobs.claim(fourth) is None
    assert query_jobs.status(fourth).state is JobState.QUEUED


def test_the_place_of_a_slow_job_whose_worker_died_is_free_again(query_jobs, client, crowd):
    claims, (third, fourth) = crowd
    lapse_place(client, claims[0].holder, 7)
    assert query_jobs.claim(third)
    assert query_jobs.claim(fourth) is None


def test_what_waits_for_a_place_and_is_lost_is_passed_over(query_jobs, queue, travel, crowd):
    claims, (third, fourth) = crowd
    travel(third, 61)
    query_jobs.end(claims[1], [{"ok": {}}])
    assert queue.take_all() == [fourth]


def test_a_slow_batch_gives_its_place_up_between_its_slices(query_jobs, queue, ask):
    batch = submit(query_jobs, 1, 2, slow=True, timeout_s=60)
    claim, other = query_jobs.claim(batch), query_jobs.claim(*ask(1))
    assert other
    (waiting,) = ask(1)
    assert query_jobs.claim(waiting) is None
    queue.clear()
    query_jobs.end(claim, [{"ok": {}}])
    assert queue.take_all() == [waiting, batch]
    assert query_jobs.claim(waiting)
    assert query_jobs.claim(batch) is None


def test_a_job_that_was_forgotten_leaves_no_place(query_jobs, client, ask):
    claim = query_jobs.claim(*ask(1))
    query_jobs.forget(claim.job)
    query_jobs.end(claim, [{"ok": {}}])
    assert client.keys("*") == []
    assert query_jobs.status(claim.job) == JobStatus(JobState.UNKNOWN)


def test_a_job_whose_message_could_not_be_sent_is_the_first_to_get_the_next_place(query_jobs, queue, client, crowd):
    (first, second), (third, _) = crowd
    queue.broken = True
    with pytest.raises(ConnectionError):
        query_jobs.end(first, [{"ok": {}}])
    queue.broken = False
    query_jobs.end(second, [{"ok": {}}])
    assert queue.take_all() == [third]
    assert all(client.ttl(key) > 0 for key in client.keys("*"))
