"""What a person does with runs, on the quick double and on a real Redis."""

import re

import fakeredis
import pytest

from scheduler.errors import LedgerUnavailable, RunOver
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.states import FileState, RunState
from scheduler.verbs import RunVerbs
from scheduler.workers import Offer, Workers


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


@pytest.fixture
def verbs(client, ledger):
    return RunVerbs(client, ledger)


def submit(ledger, count, **options):
    run = ledger.open_run("kb", "/files", finalize="never", options={}, **options)
    ledger.append(run, 0, [NewFile(f"f{i}", 1) for i in range(count)])
    ledger.seal(run)
    return run


def take(ledger, max_files=20):
    return ledger.take(window=9, max_files=max_files, max_bytes=10_000, spread=1)


def end(ledger, batch, outcome, holder="h"):
    files = ledger.claim(batch, "load", holder, "w")
    ledger.settle(batch.run, holder, ended={f.index: outcome for f in files})


def add_up(status):
    return status.total == status.pending + status.in_flight + status.ended


def test_a_paused_run_hands_out_nothing_until_it_goes_on(ledger, verbs):
    run = submit(ledger, 3)
    batch = take(ledger, 1)
    assert verbs.pause(run, "by hand").reason == "by hand"
    assert take(ledger) is None
    assert ledger.claim(batch, "load", "h", "w") == [], "a queued message finds its run paused"
    status = ledger.status(run)
    assert (status.pending, status.in_flight) == (3, 0)
    assert verbs.go_on(run).state is RunState.RUNNING
    assert sorted(take(ledger).files) == [0, 1, 2]


def test_work_in_hand_ends_its_stage_while_the_run_is_paused(ledger, verbs):
    run = submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    verbs.pause(run, "")
    assert ledger.renew(run, "h", [0]) == []
    assert ledger.settle(run, "h", ended={0: Outcome(FileState.WRITTEN)}) == []
    assert ledger.status(run).state is RunState.DONE


def test_cancelling_ends_what_waits_and_keeps_what_is_finished(ledger, verbs):
    run = submit(ledger, 2500)
    end(ledger, take(ledger, 2), Outcome(FileState.WRITTEN))
    queued = take(ledger, 5)
    while verbs.cancel(run) if not ledger.status(run).over else 0:
        assert add_up(ledger.status(run))
    status = ledger.status(run)
    assert status.state is RunState.CANCELLED
    assert (status.counts["written"], status.counts["cancelled"]) == (2, 2498)
    assert ledger.claim(queued, "load", "late", "w") == []


def test_a_file_in_hand_of_a_cancelled_run_ends_with_its_stage(ledger, verbs):
    run = submit(ledger, 2)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    verbs.cancel(run)
    assert ledger.renew(run, "h", [0, 1]) == [0, 1], "the worker learns that it need not go on"
    assert ledger.status(run).state is RunState.CANCELLING
    ledger.settle(run, "h", passed={0: {}}, ended={1: Outcome(FileState.UNCHANGED)})
    status = ledger.status(run)
    assert status.state is RunState.CANCELLED
    assert (status.counts["cancelled"], status.counts["unchanged"]) == (1, 1)


def bring_to_write(ledger, batch):
    for stage in ("load", "chunk", "extract"):
        ledger.claim(batch, stage, stage, "w")
        ledger.settle(batch.run, stage, passed={index: {} for index in batch.files})
    return ledger.claim(batch, "write", "writer", "w")


def test_what_a_half_written_file_left_is_removed_before_its_outcome(client, verbs):
    ledger = Ledger(client, lease_ms=0, queue_ttl_ms=60_000, max_starts=3)
    run = submit(ledger, 1)
    bring_to_write(ledger, take(ledger))
    verbs.cancel(run)
    ledger.sweep(run)
    assert ledger.status(run).ended == 0
    removal = take(ledger)
    assert removal.discard
    ledger.claim(removal, "discard", "d", "w")
    ledger.settle(run, "d", ended={0: Outcome(FileState.CANCELLED, "cancelled")})
    assert ledger.status(run).state is RunState.CANCELLED


def test_the_removal_of_what_a_cancelled_run_left_keeps_its_claim(client, verbs):
    ledger = Ledger(client, lease_ms=0, queue_ttl_ms=60_000, max_starts=3)
    run = submit(ledger, 1)
    bring_to_write(ledger, take(ledger))
    verbs.cancel(run)
    assert ledger.renew(run, "writer", [0]) == [0]
    ledger.sweep(run)
    patient = Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
    assert ledger.claim(take(ledger), "discard", "d", "w"), "its claim is over at once, unless it is renewed"
    assert patient.renew(run, "d", [0]) == []
    assert patient.sweep(run) == (0, 0, 0)
    assert patient.settle(run, "d", ended={0: Outcome(FileState.CANCELLED, "cancelled")}) == []


WRITE_BEGAN = [
    (Outcome(FileState.WRITTEN), "done"),
    (Outcome(FileState.FAILED, "internal_error", stage="write"), "done"),
    (Outcome(FileState.SKIPPED, "empty_document", stage="write"), "done"),
    (None, "done"),
    (Outcome(FileState.CANCELLED, "cancelled", stage="discard"), "cancelled"),
    (Outcome(FileState.FAILED, "graph_rejected", stage="discard"), "cancelled"),
]


@pytest.mark.parametrize(("outcome", "last"), WRITE_BEGAN)
@pytest.mark.parametrize("finalize", ["auto", "never"])
def test_a_graph_is_finalized_after_each_write_that_began_whatever_came_of_it(client, verbs, finalize, outcome, last):
    """Half a document, and what its removal leaves, are pending as a whole one is; None: its worker died."""
    ledger = Ledger(client, lease_ms=0, queue_ttl_ms=60_000, max_starts=1)
    run = ledger.open_run("kb", "/files", finalize=finalize, options={})
    ledger.append(run, 0, [NewFile("a.txt", 1)])
    ledger.seal(run)
    bring_to_write(ledger, take(ledger))
    holder = "writer"
    if last == "cancelled":
        verbs.cancel(run)
        ledger.sweep(run)
        ledger.claim(take(ledger), "discard", holder := "remover", "w")
    if outcome is None:
        assert ledger.sweep(run) == (0, 0, 1)
    else:
        ledger.settle(run, holder, ended={0: outcome})
    finalizes = FinalizeLedger(client, ttl_ms=60_000)
    if finalize == "never":
        assert ledger.status(run).state == last
        assert finalizes.begin("kb") == 0
        assert client.hget("gm:graph:kb", "writes") == "1", "the next run has it finalized"
        return
    assert ledger.status(run).state is RunState.FINALIZING
    number = finalizes.begin("kb")
    assert finalizes.serving("kb") == [run]
    finalizes.end(Shard("kb", number, Phase.PLAN, 0), "stopped")
    assert ledger.status(run).state == last


def test_a_file_that_was_cancelled_or_failed_before_its_write_needs_no_finalize(client, ledger, verbs):
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    ledger.append(run, 0, [NewFile(f"{i}.txt", 1) for i in range(3)])
    ledger.seal(run)
    end(ledger, take(ledger, 1), Outcome(FileState.FAILED, "corrupt", stage="load"), "first")
    ledger.claim(take(ledger, 1), "load", "h", "w")
    verbs.cancel(run)
    ledger.settle(run, "h", passed={1: {}})
    assert ledger.status(run).state is RunState.CANCELLED


def test_an_interrupted_listing_can_be_cancelled(ledger, verbs):
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile("a", 1)])
    verbs.cancel(run)
    assert ledger.status(run).state is RunState.CANCELLED


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_a_run_that_is_over_refuses_verbs_with_its_state(ledger, verbs, verb):
    run = submit(ledger, 0)
    with pytest.raises(RunOver, match="done"):
        verbs.pause(run, "") if verb == "pause" else verbs.cancel(run)


def test_failed_files_are_tried_again_all_or_by_code(ledger, verbs):
    run = submit(ledger, 3)
    for code in ("corrupt", "timeout"):
        end(ledger, take(ledger, 1), Outcome(FileState.FAILED, code), code)
    end(ledger, take(ledger, 1), Outcome(FileState.WRITTEN))
    assert ledger.status(run).state is RunState.DONE
    assert verbs.retry(run, "timeout") == 1
    status = ledger.status(run)
    assert (status.state, status.failed, status.pending) == (RunState.RUNNING, 1, 1)
    end(ledger, take(ledger), Outcome(FileState.WRITTEN), "again")
    assert verbs.retry(run) == 1
    end(ledger, take(ledger), Outcome(FileState.WRITTEN), "again2")
    assert ledger.status(run).counts["written"] == 3


def test_a_cancelled_run_is_not_tried_again(ledger, verbs):
    run = submit(ledger, 1)
    verbs.cancel(run)
    with pytest.raises(RunOver, match="cancelled"):
        verbs.retry(run)


def test_a_run_whose_files_mostly_fail_pauses_and_says_why(ledger, verbs):
    run = submit(ledger, 40, most_failed=0.5)
    for i in range(19):
        end(ledger, take(ledger, 1), Outcome(FileState.FAILED, "corrupt"), f"h{i}")
    assert ledger.status(run).state is RunState.RUNNING, "too few to judge"
    end(ledger, take(ledger, 1), Outcome(FileState.FAILED, "corrupt"), "last")
    status = ledger.status(run)
    assert status.state is RunState.PAUSED
    assert status.reason == "20 of 20 files failed, more than the limit of 50 %"
    verbs.go_on(run)
    end(ledger, take(ledger, 1), Outcome(FileState.FAILED, "corrupt"), "more")
    assert ledger.status(run).state is RunState.RUNNING, "who lets it go on has looked"


def test_a_higher_priority_goes_first(ledger):
    submit(ledger, 3)
    urgent = submit(ledger, 2, priority=1)
    assert [take(ledger, 1).run for _ in range(2)] == [urgent, urgent]


def test_runs_that_ended_long_ago_are_forgotten_with_all_their_keys(ledger, verbs, client):
    old, new = submit(ledger, 1500), submit(ledger, 1)
    verbs.cancel(old)
    verbs.go_on_cancelling(old)
    client.zadd("gm:ended", {old: 1000})
    assert verbs.expire(3600) == 1
    assert [s.run for s in ledger.runs()] == [new]
    assert [key for key in client.keys("gm:run:*") if old in key] == []


def test_what_a_file_waits_for_and_how_long_its_stages_took_is_told(ledger):
    run = submit(ledger, 2)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "worker-1")
    why = {"code": "graph_unavailable", "message": "The graph is loading."}
    ledger.settle(
        run, "h", ended={0: Outcome(FileState.WRITTEN)}, deferred={1: 60.0}, seconds={0: 1.5, 1: 2.5}, errors={1: why}
    )
    first, second = ledger.files(run)
    assert (first.details["times"], first.details["worker"]) == ({"load": 1.5}, "worker-1")
    assert (second.state, second.code, second.message) == ("waiting", "graph_unavailable", "The graph is loading.")
    assert second.details["defers"] == 1


def test_memory_is_never_above_the_mark_without_a_limit_and_told_with_one(redis_client):
    verbs = RunVerbs(redis_client, Ledger(redis_client, lease_ms=1, queue_ttl_ms=1, max_starts=1))
    before = redis_client.config_get("maxmemory")["maxmemory"]
    try:
        redis_client.config_set("maxmemory", 0)
        assert not verbs.memory(0.0001).above_mark
        redis_client.config_set("maxmemory", 512 * 2**20)
        assert not verbs.memory(0.9).above_mark
        full = verbs.memory(0.0001)
        assert full.above_mark
        assert re.fullmatch(r"Redis holds \d+ of 512 MB, above the mark of 0%", str(full))
    finally:
        redis_client.config_set("maxmemory", before)


def test_a_full_redis_is_told_from_a_silent_one_and_is_no_fault(redis_client, monkeypatch):
    monkeypatch.setattr("scheduler.scripts.PATIENCE_SECONDS", 0.0)
    ledger = Ledger(redis_client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
    run = submit(ledger, 1)
    before = redis_client.config_get("maxmemory")["maxmemory"]
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(LedgerUnavailable, match="is full"):
            RunVerbs(redis_client, ledger).pause(run, "by hand")
    finally:
        redis_client.config_set("maxmemory", before)
    assert RunVerbs(redis_client, ledger).pause(run, "by hand").state is RunState.PAUSED


def test_graphs_whose_names_hold_colons_keep_apart(client, ledger):
    finalizes = FinalizeLedger(client, ttl_ms=60_000)
    runs = []
    for graph in ("a:waiting", "a", "a%3Awaiting"):
        run = ledger.open_run(graph, "/", finalize="auto", options={})
        ledger.append(run, 0, [NewFile("f", 1)])
        ledger.seal(run)
        end(ledger, take(ledger), Outcome(FileState.WRITTEN), f"h{graph}")
        runs.append(run)
    assert finalizes.graphs() == ["a", "a%3Awaiting", "a:waiting"]
    for graph, run in zip(("a:waiting", "a", "a%3Awaiting"), runs, strict=True):
        assert finalizes.begin(graph) == 1
        assert finalizes.serving(graph) == [run]
        assert finalizes.status(graph).state == "running"


def test_workers_of_an_earlier_release_are_still_understood(client):
    workers = Workers(client)
    workers.announce("now@here", ["load"], 2, 1, Offer("store", ("spacy-rules",), "bundled"))
    seconds, _ = client.time()
    client.hset("gm:workers", "then@here", f'{{"queues": ["load"], "processes": 1, "pid": 7, "seen": {seconds}}}')
    assert [(w.name, w.offer) for w in workers.living()] == [
        ("now@here", Offer("store", ("spacy-rules",), "bundled")),
        ("then@here", Offer()),
    ]
