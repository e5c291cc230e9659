"""The ledger's rules, on the quick double and on a real Redis."""

import fakeredis
import pytest
import redis

from scheduler.errors import LedgerUnavailable, RunNotFound, RunNotOpen
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Op, Outcome
from scheduler.states import FileState, RunState


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


def hurried(client, **kw):
    return Ledger(client, **{"lease_ms": 60_000, "queue_ttl_ms": 60_000, "max_starts": 3, **kw})


def submit(ledger, count, size=10, finalize="auto"):
    run = ledger.open_run("kb", "/files", finalize=finalize, options={})
    ledger.append(run, 0, [NewFile(f"f{i}.txt", size) for i in range(count)])
    ledger.seal(run)
    return run


def take(ledger, **kw):
    return ledger.take(**{"window": 8, "max_files": 20, "max_bytes": 256_000, "spread": 1, **kw})


def write_all(ledger, batch, holder="h"):
    files = ledger.claim(batch, "load", holder, "w")
    ledger.settle(batch.run, holder, ended={f.index: Outcome(FileState.WRITTEN) for f in files})
    return files


def counts_add_up(status):
    return status.total == status.pending + status.in_flight + status.ended


def test_a_run_goes_from_open_over_running_to_finalizing(ledger):
    run = ledger.open_run("kb", "/files", finalize="auto", options={"a": 1})
    assert ledger.status(run).state is RunState.OPEN
    assert take(ledger) is None
    ledger.append(run, 0, [NewFile("a.txt", 3)])
    assert ledger.seal(run) is RunState.RUNNING
    write_all(ledger, take(ledger))
    status = ledger.status(run)
    assert status.state is RunState.FINALIZING
    assert status.counts["written"] == 1
    assert status.options == {"a": 1}
    assert counts_add_up(status)


def test_a_run_without_files_is_done_at_once(ledger):
    assert ledger.seal(ledger.open_run("kb", "/files", finalize="auto", options={})) is RunState.DONE


def test_a_run_that_wrote_nothing_needs_no_finalize(ledger):
    run = submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    ledger.settle(run, "h", ended={0: Outcome(FileState.UNCHANGED)})
    assert ledger.status(run).state is RunState.DONE


def test_an_unknown_run_is_named_in_the_error(ledger):
    with pytest.raises(RunNotFound, match=r"nope.*graphmill runs"):
        ledger.status("nope")


def test_the_run_that_was_meant_is_suggested(ledger):
    run = submit(ledger, 1)
    for typo in (run[:-1] + "z", run + "0", run[-6:], run[:-2]):
        with pytest.raises(RunNotFound, match=f"Did you mean {run}"):
            ledger.status(typo)
    for other in ("20200101-000000-000000", run[0], ""):
        with pytest.raises(RunNotFound) as caught:
            list(ledger.files(other))
        assert ("Did you mean" in str(caught.value)) is (other == run[0])


@pytest.mark.parametrize("part", [":clock", ":active", ":manifest:0", " ", "\n", "\udcff"])
def test_the_key_of_a_part_of_a_run_is_no_run(ledger, part):
    run = submit(ledger, 1)
    take(ledger)
    for read in (ledger.status, lambda name: list(ledger.files(name))):
        with pytest.raises(RunNotFound):
            read(run + part)


def test_a_repeated_append_adds_nothing(ledger):
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    files = [NewFile("a.txt", 1), NewFile("b.txt", 1)]
    assert ledger.append(run, 0, files) == 2
    assert ledger.append(run, 0, files) == 2
    assert ledger.append(run, 2, [NewFile("c.txt", 1)]) == 3


def test_a_sealed_run_takes_no_more_files(ledger):
    run = submit(ledger, 1)
    with pytest.raises(RunNotOpen):
        ledger.append(run, 1, [NewFile("b.txt", 1)])


def test_an_interrupted_listing_can_start_again(ledger):
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    ledger.append(run, 0, [NewFile("a", 1), NewFile("b", 1, Outcome(FileState.SKIPPED, "unsupported_format"))])
    listing = ledger.clear_open(run)
    assert ledger.append(run, 0, [NewFile("c", 1)], listing=listing) == 1
    status = ledger.status(run)
    assert (status.total, status.ended) == (1, 0)


def test_files_with_a_known_fate_are_never_dispatched(ledger):
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    bad = Outcome(FileState.SKIPPED, "unsupported_format", "No reader takes .png files.")
    ledger.append(run, 0, [NewFile("a.png", 1, bad), NewFile("b.txt", 1), NewFile("c.png", 1, bad)])
    ledger.seal(run)
    assert take(ledger).files == (1,)
    assert take(ledger) is None


def test_batches_are_bounded_by_files_and_by_bytes(ledger):
    run = submit(ledger, 10, size=100)
    assert take(ledger, max_files=4).files == (0, 1, 2, 3)
    assert take(ledger, max_bytes=250).files == (4, 5)
    assert take(ledger, max_bytes=10).files == (6,)
    assert counts_add_up(ledger.status(run))


def test_the_tail_of_a_run_is_spread_over_the_workers(ledger):
    submit(ledger, 40)
    assert len(take(ledger, spread=4).files) == 10
    assert len(take(ledger, spread=40).files) == 4, "four at least: a message costs as much as a small file"


def test_the_window_bounds_what_is_in_flight_over_all_runs(ledger):
    submit(ledger, 5)
    submit(ledger, 5)
    taken = [take(ledger, window=3, max_files=1) for _ in range(4)]
    assert [b is None for b in taken] == [False, False, False, True]
    write_all(ledger, taken[0])
    assert take(ledger, window=3, max_files=1) is not None


def test_runs_that_are_submitted_together_all_advance(ledger):
    long, short = submit(ledger, 100), submit(ledger, 2)
    taken = [take(ledger, max_files=1).run for _ in range(4)]
    assert taken.count(long) == 2
    assert taken.count(short) == 2


def test_a_claimed_file_is_refused_to_a_second_holder(ledger):
    submit(ledger, 2)
    batch = take(ledger)
    assert len(ledger.claim(batch, "load", "first", "w")) == 2
    assert ledger.claim(batch, "load", "second", "w") == []


def test_a_repeated_claim_of_the_same_holder_counts_one_start(ledger):
    submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    assert ledger.claim(batch, "load", "h", "w")[0].starts == 1


def test_a_file_passes_its_reference_from_stage_to_stage(ledger):
    submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    ledger.settle(batch.run, "h", passed={0: {"text": "é"}})
    claimed = ledger.claim(batch, "chunk", "h2", "w")
    assert claimed[0].ref == {"text": "é"}
    assert claimed[0].starts == 1


def test_the_first_outcome_stands_and_is_counted_once(ledger):
    run = submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    assert ledger.settle(run, "h", ended={0: Outcome(FileState.WRITTEN)}) == []
    assert ledger.settle(run, "h", ended={0: Outcome(FileState.WRITTEN)}) == []
    assert ledger.settle(run, "other", ended={0: Outcome(FileState.FAILED, "x")}) == [0]
    assert {state: n for state, n in ledger.status(run).counts.items() if n} == {"written": 1}


def test_a_message_that_nobody_claims_is_dispatched_again(client):
    ledger = hurried(client, queue_ttl_ms=0)
    run = submit(ledger, 1)
    old = take(ledger)
    assert ledger.sweep(run) == (1, 0, 0)
    new = take(ledger)
    assert new.files == old.files
    assert ledger.claim(old, "load", "late", "w") == [], "the older message is stale"
    assert len(ledger.claim(new, "load", "h", "w")) == 1


def test_files_of_a_worker_that_vanished_go_round_again_alone(client):
    ledger = hurried(client, lease_ms=0)
    run = submit(ledger, 3)
    ledger.claim(take(ledger), "load", "h", "w")
    assert ledger.sweep(run) == (0, 3, 0)
    assert [len(take(ledger).files) for _ in range(3)] == [1, 1, 1]


def test_a_file_that_keeps_killing_its_worker_is_a_dead_letter(client):
    ledger = hurried(client, lease_ms=0)
    run = submit(ledger, 1)
    for _ in range(3):
        assert len(ledger.claim(take(ledger), "load", "h", "w")) == 1
        swept = ledger.sweep(run)
    assert swept == (0, 0, 1)
    report = next(ledger.files(run))
    assert (report.state, report.code) == ("failed", "worker_lost")
    assert "died 3 times" in report.message
    assert ledger.status(run).state is RunState.DONE


def test_starts_that_end_by_themselves_are_not_counted(ledger):
    run = submit(ledger, 1)
    for _ in range(10):
        batch = take(ledger)
        assert ledger.claim(batch, "load", "h", "w")[0].starts == 1
        ledger.settle(run, "h", deferred={0: 0.0})
    assert ledger.status(run).failed == 0


def test_a_deferred_file_waits_until_it_is_due(ledger):
    run = submit(ledger, 1)
    ledger.claim(take(ledger), "load", "h", "w")
    ledger.settle(run, "h", deferred={0: 1000.0})
    assert take(ledger) is None
    status = ledger.status(run)
    assert (status.pending, status.in_flight) == (1, 0)


def test_waits_for_the_same_thing_in_a_row_are_counted(ledger):
    run = submit(ledger, 1)
    seen = []
    for number, code in enumerate(("away", "away", "other", None, "other")):
        (f,) = ledger.claim(take(ledger), "load", f"h{number}", "w")
        seen.append((f.waited_for, f.waits, f.defers))
        errors = {0: {"code": code, "message": ""}} if code else {}
        ledger.settle(run, f"h{number}", deferred={0: 0.0}, errors=errors)
    assert seen == [("", 0, 0), ("away", 1, 1), ("away", 2, 2), ("other", 1, 3), ("other", 1, 4)]


SMALL, LARGE = 10, 100_000


def test_a_small_run_beside_a_huge_one_ends_within_about_a_window(ledger):
    """Batches in flight are worked off in the order of their dispatch, as workers do."""
    window = 12
    huge = ledger.open_run("kb", "/files", finalize="never", options={})
    for first in range(0, LARGE, 1000):
        ledger.append(huge, first, [NewFile(f"f{i}.txt", 10) for i in range(first, first + 1000)])
    ledger.seal(huge)

    def fill():
        return list(iter(lambda: take(ledger, window=window, spread=8), None))

    flying = fill()
    assert len(flying) == window
    small = submit(ledger, SMALL, finalize="never")
    assert fill() == [], "the window is full when the small run comes"
    dispatched = 0
    while ledger.status(small).state is not RunState.DONE:
        write_all(ledger, flying.pop(0), f"h{dispatched}")
        sent = fill()
        flying += sent
        dispatched += sum(len(batch.files) for batch in sent if batch.run == huge)
    assert dispatched <= window * 20
    status = ledger.status(huge)
    assert status.state is RunState.RUNNING
    assert status.ended <= (window + 3) * 20
    assert counts_add_up(status)


def test_a_holder_that_lost_its_lease_decides_nothing(client):
    ledger = hurried(client, lease_ms=0)
    run = submit(ledger, 1)
    ledger.claim(take(ledger), "load", "slow", "w")
    ledger.sweep(run)
    assert ledger.renew(run, "slow", [0]) == [0]
    assert ledger.settle(run, "slow", ended={0: Outcome(FileState.FAILED, "x")}) == [0]
    assert ledger.status(run).ended == 0


def test_a_renewed_lease_is_not_swept(ledger):
    run = submit(ledger, 1)
    ledger.claim(take(ledger), "load", "h", "w")
    assert ledger.renew(run, "h", [0]) == []
    assert ledger.sweep(run) == (0, 0, 0)


def test_a_file_that_the_graph_lost_goes_round_again(ledger):
    run = submit(ledger, 2)
    write_all(ledger, take(ledger))
    assert ledger.reopen(run, [1], FileState.WRITTEN) == 1
    status = ledger.status(run)
    assert status.state is RunState.RUNNING
    assert (status.counts["written"], status.pending) == (1, 1)
    write_all(ledger, take(ledger), "again")
    assert ledger.status(run).state is RunState.FINALIZING


def test_the_report_has_one_line_a_file_in_order_over_segments(ledger):
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    names = [f"f{i:05d}" for i in range(2500)]
    for first in range(0, 2500, 700):
        ledger.append(run, first, [NewFile(name, 1) for name in names[first : first + 700]])
    ledger.seal(run)
    batch = take(ledger)
    write_all(ledger, batch)
    reports = list(ledger.files(run))
    assert [r.relative for r in reports] == names
    assert [r.state for r in reports[:21]] == ["written"] * 20 + ["pending"]
    assert len(list(ledger.files(run, [FileState.WRITTEN]))) == 20


def test_runs_are_listed_newest_first(ledger, client):
    runs = [submit(ledger, 1) for _ in range(3)]
    for age, run in enumerate(runs):
        client.zadd("gm:runs", {run: age})
    assert [s.run for s in ledger.runs()] == runs[::-1]


def test_a_message_that_comes_twice_does_not_undo_the_stages_after_it(ledger):
    submit(ledger, 1)
    batch = take(ledger)
    ledger.claim(batch, "load", "h", "w")
    ledger.settle(batch.run, "h", passed={0: {"text": "a"}})
    assert ledger.claim(batch, "load", "again", "w") == []
    assert ledger.claim(batch, "extract", "early", "w") == []
    assert len(ledger.claim(batch, "chunk", "h2", "w")) == 1


def test_files_that_were_overdue_together_go_round_again_alone(ledger):
    run = submit(ledger, 2)
    ledger.claim(take(ledger), "load", "h", "w")
    ledger.settle(run, "h", alone={0: 0.0, 1: 0.0})
    assert [len(take(ledger).files) for _ in range(2)] == [1, 1]


def test_a_run_whose_file_is_lost_waits_for_the_next_finalize(ledger, client):
    run = submit(ledger, 1)
    write_all(ledger, take(ledger))
    finalizes = FinalizeLedger(client, ttl_ms=60_000)
    number = finalizes.begin("kb")
    assert finalizes.serving("kb") == [run]
    ledger.reopen(run, [0], FileState.WRITTEN)
    assert finalizes.serving("kb") == []
    write_all(ledger, take(ledger), "again")
    finalizes.end(Shard("kb", number, Phase.PLAN, 0), "stopped")
    assert ledger.status(run).state is RunState.FINALIZING


def test_internal_errors_are_counted_apart_until_their_files_go_round_again(ledger):
    run = submit(ledger, 3)
    ledger.claim(take(ledger), "load", "h", "w")
    ended = {
        0: Outcome(FileState.FAILED, "internal_error"),
        1: Outcome(FileState.FAILED, "corrupt"),
        2: Outcome(FileState.FAILED, "internal_error"),
    }
    for _ in range(2):
        ledger.settle(run, "h", ended=ended)
        status = ledger.status(run)
        assert (status.internal_errors, status.failed) == (2, 3)
    ledger.reopen(run, [0, 1], FileState.FAILED)
    ledger.reopen(run, [0, 1], FileState.FAILED)
    status = ledger.status(run)
    assert (status.internal_errors, status.failed) == (1, 1)
    assert counts_add_up(status)


def test_a_redis_that_does_not_answer_is_a_transient_error():
    closed = redis.Redis(port=1, decode_responses=True, retry=None)
    ledger = Ledger(closed, lease_ms=1, queue_ttl_ms=1, max_starts=3)
    for ask in (ledger.runs, ledger.active_runs, lambda: list(ledger.files("r")), lambda: ledger.status("r")):
        with pytest.raises(LedgerUnavailable):
            ask()


def test_a_listing_that_was_begun_anew_refuses_the_one_before(ledger):
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile("old", 1)])
    second = ledger.clear_open(run)
    with pytest.raises(RunNotOpen, match="lists the run anew"):
        ledger.append(run, 0, [NewFile("late", 1)])
    with pytest.raises(RunNotOpen, match="lists the run anew"):
        ledger.seal(run)
    ledger.append(run, 0, [NewFile("new", 1)], listing=second)
    ledger.seal(run, listing=second)
    assert [report.relative for report in ledger.files(run)] == ["new"]
    with pytest.raises(RunNotOpen, match="sealed"):
        ledger.clear_open(run)
    assert [report.relative for report in ledger.files(run)] == ["new"]
    assert take(ledger).files == (0,)


def test_what_a_file_is_wanted_for_travels_with_it(ledger):
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile("a", 1), NewFile("b", 0, order={"op": "delete", "id": "note"})])
    ledger.seal(run)
    first, second = ledger.claim(take(ledger), "load", "h", "w")
    assert (first.op, first.document) == (Op.INGEST, "file:a")
    assert (second.op, second.document) == (Op.DELETE, "note")
    assert [report.document for report in ledger.files(run)] == ["file:a", "note"]


def test_a_run_carries_what_its_files_are_made_with_and_equal_ones_share_it(ledger, client):
    first, second = (
        ledger.open_run("kb", "/files", finalize="auto", options={}, recipe=("print", '{"a": 1}')) for _ in range(2)
    )
    plain = ledger.open_run("kb", "/files", finalize="auto", options={})
    assert [ledger.recipe(run) for run in (first, second, plain)] == ['{"a": 1}', '{"a": 1}', ""]
    assert client.hlen("gm:recipes") == 1
