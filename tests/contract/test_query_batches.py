"""Jobs of many questions beside quick ones, on both kinds of Redis."""

from asked_jobs import echo, submit

from pipeline.errors import QueryInvalid
from scheduler import job_runs
from scheduler.job_runs import run_job
from scheduler.jobs import SLICE, JobState


def test_a_batch_is_answered_in_slices_that_let_others_in_between(query_jobs, queue):
    batch = submit(query_jobs, *range(SLICE * 2 + 1))
    order = []
    run_job(query_jobs, echo, batch)
    single = submit(query_jobs, "single")
    while queue:
        order.append(queue.pop(0)[0])
        run_job(query_jobs, echo, order[-1])
    assert order.index(single) < len(order) - 1 - order[::-1].index(batch)
    status, replies = query_jobs.result(batch, 0)
    assert (status.state, status.done, status.total) == (JobState.DONE, 33, 33)
    assert [reply["ok"]["number"] for reply in replies] == list(range(33))


def test_a_slow_batch_lets_others_in_after_each_second(query_jobs, monkeypatch):
    monkeypatch.setattr(job_runs, "SLICE_SECONDS", 0)
    batch = submit(query_jobs, 1, 2, 3)
    run_job(query_jobs, echo, batch)
    assert query_jobs.status(batch).done == 1
    assert query_jobs.status(batch).state is JobState.QUEUED


def test_a_question_of_a_batch_that_is_refused_harms_no_other(query_jobs):
    def odd(kind, arguments):
        if arguments["number"] % 2:
            raise QueryInvalid("even ones only")
        return arguments

    batch = submit(query_jobs, 0, 1, 2)
    run_job(query_jobs, odd, batch)
    status, replies = query_jobs.result(batch, 0)
    assert status.state is JobState.DONE
    assert [sorted(reply) for reply in replies] == [["ok"], ["error", "message"], ["ok"]]


def test_a_batch_whose_worker_died_goes_on_after_its_last_slice(query_jobs, travel):
    batch = submit(query_jobs, *range(SLICE + 2), timeout_s=60)
    run_job(query_jobs, echo, batch)
    query_jobs.claim(batch)
    travel(batch, 7)
    query_jobs.status(batch)
    run_job(query_jobs, echo, batch)
    _, replies = query_jobs.result(batch, 0)
    assert [reply["ok"]["number"] for reply in replies] == list(range(SLICE + 2))


def test_a_batch_of_one_is_a_batch(query_jobs):
    batch = query_jobs.submit_batch("retrieve", [{"number": 1}], timeout_s=5)
    run_job(query_jobs, lambda kind, arguments: 1 / 0, batch)
    status, (reply,) = query_jobs.result(batch, 0)
    assert (status.state, status.batch, reply["error"]) == (JobState.DONE, True, "JobFailed")
