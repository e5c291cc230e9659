"""What a run tells of its paid passages when files go round again, on the quick double and on a real Redis."""

import fakeredis
import pytest

from pipeline.models import Usage
from scheduler.ledger import Ledger
from scheduler.records import Budget, NewFile, Outcome, Spent, Terms
from scheduler.states import FileState, RunState
from scheduler.verbs import RunVerbs

PARTIAL = Outcome(FileState.WRITTEN, "partial", details={"chunks": 4, "chunks_unread": 1, "unread": {"timeout": 1}})
WHOLE = Outcome(FileState.UPDATED, details={"chunks": 4})
READ = {0: Spent(1, Usage(1, 100, 20, 0.003))}


@pytest.fixture(params=["double", "real"])
def ledger(request):
    double = request.param == "double"
    client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4)) if double else None
    return Ledger(client or request.getfixturevalue("redis_client"), lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


@pytest.fixture
def run(ledger):
    run = ledger.open_run("kb", "/", finalize="never", options={}, terms=Terms(Budget(), 20))
    ledger.append(run, 0, [NewFile("a.md", 1)])
    ledger.seal(run)
    return run


def end(ledger, run, outcome):
    batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
    ledger.claim(batch, "load", "h", "w")
    ledger.settle(run, "h", ended={0: outcome}, spent=READ)


def test_passages_of_a_file_that_is_tried_again_are_counted_once(ledger, run):
    end(ledger, run, PARTIAL)
    status = ledger.status(run)
    assert (status.passages_read, status.passages_cached) == (1, 2)
    assert RunVerbs(ledger._redis, ledger).retry(run) == 1
    end(ledger, run, WHOLE)
    status = ledger.status(run)
    assert (status.passages_read, status.passages_cached) == (2, 2)


def test_what_was_found_before_a_run_was_let_go_on_does_not_pause_it(ledger, run):
    verbs = RunVerbs(ledger._redis, ledger)
    verbs.pause(run, "spent")
    verbs.go_on(run)
    ledger.halt(run, "spent, too", seconds=60.0)
    assert ledger.status(run).state is RunState.RUNNING
    verbs.pause(run, "by hand")
    assert ledger.status(run).reason == "by hand"
