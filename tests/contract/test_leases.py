"""The rules of graph and document leases, on the quick double and on a real Redis."""

import threading
import time

import fakeredis
import pytest

from pipeline.errors import LeaseLost
from scheduler.errors import LeaseUnavailable
from scheduler.leases import Access, GraphLease, Leases

SHARED, EXCLUSIVE = Access.SHARED, Access.EXCLUSIVE


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def leases(client):
    return Leases(client, ttl_ms=60_000)


def expire(client, key, holder):
    """Move a holder's time into the past, as if its lease had run out."""
    client.zadd(key, {holder: 1})


def test_shared_holders_work_together_under_one_epoch(leases):
    assert leases.try_graph("kb", SHARED, "a") == leases.try_graph("kb", SHARED, "b") > 0


def test_an_exclusive_holder_works_alone(leases):
    leases.try_graph("kb", SHARED, "a")
    assert leases.try_graph("kb", EXCLUSIVE, "x") == 0
    leases.release_graph("kb", SHARED, "a")
    assert leases.try_graph("kb", EXCLUSIVE, "x") > 0
    assert leases.try_graph("kb", SHARED, "b") == 0
    assert leases.try_graph("kb", EXCLUSIVE, "y") == 0


def test_the_epoch_grows_with_every_exclusive_grant_and_the_first_shared_one_after_it(leases):
    epochs = []
    for access in (SHARED, SHARED, EXCLUSIVE, EXCLUSIVE, SHARED, SHARED):
        epochs.append(leases.try_graph("kb", access, "h"))
        leases.release_graph("kb", access, "h")
    assert epochs == sorted(epochs)
    assert [epochs.index(epoch) for epoch in epochs] == [0, 0, 2, 3, 4, 4]


def test_graphs_do_not_share_leases(leases):
    assert leases.try_graph("kb", EXCLUSIVE, "x") > 0
    assert leases.try_graph("other", EXCLUSIVE, "y") > 0


def test_a_waiting_exclusive_stops_new_shared_holders(leases):
    leases.try_graph("kb", SHARED, "a")
    leases.try_graph("kb", EXCLUSIVE, "x")
    assert leases.try_graph("kb", SHARED, "late") == 0
    assert leases.try_graph("kb", SHARED, "a"), "who holds it already may ask again"


def test_shared_waiters_go_before_the_next_exclusive(leases):
    leases.try_graph("kb", EXCLUSIVE, "x1")
    leases.try_graph("kb", SHARED, "s")
    leases.try_graph("kb", EXCLUSIVE, "x2")
    leases.release_graph("kb", EXCLUSIVE, "x1")
    assert leases.try_graph("kb", EXCLUSIVE, "x2") == 0
    assert leases.try_graph("kb", SHARED, "s") > 0
    leases.release_graph("kb", SHARED, "s")
    assert leases.try_graph("kb", EXCLUSIVE, "x2") > 0


def test_a_dead_waiter_holds_nobody_up(leases, client):
    leases.try_graph("kb", SHARED, "a")
    leases.try_graph("kb", EXCLUSIVE, "dead")
    expire(client, "gm:lease:kb:wait:x", "dead")
    assert leases.try_graph("kb", SHARED, "b") > 0


def test_a_dead_shared_holder_is_forgotten_and_cannot_renew(leases, client):
    leases.try_graph("kb", SHARED, "dead")
    expire(client, "gm:lease:kb:shared", "dead")
    assert leases.try_graph("kb", EXCLUSIVE, "x") > 0
    assert not leases.renew_graph("kb", SHARED, "dead")


def test_a_dead_exclusive_holder_is_forgotten_and_cannot_renew(leases, client):
    leases.try_graph("kb", EXCLUSIVE, "dead")
    client.hset("gm:lease:kb", "until", 1)
    assert leases.try_graph("kb", SHARED, "a") > 0
    assert not leases.renew_graph("kb", EXCLUSIVE, "dead")
    assert not leases.release_graph("kb", EXCLUSIVE, "dead")


def test_a_counter_that_was_lost_goes_past_the_fence(leases):
    fence = leases.try_graph("kb", SHARED, "a") + 10**9
    leases.reseed("kb", fence, SHARED)
    assert not leases.renew_graph("kb", SHARED, "a"), "grants under the old counter are void"
    assert leases.try_graph("kb", SHARED, "b") == fence + 1


def test_a_counter_ahead_of_the_fence_stays(leases):
    epoch = leases.try_graph("kb", SHARED, "a")
    assert leases.reseed("kb", 0, SHARED) == epoch
    assert leases.renew_graph("kb", SHARED, "a")


def test_a_fence_that_equals_the_counter_drops_nobody_but_an_exclusive_that_was_refused(leases):
    epoch = leases.try_graph("kb", SHARED, "a")
    assert leases.reseed("kb", epoch, SHARED) == epoch
    assert leases.renew_graph("kb", SHARED, "a")
    leases.release_graph("kb", SHARED, "a")
    refused = leases.try_graph("kb", EXCLUSIVE, "x")
    leases.reseed("kb", refused, EXCLUSIVE)
    assert leases.try_graph("kb", EXCLUSIVE, "y") > refused


def test_a_held_lease_is_given_back_even_after_an_error(leases):
    with pytest.raises(ZeroDivisionError), GraphLease.hold(leases, "kb", EXCLUSIVE, "x"):
        raise ZeroDivisionError
    assert leases.try_graph("kb", SHARED, "a") > 0


def test_waiting_is_short_and_its_failure_transient(leases, monkeypatch):
    monkeypatch.setattr("scheduler.leases.WAIT_SECONDS", 0.1)
    leases.try_graph("kb", EXCLUSIVE, "x")
    started = time.monotonic()
    with pytest.raises(LeaseUnavailable, match="kb"):
        GraphLease.hold(leases, "kb", SHARED, "s")
    assert time.monotonic() - started < 2
    leases.release_graph("kb", EXCLUSIVE, "x")
    assert leases.try_graph("kb", EXCLUSIVE, "y") > 0, "the wish that was given up holds nobody up"


def test_a_holder_that_lost_its_lease_learns_so_when_it_renews(leases, client):
    with GraphLease.hold(leases, "kb", SHARED, "slow") as lease:
        expire(client, "gm:lease:kb:shared", "slow")
        lease._renewed -= 60
        with pytest.raises(LeaseLost):
            lease.renew()


def test_document_leases_are_taken_one_by_one(leases):
    assert leases.take_documents("kb", "a", ["file:1", "file:2"]) == set()
    assert leases.take_documents("kb", "b", ["file:2", "file:3"]) == {"file:2"}
    assert leases.take_documents("other", "b", ["file:2"]) == set()
    assert leases.renew_documents("kb", "b", ["file:2", "file:3"]) == {"file:2"}
    leases.release_documents("kb", "b", ["file:2"])
    assert leases.take_documents("kb", "b", ["file:2"]) == {"file:2"}, "only the holder gives it back"
    leases.release_documents("kb", "a", ["file:1", "file:2"])
    assert leases.take_documents("kb", "b", ["file:2"]) == set()


def test_readers_never_meet_a_writer_and_neither_starves(redis_client):
    """Eight threads of shared work and two of exclusive work for a while: the rule holds at every instant."""
    leases = Leases(redis_client, ttl_ms=10_000)
    inside = {"shared": 0, "exclusive": 0}
    done = {"shared": 0, "exclusive": 0}
    guard, broken = threading.Lock(), []

    def work(access, name, until):
        while time.monotonic() < until:
            try:
                with GraphLease.hold(leases, "kb", access, name):
                    with guard:
                        inside[access] += 1
                        if inside["exclusive"] > 1 or (inside["exclusive"] and inside["shared"]):
                            broken.append(dict(inside))
                    time.sleep(0.002)
                    with guard:
                        inside[access] -= 1
                        done[access] += 1
            except LeaseUnavailable:
                continue

    until = time.monotonic() + 2
    threads = [threading.Thread(target=work, args=(SHARED, f"s{i}", until)) for i in range(8)]
    threads += [threading.Thread(target=work, args=(EXCLUSIVE, f"x{i}", until)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert done["exclusive"] > 5
    assert done["shared"] > 5


def test_a_colon_in_a_graphs_name_does_not_make_it_part_of_another(leases):
    assert leases.try_graph("a", SHARED, "h")
    assert leases.try_graph("a:shared", EXCLUSIVE, "x")
    assert leases.try_graph("a", SHARED, "h2")
