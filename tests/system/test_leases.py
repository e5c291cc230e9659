"""Real processes under leases, one Redis, one graph: stopped, killed, and with the ground pulled away under them."""

import multiprocessing
import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
import redis

from pipeline.adapters.falkor import FalkorWriter, connect
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.errors import LeaseLost
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.errors import LeaseUnavailable
from scheduler.leases import Access, GraphLease, Leases, Standing
from scheduler.ledger import Ledger
from scheduler.records import NewFile
from scheduler.stages import run_stage

SHARED, EXCLUSIVE = Access.SHARED, Access.EXCLUSIVE
TTL_MS = 1000
WRITES = 6
PATIENCE_SECONDS = 20
_APPEND = "MATCH (l:Log) SET l.marks = l.marks + [$mark] RETURN count(l)"
# Forked, as this module has no name that a fresh process could import. What is shared is plain memory
# without a lock, which a killed process could hold for ever.
_fork = multiprocessing.get_context("fork")


def connect_ledger(server):
    return redis.Redis.from_url(server.url, decode_responses=True, protocol=2, retry=None, socket_timeout=15)


def await_that(condition, what):
    """Look until something is so; gives what was found."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.005)
    return found


@dataclass
class Worker:
    """A process that takes its lease again and again, and writes under it."""

    name: str
    access: Access
    process: "multiprocessing.process.BaseProcess"
    grants: object
    lost: object


@dataclass
class Crowd:
    """The processes on one graph, and the eyes of the test on them."""

    redis_server: object
    graph_server: object
    graph: object
    leases: Leases
    stop: object = field(default_factory=lambda: _fork.RawValue("b", 0))
    workers: list[Worker] = field(default_factory=list)

    def add(self, access):
        name = f"{access}-{len(self.workers)}"
        grants, lost = _fork.RawValue("l", 0), _fork.RawValue("l", 0)
        process = _fork.Process(target=self.work, args=(name, access, grants, lost), daemon=True)
        self.workers.append(Worker(name, access, process, grants, lost))
        process.start()
        return self.workers[-1]

    def work(self, name, access, grants, lost):
        """What a child does."""
        graph = connect(self.graph_server.url, self.graph.name)
        writer, leases = FalkorWriter(graph), Leases(connect_ledger(self.redis_server), ttl_ms=TTL_MS)
        while not self.stop.value:
            try:
                with GraphLease.hold(leases, graph.name, access, name) as lease:
                    writer.raise_fence(lease.epoch, exclusive=access is EXCLUSIVE)
                    # Unrenewed, so that nothing but the fence stops one that slept.
                    for _ in range(WRITES):
                        run_fenced(graph, _APPEND, lease.epoch, mark=f"{lease.epoch} {name}")
                    grants.value += 1
            except LeaseUnavailable:
                continue
            except LeaseLost:
                lost.value += 1
                leases.reseed(graph.name, writer.fence(), access)

    def report(self):
        return self.leases.read(self.graph.name)

    def holds(self, worker):
        held = (use.holder for use in self.report().uses if use.standing is Standing.HOLDS)
        return worker.name in held

    def stop_while_it_holds(self, access):
        """SIGSTOP one of a kind in the middle of its lease; gives it and its epoch."""

        def stopped():
            for worker in self.workers:
                if worker.access is access and worker.process.is_alive() and self.holds(worker):
                    os.kill(worker.process.pid, signal.SIGSTOP)
                    report = self.report()
                    if any(use.holder == worker.name and use.standing is Standing.HOLDS for use in report.uses):
                        return worker, report.epoch
                    os.kill(worker.process.pid, signal.SIGCONT)
            return None

        return await_that(stopped, f"a {access} one holds")

    def sleep_past_lease(self, access):
        """Stop one past its lease and wake it, until one was caught with writes before it."""
        for _ in range(10):
            worker, epoch = self.stop_while_it_holds(access)
            before = worker.lost.value, worker.grants.value
            try:
                await_that(lambda e=epoch: FalkorWriter(self.graph).fence() > e, "others go on")
            finally:
                os.kill(worker.process.pid, signal.SIGCONT)
            await_that(lambda w=worker, b=before: (w.lost.value, w.grants.value) != b, "the sleeper goes on")
            # One that had only to give its lease back does not notice.
            if worker.lost.value > before[0]:
                return
        raise AssertionError("no sleeper learnt that its lease was over")

    def kill_while_it_holds(self, access):
        worker, epoch = self.stop_while_it_holds(access)
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.join()
        await_that(lambda: self.report().epoch > epoch, "others go on")
        self.add(access)

    def both_sides_go_on(self, what):
        before = {access: self.done(access) for access in Access}
        await_that(lambda: all(self.done(access) >= before[access] + 3 for access in Access), f"progress after {what}")

    def done(self, access):
        return sum(worker.grants.value for worker in self.workers if worker.access is access)

    def end(self):
        self.stop.value = 1
        for worker in self.workers:
            if worker.process.is_alive():
                with suppress(ProcessLookupError):
                    os.kill(worker.process.pid, signal.SIGCONT)
            worker.process.join(PATIENCE_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()


@pytest.fixture
def crowd(redis_client, redis_server, graph_server, graph):
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    graph.query("CREATE (:Log {marks: []})")
    # No connection may be open in two processes.
    graph.close()
    crowd = Crowd(redis_server, graph_server, graph, Leases(redis_client, ttl_ms=TTL_MS))
    redis_client.close()
    for access, number in ((SHARED, 8), (EXCLUSIVE, 2)):
        for _ in range(number):
            crowd.add(access)
    yield crowd
    crowd.end()


@pytest.mark.timeout(120)
def test_no_stale_write_lands_and_both_sides_go_on_whatever_happens(crowd, redis_client):
    """8 shared and 2 exclusive processes; some sleep past their lease, some die, Redis forgets, the fence jumps."""

    def raise_the_fence():
        crowd.graph.query("MATCH (f:__Fence__ {scope: 'graph'}) SET f.epoch = f.epoch + 1000")

    troubles = [
        ("nothing", lambda: None),
        ("a shared one that slept", lambda: crowd.sleep_past_lease(SHARED)),
        ("an exclusive one that slept", lambda: crowd.sleep_past_lease(EXCLUSIVE)),
        ("a shared one that was killed", lambda: crowd.kill_while_it_holds(SHARED)),
        ("the loss of the counter", lambda: redis_client.delete(f"gm:lease:{crowd.graph.name}")),
        ("an exclusive one that was killed", lambda: crowd.kill_while_it_holds(EXCLUSIVE)),
        ("the loss of all of Redis", redis_client.flushall),
        ("a fence raised by another", raise_the_fence),
    ]
    for what, trouble in troubles:
        trouble()
        crowd.both_sides_go_on(what)
    crowd.end()

    killed = -signal.SIGKILL
    codes = [worker.process.exitcode for worker in crowd.workers]
    assert sorted(codes) == [killed, killed] + [0] * 10
    (marks,) = crowd.graph.ro_query("MATCH (l:Log) RETURN l.marks")[0]
    writes = [(int(epoch), name) for epoch, name in (mark.split() for mark in marks)]
    epochs = [epoch for epoch, _ in writes]
    assert epochs == sorted(epochs), "a write of an older epoch came after one of a newer"
    writers = {}
    for epoch, name in writes:
        writers.setdefault(epoch, set()).add(name)
    crowded = {e: names for e, names in writers.items() if len(names) > 1 and any("exclusive" in n for n in names)}
    assert crowded == {}, "an exclusive epoch was shared"
    assert {access: crowd.done(access) >= 3 * len(troubles) for access in Access} == {SHARED: True, EXCLUSIVE: True}


@contextmanager
def stream_of_shared_holders(leases, hold_seconds, number):
    """Threads that hold a lease together without a gap: one is always in the middle of its work."""
    over = threading.Event()
    ready = threading.Barrier(number + 1)

    def hold_again_and_again(place):
        first = True
        while not over.is_set():
            with suppress(LeaseUnavailable), GraphLease.hold(leases, "kb", SHARED, f"s{place}"):
                if first:
                    ready.wait()
                # The first round is of different lengths, so that they never end together.
                over.wait(hold_seconds * (place + 1) / number if first else hold_seconds)
                first = False

    threads = [threading.Thread(target=hold_again_and_again, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    ready.wait()
    yield
    over.set()
    for thread in threads:
        thread.join()


def seconds_until_exclusive(leases, pause_seconds):
    """Ask as a finalize does: a short wait, a pause without a worker slot, and again as somebody new."""
    began = time.monotonic()
    for turn in range(100):
        try:
            with GraphLease.hold(leases, "kb", EXCLUSIVE, f"x{turn}"):
                return time.monotonic() - began
        except LeaseUnavailable:
            threading.Event().wait(pause_seconds)
    raise AssertionError("the exclusive one never got in")


@pytest.mark.parametrize("wait", [2.0, 0.2], ids=["that is shorter than the wait", "that is longer than the wait"])
def test_an_exclusive_one_gets_into_an_endless_stream_of_shared_work(wait, redis_client, monkeypatch):
    monkeypatch.setattr("scheduler.leases.WAIT_SECONDS", wait)
    leases = Leases(redis_client, ttl_ms=10_000)
    with stream_of_shared_holders(leases, 1.5, 4):
        assert seconds_until_exclusive(leases, 0.5) < 1.5 + 1


def test_after_an_exclusive_one_that_gave_up_for_good_shared_work_goes_on(redis_client, monkeypatch):
    monkeypatch.setattr("scheduler.leases.WAIT_SECONDS", 0.05)
    monkeypatch.setattr("scheduler.leases.RETURN_MS", 300)
    leases = Leases(redis_client, ttl_ms=10_000)
    assert leases.try_graph("kb", SHARED, "a")
    with pytest.raises(LeaseUnavailable):
        GraphLease.hold(leases, "kb", EXCLUSIVE, "x")
    assert not leases.try_graph("kb", SHARED, "b"), "its place is kept for a moment"
    await_that(lambda: leases.try_graph("kb", SHARED, "b"), "its place is forgotten")


def test_an_exclusive_one_that_is_let_in_ends_all_places_that_were_kept(redis_client, monkeypatch):
    monkeypatch.setattr("scheduler.leases.WAIT_SECONDS", 0.05)
    leases = Leases(redis_client, ttl_ms=10_000)
    leases.try_graph("kb", SHARED, "a")
    with pytest.raises(LeaseUnavailable):
        GraphLease.hold(leases, "kb", EXCLUSIVE, "x")
    leases.release_graph("kb", SHARED, "a")
    with GraphLease.hold(leases, "kb", EXCLUSIVE, "the same, back again"):
        pass
    assert leases.try_graph("kb", SHARED, "b")


def test_a_killed_waiter_and_a_killed_holder_are_forgotten_within_a_lease(redis_client, redis_server):
    leases = Leases(redis_client, ttl_ms=TTL_MS)
    ask_again = threading.Event().wait

    def hold_for_ever():
        GraphLease.hold(Leases(connect_ledger(redis_server), ttl_ms=TTL_MS), "kb", SHARED, "holder")
        ask_again()

    def wait_for_ever():
        mine = Leases(connect_ledger(redis_server), ttl_ms=TTL_MS)
        while not mine.try_graph("kb", EXCLUSIVE, "waiter"):
            ask_again(0.02)

    def stands(holder):
        return any(use.holder == holder for use in leases.read("kb").uses)

    processes = []
    for target, holder in ((hold_for_ever, "holder"), (wait_for_ever, "waiter")):
        processes.append(_fork.Process(target=target, daemon=True))
        processes[-1].start()
        await_that(lambda holder=holder: stands(holder), f"the {holder} is there")
    for process in reversed(processes):
        process.kill()
        process.join()
    killed = time.monotonic()
    await_that(lambda: leases.try_graph("kb", EXCLUSIVE, "x"), "exclusive work goes on")
    leases.release_graph("kb", EXCLUSIVE, "x")
    await_that(lambda: leases.try_graph("kb", SHARED, "a"), "shared work goes on")
    assert time.monotonic() - killed < TTL_MS / 1000 + 1


def test_a_task_that_waits_for_a_graph_gives_its_slot_back_and_its_files_wait(redis_client):
    ledger = Ledger(redis_client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
    leases = Leases(redis_client, ttl_ms=60_000)
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile("a", 1)])
    ledger.seal(run)
    batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
    assert leases.try_graph("kb", EXCLUSIVE, "x")

    def write(stage_run):
        with GraphLease.hold(leases, "kb", SHARED, stage_run.holder):
            raise AssertionError("it must not get in")

    began = time.monotonic()
    assert run_stage(ledger, batch, "load", write, "w") == 0
    assert time.monotonic() - began < 4
    assert [report.state for report in ledger.files(run)] == ["waiting"]
