"""Tells a model's service that asks for patience, or does not answer, from a fault of whoever calls it.

The libraries of services share no class of errors and need not be installed, so errors are told by the
names of their classes and by what they carry: `status_code` and a `Retry-After` header, on the error or
its `response` (httpx, openai, anthropic, litellm, requests, aiohttp, urllib).
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from pipeline.errors import ModelBusy, PipelineError, is_time_limit

_OVERLOADED = 529
"""What Anthropic answers for load."""
_PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
    _OVERLOADED,
}
_UNANSWERED = frozenset(
    {
        "ConnectionError",  # Python's own, and that of requests
        "TimeoutError",
        "Timeout",  # requests, litellm
        "TimeoutException",  # httpx
        "NetworkError",  # httpx
        "RemoteProtocolError",  # httpx: cut off in the middle
        "APIConnectionError",  # openai, anthropic, litellm; also their timeouts
        "ClientConnectionError",  # aiohttp
    }
)


@contextmanager
def calling_service(model: str) -> Iterator[None]:
    """Raise `ModelBusy` for what passes by itself: a rate limit, an overload, a timeout, a broken connection."""
    try:
        yield
    except PipelineError:
        raise
    except Exception as error:
        for cause in _causes(error):
            if is_time_limit(cause):
                # A library took it for a broken connection; the task's time is over all the same.
                raise cause from error
        if not _passes(error):
            raise
        wait = retry_after(error)
        asked = f" (it asks for {wait:.0f} s)" if wait else ""
        said = " ".join(str(error).split())[:200]
        raise ModelBusy(f"{model}: {type(error).__name__}: {said}{asked}", retry_after=wait) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _passes(error: Exception) -> bool:
    if any(cls.__name__ in _UNANSWERED for cls in type(error).__mro__):
        return True
    status = status_of(error)
    # An HTTP answer of urllib is an URLError, too.
    return status in _PASSING if status is not None else type(error).__name__ == "URLError"


def status_of(error: Exception) -> int | None:
    """Give the HTTP status that an error carries, or None."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int):
                return value
    return None


def retry_after(error: object) -> float:
    """Read how many seconds an error or a response asks to wait, as a number or a date; 0 where nothing is readable."""
    for headers in _headers(error):
        with suppress(AttributeError, TypeError):
            named = {str(name).lower(): str(value) for name, value in headers.items()}
            # The finer of the two, where a service gives both.
            wait = _seconds(named.get("retry-after-ms", "")) / 1000 or _seconds(named.get("retry-after", ""))
            if wait:
                return wait
    return 0.0


def _headers(error: object) -> Iterator[Any]:
    yield getattr(getattr(error, "response", None), "headers", None)
    yield getattr(error, "headers", None)
    # litellm makes up a response of some providers' errors, without the headers.
    yield getattr(error, "litellm_response_headers", None)


def _seconds(text: str) -> float:
    with suppress(ValueError):
        seconds = float(text)
        return max(0.0, seconds) if math.isfinite(seconds) else 0.0
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return 0.0
