"""A language model behind litellm, as the port `ChatModel`: one call is one request at most, within a deadline."""

import threading
from collections.abc import Mapping
from typing import Any

from pipeline.adapters.chat.deadline import within
from pipeline.adapters.chat.failures import Failure, error_of
from pipeline.adapters.chat.forms import Form, form_of, is_about_format, messages_of, prompt_bytes, refuse_form
from pipeline.adapters.chat.forms import response_format as format_of
from pipeline.adapters.chat.prices import Prices
from pipeline.adapters.chat.routes import Question, Route, route_to
from pipeline.config import CallConfig
from pipeline.errors import FormRefused, ModelTimeout
from pipeline.models import Usage
from pipeline.ports import ChatAnswer, ChatRequest

_FRAMING_TOKENS = 512
"""More than services add of their own: roles, and an instruction to keep to the schema."""
_BYTES_PER_TOKEN = 4
"""Of English, where a service does not say what it counted."""
_MOST_TOKENS = 100_000_000
"""What no prompt or answer comes near."""


class LitellmChat:
    """Asks one model; `api_key` '' leaves it to the variables that litellm reads.

    It learns which form of structured answers the service takes, and connects on its first call: make it in the
    process that uses it.
    """

    def __init__(self, model: str, config: CallConfig, temperature: float, api_key: str = "") -> None:
        self.model = model
        self._config, self._temperature, self._key = config, temperature, api_key
        self._prices = Prices(model, config)
        self._connecting = threading.Lock()
        self._route: Route | None = None
        self._has_answered = False

    def bound(self, request: ChatRequest) -> Usage:
        """Tell what one call may cost at most: a token is a byte at least. Asks nobody."""
        tokens_in = prompt_bytes(request) + _FRAMING_TOKENS
        tokens_out = request.max_output_tokens
        return Usage(1, tokens_in, tokens_out, self._prices.usd(tokens_in, tokens_out))

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask once, without retries.

        A service that does not take the form in which JSON is asked for raises `FormRefused`: the next call asks in
        another one.

        Raises:
            ModelBusy: It refuses for load, is broken, or cannot be reached.
            ModelTimeout: It took longer than `timeout_seconds`.
            ModelRefused: It takes no such call; the message says what to fix.
            PromptTooLong: The prompt is longer than the model takes.
        """
        seconds = self._config.timeout_seconds
        form = Form.SCHEMA
        try:
            route = self._connect()
            form = form_of(self.model, self._config.api_base) if route.takes_format else Form.WORDS
            question = self._question(request, form)
            completion = within(seconds, lambda: route.ask(question))
        except TimeoutError:
            raise ModelTimeout(f"{self.model}: no answer within {seconds:g} s.") from None
        except Failure as failure:
            return self._refused(request, form, failure)
        return self._answer(request, completion)

    def _connect(self) -> Route:
        with self._connecting:
            if self._route is None:
                self._route = route_to(self.model, self._config, self._key)
            return self._route

    def _question(self, request: ChatRequest, form: Form) -> Question:
        shape = format_of(request.schema, form)
        return Question(messages_of(request, form), shape, request.max_output_tokens, self._temperature)

    def _refused(self, request: ChatRequest, form: Form, failure: Failure) -> ChatAnswer:
        """Give an answer without text where a filter refuses to read it, raise otherwise."""
        # One that has answered others, and now finds an unknown fault, finds it with this text.
        if failure.filtered or (self._has_answered and failure.unexplained and not is_about_format(failure.message)):
            # What is not answered is not charged for.
            return ChatAnswer("", "refused", self._usage(prompt_bytes(request) // _BYTES_PER_TOKEN, 0), self.model)
        about_format = failure.invalid and not failure.too_long and is_about_format(failure.message)
        if request.schema and about_format and refuse_form(self.model, self._config.api_base, form):
            raise FormRefused(
                f"{self.model} takes no {form.name.lower()} as form of its answer: {failure.message[:200]}"
            )
        provider = self._route.provider if self._route else self.model.partition("/")[0]
        raise error_of(failure, self.model, f"{provider.upper()}_API_KEY", self._key) from failure

    def _answer(self, request: ChatRequest, completion: Mapping[str, Any]) -> ChatAnswer:
        self._has_answered = True
        choice = _object(next(iter(completion["choices"]), None))
        message = _object(choice.get("message"))
        text = _text(message.get("content"))
        counted = _object(completion.get("usage"))
        tokens_in = _tokens(counted.get("prompt_tokens")) or prompt_bytes(request) // _BYTES_PER_TOKEN
        text_bytes = len(text.encode("utf-8", "surrogatepass"))
        tokens_out = _tokens(counted.get("completion_tokens")) or text_bytes // _BYTES_PER_TOKEN
        finish = _finish(choice.get("finish_reason"), message.get("refusal"))
        return ChatAnswer(text, finish, self._usage(tokens_in, tokens_out), self.model)

    def _usage(self, tokens_in: int, tokens_out: int) -> Usage:
        return Usage(1, tokens_in, tokens_out, self._prices.usd(tokens_in, tokens_out))


def _object(raw: Any) -> Mapping[str, Any]:
    """Give a part of a completion; one of another shape says nothing."""
    return raw if isinstance(raw, Mapping) else {}


def _tokens(raw: Any) -> int:
    """Give a number of tokens; 0 for what can be none, which would upset the sums of a run for good."""
    return int(raw) if isinstance(raw, int | float) and 0 < raw <= _MOST_TOKENS else 0


def _text(content: Any) -> str:
    """Give the text of a message; some services write it in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _finish(reason: Any, refusal: Any) -> str:
    if refusal or reason == "content_filter":
        return "refused"
    return "length" if reason in ("length", "max_tokens") else "stop"
