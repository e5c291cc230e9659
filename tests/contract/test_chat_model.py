"""Contract of the port `ChatModel`: the adapter's two ways to a model, against a server that misbehaves on request."""

import json
import socket
import time
from dataclasses import replace

import pytest
import scripted_llm
from scripted_llm import Reply, ScriptedLlm, failed, said

from pipeline.adapters.chat import LitellmChat, Prices, preload
from pipeline.adapters.chat.forms import Form, _learnt
from pipeline.config import CallConfig
from pipeline.errors import HaltsRun, ModelBusy, ModelRefused, ModelTimeout, PromptTooLong
from pipeline.ports import ChatRequest

# litellm imports half of itself on its first call; these warnings are of its own types.
pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly. qualifier:UserWarning")

WAYS = {"plain": "openai/scripted", "litellm": "hosted_vllm/scripted"}
TEXT = "Anna Kessler founded Larkspur Optics in Berlin. It makes lenses."
SCHEMA = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": {"type": "object", "properties": {"name": {}}}}},
    "required": ["entities"],
}
REQUEST = ChatRequest("Extract what the passage says.", f"<passage>\n{TEXT}\n</passage>", SCHEMA, 200)
COMPLETION = said('{"entities": []}')


@pytest.fixture(scope="module", autouse=True)
def _litellm():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
            patch.delenv(name, raising=False)
        preload()
        with ScriptedLlm() as server:
            # The first call of litellm imports for half a second: longer than the deadline of a test.
            connect(WAYS["litellm"], server).complete(REQUEST)
        yield


@pytest.fixture(autouse=True)
def _nothing_learnt():
    _learnt.clear()


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def model(request):
    return request.param


@pytest.fixture
def server():
    with ScriptedLlm() as server:
        yield server


@pytest.fixture
def chat(model, server):
    return connect(model, server)


def connect(model, server, api_key="", **config):
    given = {"timeout_seconds": 5, "api_base": server.base_url, **config}
    return LitellmChat(model, CallConfig(**given), 0.0, api_key)


def fail(chat, server, reply, error):
    """Let the server give the reply, and give the error that comes of it; it was asked once."""
    server.answer = lambda _: reply
    before = len(server.requests)
    with pytest.raises(error) as caught:
        chat.complete(REQUEST)
    assert len(server.requests) == before + 1
    return caught.value


def test_an_answer_brings_its_text_its_end_and_what_it_cost(chat, model):
    answer = chat.complete(REQUEST)
    names = [entity["name"] for entity in json.loads(answer.text)["entities"]]
    assert names == ["Anna Kessler", "Larkspur Optics", "Berlin", "It"]
    assert (answer.finish, answer.model) == ("stop", model)
    assert (answer.usage.calls, answer.usage.tokens_in, answer.usage.tokens_out) == (1, 100, 20)


def test_the_request_says_what_it_is_to_say(chat, server):
    chat.complete(REQUEST)
    body = server.requests[0].body
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("system", REQUEST.system),
        ("user", REQUEST.user),
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("scripted", 200, 0.0)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_no_call_costs_more_than_its_bound(chat, server):
    server.answer = lambda _: said("x" * 100, usage=None)
    bound, usage = chat.bound(REQUEST), chat.complete(REQUEST).usage
    assert 0 < usage.tokens_in <= bound.tokens_in
    assert (usage.tokens_out, bound.tokens_out) == (25, 200)
    assert bound.tokens_in >= len(REQUEST.system + REQUEST.user + json.dumps(SCHEMA, separators=(",", ":")))


@pytest.mark.parametrize("counted", [[1], {"prompt_tokens": "many"}, {"prompt_tokens": -5000}, {"prompt_tokens": 1e18}])
def test_tokens_that_can_be_no_number_of_tokens_are_not_counted(server, counted):
    completion = {"choices": [{"message": {"content": "{}"}}], "usage": counted}
    server.answer = lambda _: Reply(200, json.dumps(completion).encode())
    chat = connect(WAYS["plain"], server)
    assert 0 < chat.complete(REQUEST).usage.tokens_in <= chat.bound(REQUEST).tokens_in


@pytest.mark.parametrize("choices", [[], ["x"], [[1]], [{"message": "hello"}], [{"message": {"content": 3}}], [None]])
def test_a_completion_of_another_shape_is_an_empty_answer(server, choices):
    server.answer = lambda _: Reply(200, json.dumps({"choices": choices}).encode())
    answer = connect(WAYS["plain"], server).complete(REQUEST)
    assert (answer.text, answer.finish) == ("", "stop")


@pytest.mark.parametrize("key", ["sk-mine\r", "sk-mine ", "sk-mein-schlüssel", "sk-mine\nX-More: 1"])
def test_a_key_that_no_header_takes_calls_a_person_and_is_not_shown(server, key):
    with pytest.raises(ModelRefused, match="GRAPHMILL_LLM_API_KEY") as refused:
        connect(WAYS["plain"], server, key).complete(REQUEST)
    assert "mine" not in str(refused.value)
    assert server.requests == []


@pytest.mark.parametrize("address", ["http://[::1", "localhost:8000/v1", "ftp://host/v1"])
def test_an_address_that_is_none_calls_a_person(server, address):
    with pytest.raises(ModelRefused, match="GRAPHMILL_CALLS__API_BASE"):
        connect(WAYS["plain"], server, api_base=address).complete(REQUEST)


def test_an_answer_that_cannot_be_unpacked_is_asked_for_again(server):
    server.answer = lambda _: Reply(200, b"no gzip", {"content-encoding": "gzip"})
    with pytest.raises(ModelBusy, match="DecodingError"):
        connect(WAYS["plain"], server).complete(REQUEST)


def test_a_price_that_nobody_knows_is_unknown(chat):
    assert chat.bound(REQUEST).usd is None
    assert chat.complete(REQUEST).usage.usd is None


def test_what_is_listed_as_free_is_free_and_what_is_not_listed_is_not():
    assert Prices("ollama/llama3.1", CallConfig()).usd(1_000, 1_000) == 0.0
    assert Prices("ollama/of-my-own", CallConfig()).usd(1_000, 1_000) is None
    # Half a price is none.
    assert Prices("openai/of-my-own", CallConfig(usd_per_million_in=1)).usd(1_000, 1_000) is None


def test_a_price_of_the_settings_is_charged(model, server):
    chat = connect(model, server, usd_per_million_in=10, usd_per_million_out=100)
    assert chat.complete(REQUEST).usage.usd == pytest.approx(100 * 10e-6 + 20 * 100e-6)


@pytest.mark.parametrize(("finish", "seen"), [("length", "length"), ("content_filter", "refused"), ("stop", "stop")])
def test_how_an_answer_ended_is_told(chat, server, finish, seen):
    server.answer = lambda _: said('{"entities": [', finish)
    assert chat.complete(REQUEST).finish == seen


def test_a_refusal_is_told_from_an_answer(model, server):
    server.answer = lambda _: failed(400, "Rejected by our content management policy.", "content_filter")
    answer = connect(model, server).complete(REQUEST)
    assert (answer.text, answer.finish, answer.usage.tokens_out) == ("", "refused", 0)


def test_a_model_that_refuses_in_words_of_its_own_is_told_from_an_answer(server):
    server.answer = lambda _: said(None, refusal="I cannot read this.")
    assert connect("openai/scripted", server).complete(REQUEST).finish == "refused"


@pytest.mark.parametrize("text", ["", "no JSON", '```json\n{"entities": []}\n```'])
def test_what_the_text_is_worth_is_not_judged_here(chat, server, text):
    server.answer = lambda _: said(text)
    assert chat.complete(REQUEST).text == text


def test_a_rate_limit_passes_after_the_time_that_the_service_asks_for(chat, server):
    assert fail(chat, server, scripted_llm.busy("7"), ModelBusy).retry_after == 7
    assert fail(chat, server, scripted_llm.busy(), ModelBusy).retry_after == 0


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_service_in_trouble_is_waited_for(chat, server, status):
    error = fail(chat, server, failed(status, "out of order"), ModelBusy)
    assert not isinstance(error, ModelTimeout)


@pytest.mark.parametrize(
    "reply",
    [scripted_llm.page(200, "<html>Welcome</html>"), scripted_llm.page(502, "<html>"), COMPLETION.cut()],
    ids=["page", "page of a proxy", "cut off"],
)
def test_what_is_no_completion_says_nothing_of_the_text(chat, server, reply):
    fail(chat, server, reply, ModelBusy)


def test_a_server_that_is_not_there_is_waited_for(model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        config = CallConfig(timeout_seconds=5, api_base=f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with pytest.raises(ModelBusy, match="scripted"):
            LitellmChat(model, config, 0.0).complete(REQUEST)


@pytest.mark.parametrize("reply", [COMPLETION.hanging(), COMPLETION.dripping(0.02), COMPLETION.slow(3)])
def test_the_deadline_holds_whatever_the_server_does(model, server, reply):
    chat = connect(model, server, timeout_seconds=0.4)
    began = time.monotonic()
    fail(chat, server, reply, ModelTimeout)
    assert time.monotonic() - began < 1.5


def test_a_wrong_key_is_named_by_its_variable_and_never_shown(model, server):
    chat = connect(model, server, api_key="sk-secret-of-mine")
    error = fail(chat, server, scripted_llm.wrong_key(), ModelRefused)
    assert isinstance(error, HaltsRun)
    assert f"{model.partition('/')[0].upper()}_API_KEY" in str(error)
    assert "secret-of-mine" not in str(error)
    assert server.requests[-1].headers["authorization"] == "Bearer sk-secret-of-mine"


def test_a_quota_that_is_used_up_is_no_rate_limit(chat, server):
    assert "quota is used up" in str(fail(chat, server, scripted_llm.no_quota(), ModelRefused))


def test_a_model_that_does_not_exist_stops_the_run(chat, server):
    reply = failed(404, "The model `scripted` does not exist", "model_not_found")
    assert "GRAPHMILL_LLM__MODEL" in str(fail(chat, server, reply, ModelRefused))


def test_a_request_that_the_service_finds_fault_with_stops_the_run(chat, server):
    reply = failed(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    assert "'temperature' does not support 0" in str(fail(chat, server, reply, ModelRefused))


def test_a_prompt_that_is_too_long_is_told_from_other_faults(chat, server):
    fail(chat, server, scripted_llm.too_long(), PromptTooLong)


def test_a_form_of_answer_that_the_service_does_not_know_is_asked_for_once(model, server):
    def answer(body):
        kind = body.get("response_format", {}).get("type")
        return scripted_llm.no_format(kind) if kind else scripted_llm.extract(body)

    server.answer = answer
    for _ in ("json_schema", "json_object"):
        with pytest.raises(ModelBusy) as caught:
            connect(model, server).complete(REQUEST)
        assert caught.value.retry_after == 0
    for _ in range(2):
        assert connect(model, server).complete(REQUEST).finish == "stop"
    kinds = [seen.body.get("response_format", {}).get("type") for seen in server.requests]
    assert kinds == ["json_schema", "json_object", None, None]
    assert all(json.dumps(SCHEMA, separators=(",", ":")) in seen.prompt for seen in server.requests[1:])


@pytest.mark.parametrize("form", Form)
def test_without_a_schema_plain_text_is_asked_for_and_no_form_learnt(chat, model, server, form):
    _learnt[model, server.base_url] = form
    server.answer = lambda _: said("SET 1 NONE")
    assert chat.complete(replace(REQUEST, schema={})).text == "SET 1 NONE"
    assert "response_format" not in server.requests[0].body
    assert server.requests[0].body["messages"][0]["content"] == REQUEST.system
    server.answer = lambda _: scripted_llm.no_format("json_schema")
    with pytest.raises(ModelRefused):
        chat.complete(replace(REQUEST, schema={}))
    assert _learnt == {(model, server.base_url): form}


def test_a_model_without_a_provider_is_refused_with_the_way_to_write_it(server):
    with pytest.raises(ModelRefused, match="no provider of the model 'nonsense'"):
        connect("nonsense", server).complete(REQUEST)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ],
)
def test_a_model_without_its_key_is_refused_with_the_name_of_the_variable(model, name):
    with pytest.raises(ModelRefused, match=f"[Ss]et GRAPHMILL_LLM_API_KEY or {name}"):
        LitellmChat(model, CallConfig(timeout_seconds=2), 0.0).complete(REQUEST)


def test_a_listed_model_has_its_price_and_the_parameters_that_it_takes(server):
    chat = connect("openai/gpt-5-mini", server)
    assert chat.complete(REQUEST).usage.usd == pytest.approx(100 * 0.25e-6 + 20 * 2e-6)
    body = server.requests[0].body
    assert body["max_completion_tokens"] == 200
    assert not {"temperature", "max_tokens", "stream"} & set(body)
