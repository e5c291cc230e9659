"""The rules of single flight, on the quick double and on a real Redis."""

import threading

import fakeredis
import pytest

from scheduler.flights import Flights


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def flights(client):
    return Flights(client, ttl_ms=60_000)


def test_what_another_asks_for_is_left_to_it(flights):
    assert flights.take(["1", "2"], "a") == set()
    assert flights.take(["2", "3"], "b") == {"2"}
    assert flights.take(["1", "2", "3"], "c") == {"1", "2", "3"}


def test_who_holds_a_claim_may_take_it_again(flights):
    flights.take(["1"], "a")
    assert flights.take(["1"], "a") == set()


def test_claims_are_given_back_by_their_holder_only(flights):
    flights.take(["1"], "a")
    flights.release(["1"], "b")
    assert flights.take(["1"], "b") == {"1"}
    flights.release(["1"], "a")
    assert flights.take(["1"], "b") == set()


def test_claims_end_unless_they_are_renewed(flights, client):
    flights.take(["1", "2"], "a")
    assert 0 < client.pttl("gm:flight:1") <= 60_000
    client.pexpire("gm:flight:1", 1_000)
    assert flights.renew(["1"], "a") == set()
    assert client.pttl("gm:flight:1") > 50_000
    client.delete("gm:flight:2")
    assert flights.renew(["1", "2"], "a") == {"2"}
    flights.take(["2"], "b")
    assert flights.renew(["2"], "a") == {"2"}


def test_more_passages_than_one_script_takes_are_claimed_all(flights, client):
    keys = [str(number) for number in range(1_201)]
    flights.take(keys[600:], "a")
    assert flights.take(keys, "b") == set(keys[600:])
    assert flights.renew(keys, "b") == set(keys[600:])
    flights.release(keys, "b")
    assert client.exists(*(f"gm:flight:{key}" for key in keys)) == 601


def test_nothing_is_claimed_of_nothing(flights, client):
    assert flights.take([], "a") == flights.renew([], "a") == set()
    assert client.dbsize() == 0


def test_of_threads_that_race_for_passages_each_passage_has_one(flights):
    keys = [str(number) for number in range(50)]
    won, start = {}, threading.Barrier(8)

    def race(holder):
        start.wait()
        won[holder] = set(keys) - flights.take(keys, holder)

    threads = [threading.Thread(target=race, args=(f"h{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key for keys_won in won.values() for key in keys_won) == sorted(keys)
