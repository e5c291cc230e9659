"""What a service's failure means, in the words of many services; how JSON is asked for; a deadline that holds."""

import threading
import time

import pytest

from pipeline.adapters.chat.deadline import within
from pipeline.adapters.chat.failures import Failure, error_of
from pipeline.adapters.chat.forms import Form, form_of, is_about_format, messages_of, refuse_form, response_format
from pipeline.errors import ModelBusy, ModelRefused, ModelTimeout, PromptTooLong
from pipeline.ports import ChatRequest

TOO_LONG = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    '{"error": {"code": 400, "type": "exceed_context_size_error", "message": "it exceeds the available size"}}',
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
    "Please reduce the length: Input is too long for requested model.",
    "Current length is 9000 while limit is 8192",
]
OF_A_MINUTE = [
    "Rate limit reached for gpt-4o on tokens per minute (TPM): Limit 30000. Please try again in 7.5s.",
    "You exceeded your current quota, please check your plan and billing details. Please retry in 7.5s.",
    "Quota exceeded for requests per minute. Try again in 7500ms",
]
SPENT = [
    '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota. Try again in 7s"}}',
    "You exceeded your current quota, please check your plan and billing details.",
    "Your credit balance is too low to access the API.",
    "Insufficient balance",
]


def told(status, message, key="", **more):
    return error_of(Failure(status, message, **more), "openai/m", "OPENAI_API_KEY", key)


@pytest.mark.parametrize("message", TOO_LONG)
def test_many_services_say_that_a_prompt_is_too_long(message):
    assert isinstance(told(400, message), PromptTooLong)


def test_a_body_that_is_too_large_is_a_prompt_that_is_too_long():
    assert isinstance(told(413, "Request Entity Too Large"), PromptTooLong)


@pytest.mark.parametrize("message", OF_A_MINUTE)
def test_a_limit_of_a_minute_passes_also_where_it_speaks_of_quota(message):
    error = told(429, message)
    assert isinstance(error, ModelBusy)
    assert error.retry_after == 7.5


@pytest.mark.parametrize("message", SPENT)
def test_what_only_money_helps_stops_the_run(message):
    assert isinstance(told(429, message), ModelRefused)


def test_an_account_that_must_be_paid_stops_the_run():
    assert isinstance(told(402, "Payment Required"), ModelRefused)


def test_an_account_without_credit_is_told_of_by_400_too():
    assert "billing" in str(told(400, "Your credit balance is too low to access the API."))
    assert "settings" in str(told(400, "Unknown parameter."))


def test_a_wait_of_minutes_is_understood():
    assert told(429, "Rate limit reached on requests per day (RPD). Please try again in 1m7.5s.").retry_after == 67.5
    assert told(429, "Please try again later").retry_after == 0


def test_what_the_header_asks_for_is_worth_more_than_the_words():
    assert told(429, "Please try again in 7s", retry_after=20.0).retry_after == 20


@pytest.mark.parametrize("status", [408, 504])
def test_a_service_that_ran_out_of_time_is_a_timeout(status):
    assert isinstance(told(status, "upstream timed out"), ModelTimeout)
    assert isinstance(told(None, "ReadTimeout", slow=True), ModelTimeout)


@pytest.mark.parametrize(
    "message",
    [
        "no key abc-123 here",
        "Incorrect API key provided: sk-proj-1234567890abcdef.",
        "Authorization: Bearer abcdefgh12",
    ],
)
def test_no_key_is_ever_shown(message):
    shown = str(told(401, message, key="abc-123"))
    assert "***" in shown
    assert not any(secret in shown for secret in ("abc-123", "1234567890", "abcdefgh12"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_a_person_must_mend_says_so_and_how(status):
    error = told(status, "no")
    assert isinstance(error, ModelRefused)
    assert str(error).endswith("then resume the run.")


def test_a_filter_that_refuses_a_text_is_told_from_a_request_that_is_wrong():
    assert Failure(400, "The response was filtered due to Azure's content management policy").filtered
    assert not Failure(500, "content_filter is out of order").filtered
    assert not Failure(400, "Unknown parameter: 'max_tokens'").filtered


def test_the_next_form_is_learnt_once_however_many_calls_find_out():
    model = "openai/learns"
    assert all(refuse_form(model, "here", Form.SCHEMA) for _ in range(3))
    assert form_of(model, "here") is Form.OBJECT
    assert form_of(model, "elsewhere") is Form.SCHEMA
    assert refuse_form(model, "here", Form.OBJECT)
    assert not refuse_form(model, "here", Form.WORDS)
    assert form_of(model, "here") is Form.WORDS


@pytest.mark.parametrize(
    "message",
    [
        "'response_format' of type 'json_schema' is not supported",
        "failed to parse grammar",
        "Invalid schema for answer",
    ],
)
def test_complaints_of_the_form_are_recognised(message):
    assert is_about_format(message)
    assert not is_about_format("Unsupported value: 'temperature'")


def test_a_schema_that_the_service_is_not_given_stands_in_the_prompt():
    request = ChatRequest("Read.", "text", {"type": "object"}, 10)
    assert messages_of(request, Form.SCHEMA)[0]["content"] == "Read."
    for form in (Form.OBJECT, Form.WORDS):
        assert '{"type":"object"}' in messages_of(request, form)[0]["content"]
    assert response_format(request.schema, Form.WORDS) is None


def test_only_a_closed_schema_is_held_to_strictly():
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    nested = {**closed, "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}}}
    for schema, strict in ((closed, True), ({**closed, "required": []}, False), (nested, False)):
        assert response_format(schema, Form.SCHEMA)["json_schema"]["strict"] is strict


def test_a_call_in_time_gives_what_it_gives_or_raises_what_it_raises():
    assert within(5, lambda: "answer") == "answer"
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)


def test_a_call_that_hangs_is_left_alone_at_the_deadline():
    ended = threading.Event()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        within(0.05, ended.wait)
    assert time.monotonic() - began < 2
    left = [thread for thread in threading.enumerate() if thread.name == "language-model"]
    assert left
    assert all(thread.daemon for thread in left)
    ended.set()
