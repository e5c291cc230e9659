"""The rules of leave to call a model, on the quick double and on a real Redis."""

import itertools

import fakeredis
import pytest

from pipeline.config import CallConfig
from pipeline.models import Usage
from scheduler.calls import CallEnd, Calls, Granted, Refusal, Refused

MODEL = "openai/small:v1"
KEY = "gm:model:openai/small%3Av1"
BOUND = Usage(1, 300, 100, 0.001)
TRUE = Usage(1, 80, 20, 0.0002)
WIDE = CallConfig(in_flight=64)
permits = (f"p{number}" for number in itertools.count())


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def calls(client):
    return Calls(client)


@pytest.fixture
def proven(calls):
    """Leave of a model that has answered lately."""
    answer(calls)
    return calls


def ask(calls, limits=WIDE, bound=BOUND, model=MODEL):
    return calls.ask(model, limits, bound, "r", next(permits))


def answer(calls, limits=WIDE, usage=TRUE):
    granted = ask(calls, limits)
    calls.report(granted, CallEnd.ANSWERED, usage)
    return granted


def granted_of(calls, count, limits=WIDE):
    answers = [ask(calls, limits) for _ in range(count)]
    return [one for one in answers if isinstance(one, Granted)]


def age(client, key, seconds):
    """Move all entries of a set into the past."""
    for entry, score in client.zrange(key, 0, -1, withscores=True):
        client.zadd(key, {entry: score - seconds * 1000})


def test_a_model_that_has_not_answered_yet_is_asked_by_one_alone(calls):
    first = ask(calls)
    assert isinstance(first, Granted)
    second = ask(calls)
    assert second.reason is Refusal.PROBING
    assert second.wait_seconds < 0.1
    calls.report(first, CallEnd.ANSWERED, TRUE)
    assert len(granted_of(calls, 5)) == 5


def test_a_model_that_was_idle_for_long_is_asked_by_one_alone_again(proven, client):
    client.hset(KEY, "proven_at", 1)
    assert len(granted_of(proven, 3)) == 1


def test_only_so_many_calls_are_under_way(proven):
    limits = CallConfig(in_flight=3)
    held = granted_of(proven, 5, limits)
    assert len(held) == 3
    assert ask(proven, limits).reason is Refusal.IN_FLIGHT
    proven.report(held[0], CallEnd.ANSWERED, TRUE)
    assert isinstance(ask(proven, limits), Granted)


def test_models_do_not_share_their_places(proven):
    limits = CallConfig(in_flight=1)
    assert isinstance(ask(proven, limits), Granted)
    assert isinstance(ask(proven, limits, model="other/model"), Granted)


def test_the_same_permit_is_granted_once(proven, client):
    first = proven.ask(MODEL, WIDE, BOUND, "r", "again")
    assert proven.ask(MODEL, WIDE, BOUND, "r", "again") == first
    assert client.zcard(f"{KEY}:flying") == client.zcard("gm:run:r:reserved") == 1


def test_the_place_of_a_dead_worker_comes_free_by_itself(proven, client):
    limits = CallConfig(in_flight=1, timeout_seconds=60)
    assert isinstance(ask(proven, limits), Granted)
    age(client, f"{KEY}:flying", 64)
    assert isinstance(ask(proven, limits), Refused)
    age(client, f"{KEY}:flying", 2)
    assert isinstance(ask(proven, limits), Granted)


def test_a_minute_sees_only_so_many_requests(proven, client):
    limits = CallConfig(in_flight=64, requests_per_minute=4)
    for _ in range(4):
        answer(proven, limits)
    refused = ask(proven, limits)
    assert refused.reason is Refusal.RATE
    assert 55 < refused.wait_seconds <= 61.1
    age(client, f"{KEY}:window", 59)
    assert 0 < ask(proven, limits).wait_seconds < 2.1
    age(client, f"{KEY}:window", 3)
    assert len(granted_of(proven, 6, limits)) == 4


def test_tokens_are_counted_at_first_as_they_may_be_and_then_as_they_were(proven):
    limits = CallConfig(in_flight=64, tokens_per_minute=500)
    first, second = granted_of(proven, 3, limits)
    assert ask(proven, limits).reason is Refusal.RATE, "a third of the prompt's bytes and the longest answer: 200"
    proven.report(first, CallEnd.ANSWERED, Usage(1, 40, 10, 0.0))
    assert len(granted_of(proven, 3, limits)) == 1
    proven.report(second, CallEnd.ANSWERED, Usage(1, 400, 100, 0.0))
    assert ask(proven, limits).reason is Refusal.RATE


def test_tokens_come_back_after_their_minute(proven, client):
    limits = CallConfig(in_flight=64, tokens_per_minute=350)
    answer(proven, limits, Usage(1, 100, 0, 0.0))
    age(client, f"{KEY}:window", 30)
    answer(proven, limits, Usage(1, 100, 0, 0.0))
    assert ask(proven, limits).wait_seconds == pytest.approx(31, abs=2)
    age(client, f"{KEY}:window", 32)
    assert len(granted_of(proven, 3, limits)) == 1
    assert client.hget(KEY, "window_tokens") == "300", "one of the past, and what the new one may take"


def test_a_call_larger_than_the_tokens_of_a_minute_goes_alone(proven, client):
    limits = CallConfig(in_flight=64, tokens_per_minute=50)
    assert len(granted_of(proven, 2, limits)) == 1
    age(client, f"{KEY}:window", 62)
    assert len(granted_of(proven, 2, limits)) == 1


def test_leave_that_was_not_used_leaves_nothing(proven, client):
    limits = CallConfig(in_flight=1, requests_per_minute=1, tokens_per_minute=1000)
    before = client.hgetall("gm:run:r")
    proven.report(ask(proven, limits), CallEnd.UNSENT)
    assert client.hgetall("gm:run:r") == {**before, "llm_reserved_tokens": "0", "llm_reserved_nano": "0"}
    assert client.hget(KEY, "window_tokens") == "0"
    assert isinstance(ask(proven, limits), Granted)


def test_a_service_that_asks_to_be_left_alone_is_left_alone_by_all(proven, client):
    proven.report(ask(proven), CallEnd.BUSY, retry_after=30)
    refused = ask(Calls(client))
    assert refused.reason is Refusal.STOPPED
    assert refused.wait_seconds == pytest.approx(30, abs=2)
    client.hset(KEY, "stop_until", 1)
    assert isinstance(ask(proven), Granted)


def test_no_service_stops_a_model_for_more_than_an_hour(proven):
    proven.report(ask(proven), CallEnd.BUSY, retry_after=10**9)
    assert 3500 < ask(proven).wait_seconds <= 3600


def test_refusals_for_load_halve_what_may_be_under_way_and_answers_give_it_back(proven, client):
    limits = CallConfig(in_flight=8)
    held = granted_of(proven, 8, limits)
    for one in held[:3]:
        proven.report(one, CallEnd.BUSY)
    assert client.hget(KEY, "allowed") == "4", "calls that were under way then tell of the same load"
    for one in held[3:]:
        proven.report(one, CallEnd.ANSWERED, TRUE)
    assert len(granted_of(proven, 8, limits)) == 5
    client.hset(KEY, "halved_at", 1)
    client.delete(f"{KEY}:flying")
    proven.report(ask(proven, limits), CallEnd.BUSY)
    assert client.hget(KEY, "allowed") == "2"
    for _ in range(40):
        answer(proven, limits)
    assert client.hget(KEY, "allowed") is None
    assert len(granted_of(proven, 10, limits)) == 8


def test_one_call_is_always_left(proven, client):
    client.hset(KEY, "allowed", 1)
    proven.report(ask(proven), CallEnd.BUSY)
    assert client.hget(KEY, "allowed") == "1"
    assert len(granted_of(proven, 3)) == 1


def test_failures_in_a_row_break_a_model_and_its_probes_wait_longer_and_longer(proven, client):
    held = granted_of(proven, 8)
    for one in held:
        proven.report(one, CallEnd.TIMED_OUT)
    waits = []
    for _ in range(8):
        refused = ask(proven)
        assert refused.reason is Refusal.BROKEN
        waits.append(round(refused.wait_seconds))
        client.hset(KEY, "probe_at", 1)
        probe = ask(proven)
        assert ask(proven).reason is Refusal.BROKEN, "one probe at a time"
        proven.report(probe, CallEnd.BUSY)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_failure_that_is_told_twice_counts_once(proven, client):
    granted = ask(proven)
    proven.report(granted, CallEnd.GARBLED)
    proven.report(granted, CallEnd.GARBLED)
    assert client.hget(KEY, "failures") == "1"


def test_failures_between_answers_break_nothing(proven):
    for _ in range(5):
        for one in granted_of(proven, 4):
            proven.report(one, CallEnd.GARBLED)
        answer(proven)
    assert len(granted_of(proven, 9)) == 9


@pytest.mark.parametrize("end", [CallEnd.TOO_LONG, CallEnd.ABANDONED, CallEnd.UNSENT])
def test_ends_that_say_nothing_of_the_service_break_nothing(proven, client, end):
    for one in granted_of(proven, 9):
        proven.report(one, end)
    assert client.hget(KEY, "failures") is None


def test_an_answer_closes_what_was_broken(proven, client):
    for one in granted_of(proven, 5):
        proven.report(one, CallEnd.GARBLED)
    client.hset(KEY, "probe_at", 1)
    answer(proven)
    assert len(granted_of(proven, 9)) == 9
    assert set(client.hgetall(KEY)) == {"proven_at"}


def test_a_probe_whose_worker_died_is_followed_by_another(calls, client):
    assert len(granted_of(calls, 3)) == 1
    age(client, f"{KEY}:flying", 91)
    assert len(granted_of(calls, 3)) == 1


def test_a_service_that_takes_no_call_of_ours_is_told_so_once(proven, client):
    proven.report(ask(proven), CallEnd.REFUSED, refusal="the key is wrong")
    refused = ask(proven)
    assert (refused.reason, refused.detail) == (Refusal.REFUSED, "the key is wrong")
    assert refused.wait_seconds == pytest.approx(1, abs=0.3)
    client.hset(KEY, "probe_at", 1)
    answer(proven)
    assert isinstance(ask(proven), Granted)
