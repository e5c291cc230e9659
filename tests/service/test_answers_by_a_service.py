"""Answers and generated queries by a language model behind HTTP that misbehaves on request, its calls on an account."""

from dataclasses import asdict
from datetime import UTC, datetime

import pytest
import redis
import scripted_llm
from scripted_llm import ScriptedLlm, failed, said

from pipeline.adapters.chat import preload
from pipeline.adapters.falkor import FalkorReader
from pipeline.cite import check_citations
from pipeline.config import CallConfig
from pipeline.errors import BudgetSpent, ModelRefused, ModelTimeout
from pipeline.llm.answering import ABSTENTION
from pipeline.llm.cypher import query_by_model
from pipeline.models import Usage
from scheduler.accounts import Accounts
from scheduler.answering import Answering
from scheduler.calls import Calls
from workers.querying import DailyChat
from workers.settings import Settings

# litellm imports half of itself on its first call; these warnings are of its own types.
pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly. qualifier:UserWarning")

TEXTS = {1: "Ann Kessler founded Larkspur Optics in 1904.", 2: "Larkspur Optics stands in Berlin."}
ANSWER = "Ann Kessler founded it in 1904 [1]."
COUNT = "MATCH (p:Person) RETURN count(p) AS people"
ASKED = "Who founded Larkspur Optics?"


class Questions:
    """What `Answering` needs of `scheduler.query`."""

    def retrieve(self, graph, session, query, max_chars):
        evidence = [{"n": n, "kind": "passage", "text": text, "score": 0.8} for n, text in TEXTS.items()]
        text = "\n".join(f"[{n}] {text}" for n, text in TEXTS.items())
        return {"evidence": evidence, "incomplete": [], "text": text, "told": list(TEXTS)}

    def check(self, session, draft):
        verdict = asdict(check_citations(draft, TEXTS))
        places = {"source": "a.txt", "page": None, "start": None, "end": None}
        return {**verdict, "sources": [{"n": n, **places} for n in verdict["cited"]]}


@pytest.fixture(scope="module", autouse=True)
def _litellm():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        preload()
        yield


@pytest.fixture
def server():
    with ScriptedLlm() as server:
        yield server


@pytest.fixture
def ledger(redis_server):
    client = redis.Redis.from_url(redis_server.url, decode_responses=True)
    client.flushdb()
    yield client
    client.close()


@pytest.fixture
def accounts(ledger):
    return Accounts(ledger, keep_seconds=60)


@pytest.fixture
def model_of(server, ledger, accounts):
    def build(**options):
        calls = CallConfig(api_base=server.base_url, timeout_seconds=1)
        settings = Settings(llm={"model": "openai/scripted"}, llm_api_key="key", calls=calls, **options)
        return DailyChat(settings, Calls(ledger), accounts)

    return build


@pytest.fixture
def model(model_of):
    return model_of()


@pytest.fixture
def answer(model):
    return lambda: Answering(Questions(), model).answer("kb", "s1", ASKED)


def today():
    return datetime.now(UTC).date()


def test_an_answer_is_one_call_and_counted_on_the_account_of_its_day(server, accounts, answer):
    days = {today()}
    server.answer = lambda _: said(ANSWER, usage=(300, 12))
    reply = answer()
    assert (reply["answer"], reply["abstained"], reply["model"]) == (ANSWER, "", "openai/scripted")
    assert reply["usage"] == {"calls": 1, "tokens_in": 300, "tokens_out": 12}
    spent = sum((accounts.charged(f"questions:{day}") for day in days | {today()}), Usage())
    assert (spent.calls, spent.tokens_in, spent.tokens_out) == (1, 300, 12)
    assert "response_format" not in server.requests[0].body


def test_the_answers_of_a_day_have_one_budget(server, model_of):
    server.answer = lambda _: said(ANSWER, usage=(300, 12))
    answering = Answering(Questions(), model_of(answers_max_tokens=8_000))

    def ask_often():
        for _ in range(30):
            answering.answer("kb", "s1", ASKED)

    with pytest.raises(BudgetSpent):
        ask_often()
    assert 0 < len(server.requests) < 30
    assert Answering(Questions(), model_of(answers_max_tokens=80_000)).answer("kb", "s1", ASKED)["abstained"] == ""


def test_a_draft_without_numbers_is_asked_for_again_with_what_is_wrong(server, answer):
    replies = [said("Ann Kessler, in 1904."), said(ANSWER)]
    server.answer = lambda _: replies.pop(0)
    assert answer()["answer"] == ANSWER
    assert "<draft>\nAnn Kessler, in 1904.\n</draft>" in server.requests[1].prompt


@pytest.mark.parametrize(
    "reply",
    [
        said(""),
        said("Sure. " * 200_000),
        said("Ann [77]."),
        said(None, refusal="I must not."),
        said("I", "content_filter"),
        said("\x00" + "[" * 10_000),
    ],
    ids=["nothing", "a megabyte", "a strange number", "a refusal", "a filter", "brackets"],
)
def test_what_is_no_answer_ends_in_an_abstention(server, answer, reply):
    server.answer = lambda _: reply
    found = answer()
    assert (found["answer"], found["abstained"]) == (ABSTENTION, "ungrounded")
    assert len(server.requests) == 2


def test_a_service_that_does_not_answer_is_an_error_within_its_time(server, answer):
    server.answer = lambda _: said(ANSWER).hanging()
    with pytest.raises(ModelTimeout):
        answer()


def test_a_service_that_takes_no_call_of_ours_is_an_error_that_tells_no_key(server, answer):
    server.answer = lambda _: scripted_llm.wrong_key()
    with pytest.raises(ModelRefused) as caught:
        answer()
    assert "sk-secret" not in str(caught.value)


def test_a_generated_query_counts_in_the_graph(server, model, graph):
    graph.query(
        "CREATE (:__Entity__:Person {name: 'Ann'}), (:__Entity__:Person {name: 'Bob'}), (:__Secret__ {name: 'x'})"
    )
    replies = [said("MATCH (n) DETACH DELETE n"), said(f"```cypher\n{COUNT}\n```")]
    server.answer = lambda _: replies.pop(0)
    rows, cypher, gaps = query_by_model("How many people are there?", FalkorReader(graph), model)
    assert ([row.text for row in rows], cypher, gaps) == (["people: 2"], f"{COUNT} LIMIT 25", [])


@pytest.mark.parametrize(
    "reply", [said(COUNT).hanging(), scripted_llm.wrong_key(), failed(500, "broken"), said("", usage=None)]
)
def test_a_service_that_fails_leaves_a_gap(server, model, graph, reply):
    graph.query("CREATE (:__Entity__:Person {name: 'Ann'})")
    server.answer = lambda _: reply
    rows, cypher, gaps = query_by_model("How many people are there?", FalkorReader(graph), model)
    assert (rows, cypher, len(gaps)) == ([], "", 1)
