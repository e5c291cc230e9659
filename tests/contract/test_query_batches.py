"""Jobs of many questions beside quick ones, on both kinds of Redis."""

from asked_jobs import echo, submit

from pipeline.errors import GraphTimeout, GraphUnavailable, QueryInvalid
from scheduler import job_runs
from scheduler.job_runs import RETRY_SECONDS, run_job
from scheduler.jobs import MAX_STARTS, SLICE, JobState


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
    while not query_jobs.status(batch).state.over:
        run_job(query_jobs, echo, batch)
    _, replies = query_jobs.result(batch, 0)
    assert [reply["ok"]["number"] for reply in replies] == list(range(SLICE + 2))


def test_a_batch_of_one_is_a_batch(query_jobs):
    batch = query_jobs.submit_batch("retrieve", [{"number": 1}], timeout_s=5)
    run_job(query_jobs, lambda kind, arguments: 1 / 0, batch)
    status, (reply,) = query_jobs.result(batch, 0)
    assert (status.state, status.batch, reply["error"]) == (JobState.DONE, True, "JobFailed")


def test_a_question_that_kills_its_workers_takes_no_other_with_it(query_jobs, travel):
    poison, deaths = SLICE + 5, 0
    batch = submit(query_jobs, *range(2 * SLICE), timeout_s=600)
    while (claim := query_jobs.claim(batch)) is not None:
        numbers = [arguments["number"] for arguments in claim.arguments]
        if poison in numbers:
            deaths += 1
            travel(batch, 7)
        else:
            query_jobs.end(claim, [{"ok": number} for number in numbers])
    status, replies = query_jobs.result(batch, 0)
    assert (status.state, deaths) == (JobState.DONE, 1 + MAX_STARTS)
    assert [reply.get("ok", reply.get("error")) for reply in replies] == [
        "JobFailed" if number == poison else number for number in range(2 * SLICE)
    ]


def test_a_batch_waits_for_a_graph_that_is_unavailable_and_goes_on(query_jobs, queue, monkeypatch):
    pauses, down = [], True
    monkeypatch.setattr(job_runs, "sleep", pauses.append)

    def answer(kind, arguments):
        if down and arguments["number"] > 1:
            raise GraphUnavailable("the server is away")
        return arguments

    batch = submit(query_jobs, *range(4), timeout_s=60)
    for pause in ([], [RETRY_SECONDS]):
        queue.clear()
        run_job(query_jobs, answer, batch)
        assert query_jobs.status(batch).done == 2, "what was answered is kept at once"
        assert (pauses, queue.take_all()) == (pause, [batch])
    down = False
    run_job(query_jobs, answer, batch)
    status, replies = query_jobs.result(batch, 0)
    assert status.state is JobState.DONE
    assert [reply["ok"]["number"] for reply in replies] == list(range(4))


def test_a_graph_that_stays_unavailable_is_waited_for_until_the_deadline(query_jobs, travel, monkeypatch):
    monkeypatch.setattr(job_runs, "sleep", lambda seconds: travel(batch, seconds))

    def fail(kind, arguments):
        raise GraphUnavailable("the server is away")

    batch = submit(query_jobs, 0, 1, timeout_s=5)
    for _ in range(4):
        run_job(query_jobs, fail, batch)
    assert query_jobs.result(batch, 0) == (query_jobs.status(batch), [])
    assert query_jobs.status(batch).state is JobState.EXPIRED


def test_a_question_that_took_too_long_does_not_hold_its_batch_up(query_jobs):
    def time_out(kind, arguments):
        raise GraphTimeout("too long")

    batch = submit(query_jobs, 0, 1)
    run_job(query_jobs, time_out, batch)
    assert [reply["error"] for reply in query_jobs.result(batch, 0)[1]] == ["GraphTimeout"] * 2


def test_a_batch_that_expires_keeps_what_was_answered(query_jobs, travel):
    batch = submit(query_jobs, *range(SLICE + 1))
    run_job(query_jobs, echo, batch)
    travel(batch, 31)
    status, replies = query_jobs.result(batch, 0)
    assert (status.state, len(replies)) == (JobState.EXPIRED, SLICE)


def test_a_worker_without_replies_does_not_send_on_what_another_has_taken_up(query_jobs, queue, travel):
    batch = submit(query_jobs, 0, 1, timeout_s=60)
    late = query_jobs.claim(batch)
    travel(batch, 7)
    assert query_jobs.claim(batch)
    queue.take_all()
    query_jobs.end(late, [])
    assert query_jobs.status(batch).state is JobState.RUNNING
    assert queue == []
