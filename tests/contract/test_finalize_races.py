"""One finalize of a graph at a time, however many begin, move and end it at once; on a double and on a real Redis."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler.finalize import PHASES, FinalizeLedger, Phase, Shard, next_phase
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.states import FileState, RunState

CALLERS = 8


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


@pytest.fixture
def finalizes(client):
    return FinalizeLedger(client, ttl_ms=60_000)


@pytest.fixture
def race():
    """Let several threads do one thing at one moment; gives what came of each."""
    with ThreadPoolExecutor(CALLERS) as pool:
        gate = threading.Barrier(CALLERS)

        def start(act):
            def called():
                gate.wait(10)
                return act()

            return [one.result() for one in [pool.submit(called) for _ in range(CALLERS)]]

        yield start


def write_run(ledger):
    """End a run of one file, so that it waits for a finalize."""
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    ledger.append(run, 0, [NewFile("a.txt", 10)])
    ledger.seal(run)
    batch = ledger.take(window=8, max_files=20, max_bytes=256_000, spread=1)
    ledger.claim(batch, "load", run, "w")
    ledger.settle(run, run, ended={0: Outcome(FileState.WRITTEN)})
    return run


def go_through(finalizes, number, race):
    """Take a finalize through its phases, each step by all callers at once."""
    for phase in PHASES:
        shard = Shard("kb", number, phase, 0)
        assert sum(race(lambda shard=shard: finalizes.claim(shard))) == 1
        assert set(race(lambda shard=shard: finalizes.end_shard(shard, {shard.phase.value: 1}))) == {0}
        if following := next_phase(phase):
            assert sum(race(lambda shard=shard, to=following: finalizes.move(shard, to, 1, "seal"))) == 1
    assert sum(race(lambda: finalizes.end(shard))) == 1


@pytest.mark.parametrize("forced", [False, True])
def test_of_many_that_begin_a_finalize_at_once_one_does(forced, ledger, finalizes, race):
    run = write_run(ledger)
    begun = race(lambda: finalizes.begin("kb", forced=forced))
    assert sorted(begun) == [0] * (CALLERS - 1) + [1]
    assert finalizes.serving("kb") == [run]


def test_steps_that_many_make_at_once_are_made_and_counted_once(ledger, finalizes, race):
    run = write_run(ledger)
    go_through(finalizes, finalizes.begin("kb"), race)
    assert finalizes.status("kb").report == {phase.value: 1 for phase in PHASES}
    assert ledger.status(run).state is RunState.DONE
    assert race(lambda: finalizes.begin("kb")) == [0] * CALLERS, "nobody waits any more"


def test_a_run_that_ends_during_a_finalize_is_served_by_the_next_and_none_begins_before(ledger, finalizes, race):
    first = write_run(ledger)
    number = finalizes.begin("kb")
    second = write_run(ledger)
    assert race(lambda: finalizes.begin("kb", forced=True)) == [0] * CALLERS
    go_through(finalizes, number, race)
    assert [ledger.status(run).state for run in (first, second)] == [RunState.DONE, RunState.FINALIZING]
    assert sorted(race(lambda: finalizes.begin("kb"))) == [0] * (CALLERS - 1) + [number + 1]
    assert finalizes.serving("kb") == [second]


def test_no_number_is_given_twice_where_some_begin_while_others_end(finalizes, race):
    def begin_and_end():
        begun = []
        for _ in range(20):
            number = finalizes.begin("kb", forced=True)
            if number:
                begun.append(number)
                # An error ends a finalize in any phase.
                assert finalizes.end(Shard("kb", number, Phase.PLAN, 0), "ended")
        return begun

    numbers = [number for begun in race(begin_and_end) for number in begun]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert finalizes.status("kb").state == "idle"


def test_a_finalize_that_another_release_left_in_a_phase_of_its_own_ends_and_the_next_one_begins(
    ledger, finalizes, client
):
    run = write_run(ledger)
    number = finalizes.begin("kb")
    client.hset("gm:graph:kb", mapping={"phase": "embed", "deadline": 0})
    client.delete("gm:graph:kb:left")
    assert finalizes.redrive("kb") == []
    status = finalizes.status("kb")
    assert (status.state, status.error.split(";")[0]) == ("idle", "another release left it in phase 'embed'")
    assert ledger.status(run).state is RunState.DONE
    assert finalizes.begin("kb", forced=True) == number + 1
