"""What is left of a graph that was dropped, on the quick double and on a real Redis."""

import fakeredis
import pytest

from pipeline.errors import GraphMissing
from scheduler.dropping import Dropping, GraphInUse
from scheduler.errors import LeaseUnavailable
from scheduler.finalize import FinalizeLedger
from scheduler.leases import Access, Leases
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.states import FileState, RunState


class Graph:
    """The one thing of a graph's writer that is asked for."""

    def __init__(self):
        self.exists = True

    def drop(self):
        if not self.exists:
            raise GraphMissing("there is no graph")
        self.exists = False


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


@pytest.fixture
def finalizes(client):
    return FinalizeLedger(client, ttl_ms=60_000)


@pytest.fixture
def leases(client):
    return Leases(client, ttl_ms=60_000)


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def dropping(client, ledger, finalizes, leases, graph):
    return Dropping(client, ledger, finalizes, leases, graph)


def submit(ledger, graph="kb"):
    run = ledger.open_run(graph, "/files", finalize="never", options={})
    ledger.append(run, 0, [NewFile("a.txt", 1)])
    ledger.seal(run)
    return run


def write(ledger, run):
    batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
    (f,) = ledger.claim(batch, "load", "h", "w")
    ledger.settle(run, "h", ended={f.index: Outcome(FileState.WRITTEN)})


def test_all_that_is_known_of_a_graph_goes_but_for_its_runs_and_the_number_of_its_finalize(
    client, ledger, finalizes, leases, dropping, graph
):
    runs = {name: submit(ledger, name) for name in ("kb:one", "kb")}
    for _ in runs:
        batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
        (f,) = ledger.claim(batch, "load", batch.run, "w")
        ledger.settle(batch.run, batch.run, ended={f.index: Outcome(FileState.WRITTEN)})
    for name in runs:
        assert leases.try_graph(name, Access.SHARED, "gone") > 0
        leases.release_graph(name, Access.SHARED, "gone")
    assert dropping.drop("kb:one") == 1
    assert not graph.exists
    assert list(client.scan_iter("gm:*:kb%3Aone*")) == []
    assert client.exists("gm:graph:kb", "gm:lease:kb") == 2
    assert (ledger.status(runs["kb:one"]).dropped, ledger.status(runs["kb"]).dropped) == (True, False)
    assert ledger.status(runs["kb:one"]).counts["written"] == 1


def test_the_next_finalize_gets_a_new_number_as_the_old_ones_messages_may_come_late(finalizes, dropping, client):
    client.hset("gm:graph:kb", mapping={"number": 7, "state": "idle", "writes": 3, "finalized": 3})
    dropping.drop("kb")
    assert client.hgetall("gm:graph:kb") == {"number": "7"}
    assert finalizes.graphs() == []
    assert finalizes.begin("kb", forced=True) == 8


def test_a_graph_at_work_is_left_alone(ledger, finalizes, leases, dropping, graph, monkeypatch):
    run = submit(ledger)
    with pytest.raises(GraphInUse, match=f"{run} is running"):
        dropping.drop("kb")
    write(ledger, run)
    assert ledger.status(run).state is RunState.DONE
    finalizes.begin("kb", forced=True)
    with pytest.raises(GraphInUse, match="finalize"):
        dropping.drop("kb")
    monkeypatch.setattr("scheduler.leases.WAIT_SECONDS", 0.05)
    leases.try_graph("busy", Access.SHARED, "writer")
    with pytest.raises(LeaseUnavailable):
        dropping.drop("busy")
    assert graph.exists


def test_a_drop_that_stopped_half_way_is_ended_by_the_next(ledger, dropping, graph):
    run = submit(ledger)
    write(ledger, run)
    graph.exists = False
    with pytest.raises(GraphMissing):
        dropping.drop("kb")
    assert ledger.status(run).dropped


def test_a_new_run_of_the_same_graph_is_not_of_the_past(ledger, dropping):
    old = submit(ledger)
    write(ledger, old)
    dropping.drop("kb")
    new = submit(ledger)
    write(ledger, new)
    assert (ledger.status(old).dropped, ledger.status(new).dropped) == (True, False)
