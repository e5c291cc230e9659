"""What a run may cost, and what its calls came to, on the quick double and on a real Redis."""

import itertools
import threading

import fakeredis
import pytest

from pipeline.config import CallConfig
from pipeline.models import Usage
from scheduler.calls import CallEnd, Calls, Granted, Refusal

RUN = "gm:run:r"
LIMITS = CallConfig(in_flight=64)
BOUND = Usage(1, 900, 100, 0.10)
TRUE = Usage(1, 80, 20, 0.03)
permits = (f"p{number}" for number in itertools.count())


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def calls(client):
    """Leave of a model that has answered lately, to another run."""
    calls = Calls(client)
    calls.report(calls.ask("m", LIMITS, BOUND, "other", "first"), CallEnd.ANSWERED, TRUE)
    return calls


def ask(calls, bound=BOUND, model="m"):
    return calls.ask(model, LIMITS, bound, "r", next(permits))


def totals(client):
    names = ("calls", "failed", "tokens_in", "tokens_out", "usd", "unpriced", "lost", "lost_tokens", "lost_usd")
    values = client.hmget(RUN, [f"llm_{name}" for name in names])
    return {name: float(value) for name, value in zip(names, values, strict=True) if value is not None}


def kill(client):
    """Let the permits of the run expire, as if their workers had died."""
    for entry in client.zrange(f"{RUN}:reserved", 0, -1):
        client.zadd(f"{RUN}:reserved", {entry: 1})


def test_leave_reserves_what_a_call_may_cost_and_the_report_puts_the_truth_in_its_place(calls, client):
    client.hset(RUN, "max_usd", 0.25)
    first, second = ask(calls), ask(calls)
    refused = ask(calls)
    assert refused.reason is Refusal.BUDGET_WAITS
    assert 0 < refused.wait_seconds < 0.1
    calls.report(first, CallEnd.ANSWERED, TRUE)
    assert isinstance(ask(calls), Granted)
    calls.report(second, CallEnd.ANSWERED, TRUE)
    assert totals(client) == {"calls": 2, "tokens_in": 160, "tokens_out": 40, "usd": 0.06}


def test_a_report_that_comes_twice_counts_once(calls, client):
    granted = ask(calls)
    calls.report(granted, CallEnd.ANSWERED, TRUE)
    calls.report(granted, CallEnd.ANSWERED, TRUE)
    assert totals(client)["calls"] == 1
    assert client.hmget(RUN, "llm_reserved_tokens", "llm_reserved_nano") == ["0", "0"]


def test_the_last_of_a_budget_is_spent_by_one_call_that_may_pass_it(calls, client):
    client.hset(RUN, "max_usd", "0.05")
    granted = ask(calls)
    assert ask(calls).reason is Refusal.BUDGET_WAITS
    calls.report(granted, CallEnd.ANSWERED, Usage(1, 80, 20, 0.07))
    refused = ask(calls)
    assert refused.reason is Refusal.BUDGET_SPENT
    assert "$0.0700 of $0.05" in refused.detail
    assert "graphmill resume r --max-usd" in refused.detail


def test_a_larger_budget_lets_the_run_go_on(calls, client):
    client.hset(RUN, "max_tokens", 100)
    calls.report(ask(calls), CallEnd.ANSWERED, TRUE)
    refused = ask(calls)
    assert refused.reason is Refusal.BUDGET_SPENT
    assert "100 of 100 tokens" in refused.detail
    assert "--max-tokens" in refused.detail
    client.hset(RUN, "max_tokens", 101)
    assert isinstance(ask(calls), Granted)


def test_both_limits_hold(calls, client):
    client.hset(RUN, mapping={"max_usd": 100, "max_tokens": 1_500})
    assert isinstance(ask(calls), Granted)
    assert ask(calls).reason is Refusal.BUDGET_WAITS
    client.hset(RUN, mapping={"max_usd": 0.15, "max_tokens": 10**9})
    assert ask(calls).reason is Refusal.BUDGET_WAITS


def test_runs_do_not_share_budgets(calls, client):
    client.hset(RUN, "max_usd", 0.10)
    assert isinstance(ask(calls), Granted)
    assert isinstance(calls.ask("m", LIMITS, BOUND, "other", next(permits)), Granted)


def test_calls_that_cost_nothing_fit_in_any_budget(calls, client):
    client.hset(RUN, "max_usd", 0)
    assert isinstance(ask(calls, Usage(1, 900, 100, 0.0)), Granted)
    assert ask(calls).reason is Refusal.BUDGET_SPENT


def test_money_cannot_be_limited_where_the_price_is_unknown(calls, client):
    unpriced = Usage(1, 900, 100, None)
    assert isinstance(ask(calls, unpriced), Granted)
    client.hset(RUN, "max_usd", 100)
    assert ask(calls, unpriced).reason is Refusal.PRICE_UNKNOWN
    client.hdel(RUN, "max_usd")
    client.hset(RUN, "max_tokens", 10_000)
    assert isinstance(ask(calls, unpriced), Granted)


def test_a_price_that_is_unknown_is_counted_and_not_taken_for_nothing(calls, client):
    calls.report(ask(calls, Usage(1, 900, 100, None)), CallEnd.ANSWERED, Usage(1, 80, 20, None))
    calls.report(ask(calls), CallEnd.ANSWERED, TRUE)
    assert totals(client) == {"calls": 2, "tokens_in": 160, "tokens_out": 40, "usd": 0.03, "unpriced": 1}


@pytest.mark.parametrize("end", [CallEnd.TIMED_OUT, CallEnd.GARBLED, CallEnd.ABANDONED, CallEnd.ANSWERED])
def test_a_call_of_unknown_cost_counts_at_its_most(calls, client, end):
    client.hset(RUN, "max_usd", 0.10)
    calls.report(ask(calls), end)
    assert ask(calls).reason is Refusal.BUDGET_SPENT
    lost = {"lost": 1, "lost_tokens": 1000, "lost_usd": 0.1}
    assert totals(client) == {"calls": 1, **({} if end is CallEnd.ANSWERED else {"failed": 1}), **lost}


@pytest.mark.parametrize("end", [CallEnd.BUSY, CallEnd.REFUSED, CallEnd.TOO_LONG])
def test_a_call_that_was_turned_away_costs_nothing(calls, client, end):
    calls.report(ask(calls), end)
    assert totals(client) == {"calls": 1, "failed": 1}


def test_what_a_dead_worker_had_reserved_counts_as_spent(calls, client):
    client.hset(RUN, "max_usd", 0.15)
    granted = ask(calls)
    kill(client)
    assert isinstance(ask(calls), Granted)
    assert ask(calls).reason is Refusal.BUDGET_WAITS
    kill(client)
    assert ask(calls).reason is Refusal.BUDGET_SPENT
    lost = {"calls": 2, "failed": 2, "lost": 2, "lost_tokens": 2000, "lost_usd": 0.2}
    assert totals(client) == lost
    calls.report(granted, CallEnd.ANSWERED, TRUE)
    assert totals(client) == lost, "a report that comes too late changes nothing"


def test_sums_of_small_prices_are_exact(calls, client):
    for _ in range(100):
        calls.report(ask(calls), CallEnd.ANSWERED, Usage(1, 1, 1, 0.000_000_1))
    assert client.hget(RUN, "llm_usd") == "0.000010000"


def test_a_budget_is_passed_by_one_call_at_most_however_many_race(calls, client):
    """Calls cost less than they may: the budget is used up to its end, and passed by no more than one call."""
    client.hset(RUN, "max_usd", 1.0)
    start = threading.Barrier(8)
    spent, guard = [], threading.Lock()

    def work(number):
        start.wait()
        for turn in itertools.count():
            answer = calls.ask("m", LIMITS, BOUND, "r", f"{number}-{turn}")
            if isinstance(answer, Granted):
                with guard:
                    spent.append(0.03 + 0.01 * (len(spent) % 8))
                    cost = spent[-1]
                calls.report(answer, CallEnd.ANSWERED, Usage(1, 80, 20, cost))
            elif answer.reason is Refusal.BUDGET_SPENT:
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(spent) >= 1.0
    assert sum(spent) - max(spent) < 1.0
    assert float(client.hget(RUN, "llm_usd")) == pytest.approx(sum(spent))
