"""What the gate promises where many threads of several workers race, on the quick double and on a real Redis."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import fakeredis
import pytest

from pipeline.config import CallConfig
from pipeline.errors import ModelRefused
from pipeline.models import Usage
from pipeline.ports import ChatAnswer, ChatRequest
from scheduler.calls import CallEnd, Calls
from scheduler.gate import GatedChat

REQUEST = ChatRequest("", "text", {}, 100)
TRUE = Usage(1, 80, 20, 0.03)


class SlowService:
    """Answers a call after a moment, or when `crowd` have come; notes when calls came, and how many at once."""

    model = "m"

    def __init__(self, seconds=0.0, error=None, crowd=0):
        self.seconds, self.error, self.crowd = seconds, error, crowd
        self.arrivals, self.inside, self.most = [], 0, 0
        self._guard = threading.Condition()

    def bound(self, request):
        return Usage(1, 900, request.max_output_tokens, 0.10)

    def complete(self, request):
        with self._guard:
            self.arrivals.append(time.monotonic())
            self.inside += 1
            self.most = max(self.most, self.inside)
            self._guard.notify_all()
            self._guard.wait_for(lambda: self.most >= self.crowd, timeout=0.1)
        threading.Event().wait(self.seconds)
        with self._guard:
            self.inside -= 1
        if self.error:
            raise self.error
        return ChatAnswer("{}", "stop", TRUE, self.model)


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


def race(gates, calls_of_each, threads_of_each=6):
    """Call through several gates, as of several processes, each with several threads; gives what came of it."""
    with ThreadPoolExecutor(len(gates) * threads_of_each) as pool:
        futures = [pool.submit(gate.complete, REQUEST) for _ in range(calls_of_each) for gate in gates]
        return [future.exception() for future in futures]


def test_there_are_never_more_calls_under_way_than_may_be(client):
    service = SlowService(0.005, crowd=4)
    gates = [GatedChat([service], Calls(client), CallConfig(in_flight=4), "r") for _ in range(3)]
    assert race(gates, 20) == [None] * 60
    assert service.most == 4
    assert client.hget("gm:run:r", "llm_calls") == "60"
    assert client.zcard("gm:model:m:flying") == 0


def test_a_service_sees_only_so_many_calls_in_any_minute(client):
    """A minute of 200 ms; the calls are answered at once, so that nothing but the limit holds them up."""
    service, limit, minute = SlowService(), 5, 0.2
    limits = CallConfig(in_flight=64, requests_per_minute=limit)
    calls = Calls(client, minute_seconds=minute, leave_seconds=minute)
    gates = [GatedChat([service], calls, limits, "r") for _ in range(2)]
    assert race(gates, 10) == [None] * 20
    gaps = [later - first for first, later in zip(service.arrivals, service.arrivals[limit:], strict=False)]
    assert min(gaps) >= minute
    assert min(gaps) < 4 * minute, "the limit is used"


def test_a_wrong_key_costs_one_call_however_many_race(client):
    service = SlowService(0.02, ModelRefused("the key is wrong"))
    gates = [GatedChat([service], Calls(client), CallConfig(in_flight=64), "r") for _ in range(2)]
    ends = race(gates, 10)
    assert {str(end) for end in ends} == {"the key is wrong"}
    assert len(service.arrivals) == 1


def test_room_that_comes_free_in_a_process_is_taken_at_once(client, monkeypatch):
    """Asking again is set so far apart that it cannot be what finds the room."""
    monkeypatch.setattr("scheduler.calls.SOON_SECONDS", 1.9)
    service = SlowService(0.01)
    gate = GatedChat([service], Calls(client), CallConfig(in_flight=1), "r")
    started = time.monotonic()
    assert race([gate], 6) == [None] * 6
    assert time.monotonic() - started < 1.5


def test_room_that_comes_free_in_another_process_is_found_soon(client):
    calls = Calls(client)
    held = calls.ask("m", CallConfig(), TRUE, "other", "held")
    gate = GatedChat([SlowService()], Calls(client), CallConfig(), "r")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(gate.complete, REQUEST)
        with pytest.raises(TimeoutError):
            waiting.result(0.1)
        calls.report(held, CallEnd.ANSWERED, TRUE)
        assert waiting.result(2).usage == TRUE
