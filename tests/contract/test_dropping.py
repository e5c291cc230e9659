"""What is left of a graph that was dropped, on the quick double and on a real Redis."""

import fakeredis
import pytest

from pipeline.errors import GraphMissing, GraphUnavailable
from scheduler.dropping import Dropping, GraphInUse
from scheduler.errors import LeaseUnavailable
from scheduler.finalize import FinalizeLedger
from scheduler.leases import Access, Leases
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.states import FileState, RunState


class Graph:
    """What is asked of a graph's writer, and what happens just before it is asked."""

    def __init__(self):
        self.exists, self.before_asked, self.before_dropped = True, lambda: None, lambda: None

    def fence(self):
        self.before_asked()
        if not self.exists:
            raise GraphMissing("there is no graph")
        return 0

    def drop(self):
        self.before_dropped()
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
    return Dropping(client, leases, graph)


def submit(ledger, graph="kb", finalize="never"):
    run = ledger.open_run(graph, "/files", finalize=finalize, options={})
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


def test_a_run_that_comes_and_ends_while_the_graph_is_removed_waits_for_the_next_finalize(
    ledger, finalizes, dropping, graph
):
    runs = [submit(ledger)]
    write(ledger, runs[0])

    def come_and_end():
        runs.append(submit(ledger, finalize="auto"))
        write(ledger, runs[1])

    graph.before_dropped = come_and_end
    assert dropping.drop("kb") == 1
    assert not graph.exists
    assert [ledger.status(run).dropped for run in runs] == [True, False]
    assert ledger.status(runs[1]).state is RunState.FINALIZING
    assert finalizes.begin("kb") > 0
    assert finalizes.serving("kb") == [runs[1]]


@pytest.mark.parametrize("comes", ["run", "finalize"])
def test_what_comes_at_the_last_moment_keeps_the_graph_and_all_that_is_known_of_it(
    comes, client, ledger, finalizes, dropping, graph
):
    old = submit(ledger)
    write(ledger, old)
    graph.before_asked = lambda: (
        submit(ledger, finalize="auto") if comes == "run" else finalizes.begin("kb", forced=True)
    )
    with pytest.raises(GraphInUse, match={"run": "Run .* is running", "finalize": "A finalize"}[comes]):
        dropping.drop("kb")
    assert graph.exists
    assert not ledger.status(old).dropped
    assert client.hget("gm:graph:kb", "writes") == "1"


def test_the_graph_is_nobody_elses_until_it_is_gone_and_anybodys_at_once_afterwards(leases, dropping, graph):
    seen = []
    graph.before_dropped = lambda: seen.append(leases.try_graph("kb", Access.SHARED, "writer"))
    dropping.drop("kb")
    assert seen == [0]
    assert leases.try_graph("kb", Access.EXCLUSIVE, "another") > 0


def test_a_lease_that_another_took_meanwhile_is_left_to_it(client, leases, dropping, graph):
    def outlast():
        client.hset("gm:lease:kb", "until", 0)
        assert leases.try_graph("kb", Access.SHARED, "writer") > 0

    graph.before_dropped = outlast
    dropping.drop("kb")
    assert leases.renew_graph("kb", Access.SHARED, "writer")


def test_a_server_that_does_not_answer_has_nothing_forgotten(client, ledger, dropping, graph):
    run = submit(ledger)
    write(ledger, run)

    def refuse():
        raise GraphUnavailable("the server is away")

    graph.before_asked = refuse
    with pytest.raises(GraphUnavailable):
        dropping.drop("kb")
    assert not ledger.status(run).dropped
    assert client.hget("gm:graph:kb", "writes") == "1"
