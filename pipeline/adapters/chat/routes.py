"""The two ways to a model: over HTTP where the service speaks OpenAI's protocol, through litellm otherwise.

litellm takes 10 ms of CPU for a call, as it looks the model up a dozen times and keeps a log; the plain request takes
one. So what litellm knows of a model of OpenAI's protocol (its name, the parameters it takes) is asked for once.
"""

import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import httpx
import orjson

from pipeline.adapters.chat.failures import Failure
from pipeline.adapters.chat.library import load_litellm
from pipeline.adapters.services import retry_after, status_of
from pipeline.config import CallConfig
from pipeline.errors import ModelRefused

_BAD_REQUEST = 400
_NO_KEY = "none"
"""Sent to a server of one's own that wants no key."""
_NEAR_SECONDS = 10.0
"""Longest wait for a connection."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call, in the words of OpenAI's protocol."""

    messages: list[dict[str, str]]
    response_format: dict[str, Any] | None
    max_tokens: int
    temperature: float


class Route(Protocol):
    """Asks one model."""

    provider: str
    takes_format: bool
    """Whether `response_format` reaches the model at all."""

    def ask(self, question: Question) -> Mapping[str, Any]:
        """Give the completion as OpenAI writes it; raises `Failure`."""


def route_to(model: str, config: CallConfig, api_key: str) -> Route:
    """Choose the way to a model.

    Raises `ModelRefused` where litellm knows no provider of it, and `Failure` where OpenAI's key is missing.
    """
    litellm = load_litellm()
    base, key = config.api_base or None, api_key or None
    try:
        name, provider, _, _ = litellm.get_llm_provider(model, api_base=base, api_key=key)
    except litellm.BadRequestError:
        raise ModelRefused(
            f"litellm knows no provider of the model {model!r}. Set GRAPHMILL_LLM__MODEL to provider/name, as "
            "openai/gpt-4o-mini, or openai/NAME for a server of your own."
        ) from None
    # Some of OpenAI's models answer under another address only.
    chats = litellm.model_cost.get(name, {}).get("mode", "chat") == "chat"
    if provider == "openai" and chats:
        return OpenaiRoute(litellm, name, config, api_key)
    return LibraryRoute(litellm, model, provider, config, api_key)


class OpenaiRoute:
    """Sends the request itself. Its connections belong to the process that makes it."""

    provider = "openai"
    takes_format = True

    def __init__(self, litellm: ModuleType, name: str, config: CallConfig, api_key: str) -> None:
        self._litellm, self._name, self._seconds = litellm, name, config.timeout_seconds
        url, headers = _address(config.api_base, api_key)
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(self._seconds, connect=min(_NEAR_SECONDS, self._seconds)),
            # Calls that were given up keep theirs for a while, so no call waits for one: the gate says how many may be.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=config.in_flight),
            follow_redirects=True,
        )
        # Nobody is asked to close a model; its sockets are closed with it.
        weakref.finalize(self, self._http.close).atexit = False
        self._parameters: dict[str, Any] | None = None

    def ask(self, question: Question) -> Mapping[str, Any]:
        """Give the completion as OpenAI writes it; raises `Failure`."""
        body = {**self._mapped(question), "model": self._name, "messages": question.messages}
        if question.response_format is not None:
            body["response_format"] = question.response_format
        until = time.monotonic() + self._seconds
        try:
            with self._http.stream("POST", self._url, content=orjson.dumps(body, default=dict)) as response:
                data = b"".join(_read_until(until, response))
        except httpx.TimeoutException as error:
            raise Failure(None, f"{type(error).__name__} at {self._url}", slow=True) from error
        except httpx.RequestError as error:
            raise Failure(None, f"{type(error).__name__} at {self._url}: {error}") from error
        if response.is_success:
            return _completion(data)
        raise Failure(response.status_code, data.decode("utf-8", "replace"), retry_after(response))

    def _mapped(self, question: Question) -> dict[str, Any]:
        """Give the parameters as the model takes them: some know no temperature, or another name of the limit."""
        if self._parameters is None:
            mapped = self._litellm.utils.get_optional_params(
                model=self._name,
                custom_llm_provider="openai",
                max_tokens=question.max_tokens,
                temperature=question.temperature,
                drop_params=True,
            )
            self._parameters = {name: value for name, value in mapped.items() if name not in ("stream", "extra_body")}
        limits = {name: question.max_tokens for name in self._parameters if name.startswith("max_")}
        return {**self._parameters, **limits}


def _address(api_base: str, api_key: str) -> tuple[str, dict[str, str]]:
    """Let OpenAI's client say where to ask and with which headers: it reads its own variables.

    Raises `ModelRefused` for an address or a key that can be neither: trying again would never help.
    """
    import openai

    key = api_key or None
    try:
        httpx.URL(api_base)
        client = openai.OpenAI(api_key=key, base_url=api_base or None)
    except httpx.InvalidURL as error:
        raise _no_address(api_base) from error
    except openai.OpenAIError as error:
        if not api_base:
            raise Failure(None, str(error)) from error
        client = openai.OpenAI(api_key=_NO_KEY, base_url=api_base)
    with client:
        given = {**client.default_headers, **client.auth_headers}
        headers = {name: value for name, value in given.items() if isinstance(value, str)}
        if client.base_url.scheme not in ("http", "https") or not client.base_url.host:
            raise _no_address(str(client.base_url))
        if not all(value.isascii() and value.isprintable() and value == value.strip() for value in headers.values()):
            raise ModelRefused(
                "The key of the language model holds what no key does: white space, a line's end, or a letter beyond "
                "ASCII. Set GRAPHMILL_LLM_API_KEY or OPENAI_API_KEY anew for the workers, then resume the run."
            )
        return str(client.base_url), headers


def _no_address(given: str) -> ModelRefused:
    return ModelRefused(
        f"{given!r} is no address of a service: set GRAPHMILL_CALLS__API_BASE of the workers to one as "
        "http://host:port/v1, then resume the run."
    )


def _read_until(until: float, response: httpx.Response) -> Iterator[bytes]:
    """Give the body; what nobody waits for any more is not read on."""
    for piece in response.iter_bytes():
        yield piece
        if time.monotonic() > until:
            raise httpx.ReadTimeout("The answer takes too long.")


def _completion(data: bytes) -> Mapping[str, Any]:
    try:
        completion = orjson.loads(data)
    except orjson.JSONDecodeError:
        completion = None
    if not isinstance(completion, dict) or not isinstance(completion.get("choices"), list):
        # A proxy's page, or what is no service of this kind: neither says anything of the text that was asked about.
        raise Failure(None, f"it answered with no completion: {data[:200].decode('utf-8', 'replace')!r}")
    return completion


class LibraryRoute:
    """Asks through litellm, which knows the protocols of all providers."""

    def __init__(self, litellm: ModuleType, model: str, provider: str, config: CallConfig, api_key: str) -> None:
        self._litellm, self._model, self.provider = litellm, model, provider
        given = {"api_base": config.api_base, "api_key": api_key or (_NO_KEY if config.api_base else "")}
        self._given = {name: value for name, value in given.items() if value}
        self._seconds = config.timeout_seconds
        supported = litellm.get_supported_openai_params(model=model, custom_llm_provider=provider)
        self.takes_format = "response_format" in (supported or ())

    def ask(self, question: Question) -> Mapping[str, Any]:
        """Give the completion as OpenAI writes it; raises `Failure`."""
        import openai

        litellm = self._litellm
        try:
            response = litellm.completion(
                model=self._model,
                messages=question.messages,
                response_format=question.response_format,
                max_tokens=question.max_tokens,
                temperature=question.temperature,
                timeout=self._seconds,
                max_retries=0,
                drop_params=True,
                **self._given,
            )
        except litellm.Timeout as error:
            raise Failure(None, error.message, retry_after(error), slow=True) from error
        except litellm.APIConnectionError as error:
            raise Failure(None, error.message, retry_after(error)) from error
        except litellm.ContextWindowExceededError as error:
            raise Failure(_BAD_REQUEST, f"context_length_exceeded: {error.message}") from error
        except litellm.ContentPolicyViolationError as error:
            raise Failure(_BAD_REQUEST, f"content_policy_violation: {error.message}") from error
        except openai.OpenAIError as error:
            status = status_of(error)
            # It gives the status of an answer that it cannot read as that of its error, too.
            raised = status if status is not None and status >= _BAD_REQUEST else None
            raise Failure(raised, str(error), retry_after(error)) from error
        completion: dict[str, Any] = response.model_dump()
        return completion
