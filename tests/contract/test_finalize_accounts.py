"""What a finalize's calls are counted and limited by, on the quick double and on a real Redis."""

import itertools

import pytest

from pipeline.config import CallConfig
from pipeline.errors import BudgetSpent
from pipeline.models import Usage
from pipeline.ports import ChatAnswer, ChatRequest
from pipeline.resolve.judging import Judgement
from scheduler.accounts import Accounts
from scheduler.calls import CallEnd, Calls, Granted, Refusal
from scheduler.gate import GatedChat
from scheduler.paid_judging import PaidJudge
from scheduler.records import Budget

LIMITS = CallConfig(in_flight=64)
BOUND = Usage(1, 900, 100, 0.10)
TRUE = Usage(1, 80, 20, 0.03)
KEEP_SECONDS = 1_000
NOTHING = Budget()
permits = (f"p{number}" for number in itertools.count())


@pytest.fixture
def accounts(client):
    return Accounts(client, keep_seconds=KEEP_SECONDS)


@pytest.fixture
def call(client):
    """Make a call on an account that comes to `TRUE`; gives why there was no leave, or None."""
    calls = Calls(client)

    def call(account, end=CallEnd.ANSWERED):
        answer = calls.ask("m", LIMITS, BOUND, account, next(permits))
        if isinstance(answer, Granted):
            calls.report(answer, end, TRUE if end is CallEnd.ANSWERED else None)
            return None
        return answer

    return call


def test_each_finalize_of_each_graph_has_a_budget_of_its_own(accounts, call):
    first = accounts.open("kb", 1, Budget(tokens=100))
    assert call(first) is None
    assert call(first).reason is Refusal.BUDGET_SPENT
    for other in (accounts.open("kb", 2, Budget(tokens=100)), accounts.open("kb:1", 1, Budget(tokens=100))):
        assert call(other) is None
        assert accounts.charged(other) == TRUE
    assert accounts.charged(first) == TRUE


@pytest.mark.parametrize(
    ("budget", "what", "setting"),
    [
        (Budget(tokens=100), "100 of 100 tokens", "GRAPHMILL_JUDGE_MAX_TOKENS"),
        (Budget(usd=0.03), "$0.0300 of $0.03", "GRAPHMILL_JUDGE_MAX_USD"),
    ],
)
def test_a_spent_budget_is_told_with_graph_and_way_on(accounts, call, budget, what, setting):
    account = accounts.open("my: 100% kb", 7, budget)
    call(account)
    told = call(account).detail
    assert f"finalize 7 of graph 'my: 100% kb' is spent: {what}" in told
    assert "graphmill finalize --graph 'my: 100% kb'" in told
    assert setting in told


def test_a_budget_in_money_of_a_model_without_a_price_is_told_with_the_settings(accounts, client):
    class Unpriced:
        model = "m"

        def bound(self, request):
            return Usage(1, 900, request.max_output_tokens, None)

    gate = GatedChat([Unpriced()], Calls(client), LIMITS, accounts.open("kb", 3, Budget(usd=1)))
    with pytest.raises(BudgetSpent, match="finalize 3 of graph 'kb' cannot keep to GRAPHMILL_JUDGE_MAX_USD"):
        gate.complete(ChatRequest("", "text", {}, 100))


def test_an_account_that_is_opened_again_keeps_what_was_charged_under_the_new_budget(accounts, call):
    account = accounts.open("kb", 1, Budget(tokens=100))
    call(account)
    assert accounts.open("kb", 1, Budget(tokens=101)) == account
    assert call(account) is None
    assert accounts.open("kb", 1, NOTHING) == account
    assert call(account) is None
    assert accounts.charged(account) == Usage(3, 240, 60, 0.09)


def test_an_account_expires_with_all_that_belongs_to_it(accounts, client):
    account = accounts.open("kb", 1, NOTHING)
    granted = Calls(client).ask("m", LIMITS, BOUND, account, next(permits))
    assert isinstance(granted, Granted)
    keys = [f"gm:run:{account}", f"gm:run:{account}:reserved"]
    assert all(0 < client.ttl(key) <= KEEP_SECONDS for key in keys)
    Calls(client).report(granted, CallEnd.ANSWERED, TRUE)
    assert 0 < client.ttl(keys[0]) <= KEEP_SECONDS


def test_what_a_run_has_reserved_does_not_expire(client):
    Calls(client).ask("m", LIMITS, BOUND, "r", next(permits))
    assert client.ttl("gm:run:r:reserved") == -1


def test_a_judge_tells_what_its_account_was_charged_once(accounts, call, client):
    account = accounts.open("kb", 1, NOTHING)
    # Of an attempt that did not come to its end, and a call that nobody answered.
    call(account)
    call(account, CallEnd.TIMED_OUT)

    class Model:
        model = "m"

        def bound(self, _):
            return BOUND

        def complete(self, _):
            return ChatAnswer("", "stop", TRUE, "m")

    class Asking:
        def judge(self, sets):
            gate = GatedChat([Model()], Calls(client), LIMITS, account)
            for position in range(len(sets)):
                yield Judgement({}, (position,), gate.complete(ChatRequest("", "text", {}, 100)).usage)

    judge = PaidJudge(Asking(), accounts, account)
    first, second = [list(judge.judge(["one", "two"])) for _ in range(2)]
    assert [step.unanswered for step in first] == [(0,), (1,), ()]
    assert [step.usage.calls for step in first] == [0, 0, 4]
    assert [step.usage.calls for step in second] == [0, 0, 2]
    assert first[-1].usage.tokens_in == 3 * TRUE.tokens_in
    assert accounts.charged(account).calls == 6
