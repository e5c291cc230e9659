"""The gate before language models, on the quick double and on a real Redis."""

import fakeredis
import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from pipeline.config import CallConfig
from pipeline.errors import (
    BudgetSpent,
    ModelBusy,
    ModelOutputInvalid,
    ModelRefused,
    ModelTimeout,
    PromptTooLong,
)
from pipeline.models import Usage
from pipeline.ports import ChatAnswer, ChatRequest
from scheduler.calls import Calls
from scheduler.errors import LedgerUnavailable
from scheduler.gate import GatedChat

REQUEST = ChatRequest("", "text", {}, 100)
TRUE = Usage(1, 80, 20, 0.03)
LIMITS = CallConfig()


class ScriptedModel:
    """Answers, or raises what is next in its list; `asked` counts."""

    def __init__(self, model, *ends, usd=0.10):
        self.model, self.ends, self.usd, self.asked = model, list(ends), usd, 0

    def bound(self, request):
        return Usage(1, 900, request.max_output_tokens, self.usd)

    def complete(self, request):
        self.asked += 1
        end = self.ends.pop(0) if self.ends else TRUE
        if isinstance(end, BaseException):
            raise end
        return ChatAnswer("{}", "stop", end, self.model)


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def make_gate(client):
    return lambda *models, limits=LIMITS: GatedChat(models, Calls(client), limits, "r")


def under_way(client, model="first"):
    return client.zcard(f"gm:model:{model}:flying")


def test_a_call_is_answered_and_what_it_cost_is_on_record(make_gate, client):
    gate = make_gate(ScriptedModel("first"))
    answer = gate.complete(REQUEST)
    assert (answer.text, answer.usage, gate.model) == ("{}", TRUE, "first")
    assert gate.bound(REQUEST) == Usage(1, 900, 100, 0.10)
    assert client.hmget("gm:run:r", "llm_calls", "llm_usd") == ["1", "0.030000000"]
    assert under_way(client) == 0


def test_a_gate_needs_a_model(make_gate):
    with pytest.raises(ValueError, match="a model"):
        make_gate()


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (ModelTimeout("late"), "1"),
        (ModelBusy("full"), None),
        (ModelRefused("key"), None),
        (PromptTooLong("long"), None),
        (ModelOutputInvalid("odd"), "1"),
        (SoftTimeLimitExceeded(), "1"),
        (KeyboardInterrupt(), "1"),
        (ZeroDivisionError(), "1"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_ends_a_call_gives_its_place_back_and_is_on_record(make_gate, client, error, lost):
    model = ScriptedModel("first", error)
    with pytest.raises(type(error)):
        make_gate(model).complete(REQUEST)
    assert under_way(client) == 0
    assert client.hmget("gm:run:r", "llm_calls", "llm_failed", "llm_lost") == ["1", "1", lost]
    assert model.asked == 1


def test_the_time_limit_of_a_task_is_not_the_services_fault(make_gate, client):
    with pytest.raises(SoftTimeLimitExceeded):
        make_gate(ScriptedModel("first", SoftTimeLimitExceeded())).complete(REQUEST)
    assert client.hget("gm:model:first", "failures") is None


def test_the_time_limit_of_a_task_gives_back_leave_that_had_just_been_given(client):
    class Interrupted(Calls):
        def ask(self, *args):
            super().ask(*args)
            raise SoftTimeLimitExceeded

    gate = GatedChat([ScriptedModel("first")], Interrupted(client), LIMITS, "r")
    with pytest.raises(SoftTimeLimitExceeded):
        gate.complete(REQUEST)
    assert under_way(client) == 0
    assert client.hget("gm:run:r", "llm_calls") is None


def test_leave_that_is_far_away_is_not_waited_for(make_gate):
    limits = CallConfig(requests_per_minute=1)
    gate = make_gate(ScriptedModel("first"), limits=limits)
    gate.complete(REQUEST)
    with pytest.raises(ModelBusy, match="of this minute are used up") as busy:
        gate.complete(REQUEST)
    assert 50 < busy.value.retry_after < 62


def test_a_pause_that_a_service_asks_for_is_kept_by_all(make_gate):
    model = ScriptedModel("first", ModelBusy("slow down", retry_after=30))
    with pytest.raises(ModelBusy, match="slow down"):
        make_gate(model).complete(REQUEST)
    with pytest.raises(ModelBusy, match="left alone") as busy:
        make_gate(model).complete(REQUEST)
    assert busy.value.retry_after == pytest.approx(30, abs=2)
    assert model.asked == 1


def test_room_is_waited_for_only_so_long(make_gate, client, monkeypatch):
    monkeypatch.setattr("scheduler.gate.PATIENCE_SECONDS", 0.1)
    Calls(client).ask("first", LIMITS, Usage(1, 1, 1, 0.0), "other", "held")
    with pytest.raises(ModelBusy, match="has not been answered yet") as busy:
        make_gate(ScriptedModel("first")).complete(REQUEST)
    assert 0 < busy.value.retry_after < 5


def test_a_spent_budget_says_how_to_go_on_and_asks_nobody(make_gate, client):
    client.hset("gm:run:r", "max_usd", "0.02")
    model = ScriptedModel("first")
    gate = make_gate(model, ScriptedModel("second"))
    gate.complete(REQUEST)
    with pytest.raises(BudgetSpent, match=r"\$0.0300 of \$0.02.*graphmill resume r --max-usd N"):
        gate.complete(REQUEST)
    assert model.asked == 1


def test_an_unknown_price_stops_a_run_that_may_cost_so_much(make_gate, client):
    client.hset("gm:run:r", "max_usd", 5)
    with pytest.raises(BudgetSpent, match=r"GRAPHMILL_CALLS__USD_PER_MILLION_IN.*--max-tokens"):
        make_gate(ScriptedModel("first", usd=None), ScriptedModel("second")).complete(REQUEST)


def test_a_second_choice_of_unknown_price_is_passed_over(make_gate, client):
    client.hset("gm:run:r", "max_usd", 5)
    second = ScriptedModel("second", usd=None)
    with pytest.raises(ModelBusy, match="full"):
        make_gate(ScriptedModel("first", ModelBusy("full")), second).complete(REQUEST)
    assert second.asked == 0


def test_a_service_that_tells_no_tokens_counts_at_what_it_may_have_cost(make_gate, client):
    make_gate(ScriptedModel("first", Usage(1, 0, 0, 0.0))).complete(REQUEST)
    assert client.hmget("gm:run:r", "llm_calls", "llm_failed", "llm_lost_tokens") == ["1", None, "1000"]


@pytest.mark.parametrize("error", [ModelBusy("full", retry_after=30), ModelRefused("key")], ids=["busy", "refused"])
def test_another_model_answers_while_the_first_may_not_be_asked(make_gate, client, error):
    first, second = ScriptedModel("first", error), ScriptedModel("second")
    gate = make_gate(first, second)
    assert [gate.complete(REQUEST).model for _ in range(3)] == ["second"] * 3
    assert (first.asked, second.asked) == (1, 3)
    client.hset("gm:model:first", mapping={"stop_until": 1, "probe_at": 1})
    assert gate.complete(REQUEST).model == "first"


def test_another_model_answers_while_a_broken_one_is_probed(make_gate, client):
    gate = make_gate(ScriptedModel("first", ModelBusy("down")), ScriptedModel("second"))
    assert gate.complete(REQUEST).model == "second"
    client.hset("gm:model:first", "probe_at", 1)
    Calls(client).ask("first", LIMITS, Usage(1, 1, 1, 0.0), "other", "probe")
    assert gate.complete(REQUEST).model == "second"


def test_a_text_that_takes_too_long_is_not_given_to_the_next_model(make_gate):
    second = ScriptedModel("second")
    with pytest.raises(ModelTimeout):
        make_gate(ScriptedModel("first", ModelTimeout("late")), second).complete(REQUEST)
    assert second.asked == 0


def test_only_where_all_models_refuse_the_run_halts(make_gate):
    gate = make_gate(ScriptedModel("first", ModelRefused("key")), ScriptedModel("second", ModelRefused("quota")))
    for _ in range(2):
        with pytest.raises(ModelRefused, match="key"):
            gate.complete(REQUEST)
    gate = make_gate(ScriptedModel("third", ModelRefused("key")), ScriptedModel("fourth", ModelBusy("full")))
    with pytest.raises(ModelBusy, match="full"):
        gate.complete(REQUEST)


def test_where_all_are_busy_the_shortest_wait_counts(make_gate):
    ends = (ModelBusy("full", retry_after=90), ModelBusy("full", retry_after=40))
    gate = make_gate(*(ScriptedModel(name, end) for name, end in zip(("first", "second"), ends, strict=True)))
    for _ in range(2):
        with pytest.raises(ModelBusy) as busy:
            gate.complete(REQUEST)
        assert busy.value.retry_after == pytest.approx(40, abs=2)


def test_leave_that_came_too_late_is_not_used(client):
    class SlowOnce(Calls):
        permits = ()

        def ask(self, *args):
            answer = super().ask(*args)
            self.permits += (args[-1],)
            if len(self.permits) == 1:
                client.blpop("nothing", timeout=0.06)
            return answer

    calls = SlowOnce(client, leave_seconds=0.05)
    GatedChat([ScriptedModel("first")], calls, CallConfig(requests_per_minute=1), "r").complete(REQUEST)
    assert client.hget("gm:run:r", "llm_calls") == "1"
    assert client.zrange("gm:model:first:window", 0, -1) == [f"{calls.permits[1]} 100"]


def test_a_ledger_that_does_not_answer_costs_no_answer_but_gives_no_leave(monkeypatch):
    monkeypatch.setattr("scheduler.scripts.PATIENCE_SECONDS", 0.0)
    server = fakeredis.FakeServer()
    calls = Calls(fakeredis.FakeRedis(decode_responses=True, version=(7, 4), server=server))

    class LastAnswer(ScriptedModel):
        def complete(self, request):
            server.connected = False
            return super().complete(request)

    gate = GatedChat([LastAnswer("first")], calls, LIMITS, "r")
    assert gate.complete(REQUEST).usage == TRUE
    with pytest.raises(LedgerUnavailable):
        gate.complete(REQUEST)
