"""What it means that a language model's service did not answer: wait, shorten the prompt, or call a person."""

import re
from http import HTTPStatus

from pipeline.errors import ModelBusy, ModelRefused, ModelTimeout, PipelineError, PromptTooLong

_LONGEST_QUOTE = 300
_OVERLOADED = 529
"""What Anthropic answers for load."""
_PASSING = {HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS, _OVERLOADED}
_SLOW = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT}
_SERVER = range(500, 600)

# Services share no codes for these, only ways of saying it.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|window|size|limit)|prompt is too long|too many tokens"
    r"|input (is )?too long|(input|prompt) tokens? (count )?exceed|exceeds the maximum number of tokens"
    r"|max_new_tokens` must be|current length is .* while limit is",
    re.IGNORECASE | re.DOTALL,
)
_FILTERED = re.compile(
    r"content[_ ]?filter|content[_ ]policy|content management policy|ResponsibleAIPolicyViolation|safety system"
    r"|flagged by .*moderation|blocked by .*safety",
    re.IGNORECASE,
)
_NO_QUOTA = re.compile(
    r"insufficient_quota|insufficient (balance|credit|funds)|billing|credit balance|quota", re.IGNORECASE
)
# What libraries say before they ask anybody, as of a broken connection.
_OF_KEY = re.compile(r"api.?key|credential|permission|authenti|authori|access|account", re.IGNORECASE)
_NOT_SET_UP = re.compile(
    r"missing .{0,60}(key|credentials)|unable to locate credentials|no module named|pip install", re.IGNORECASE
)
_OF_A_MINUTE = re.compile(r"per[ _-]?(minute|second)", re.IGNORECASE)
_SPOKEN_WAIT = re.compile(
    r"(?:re)?try (?:again )?in (?=\d)(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m(?!s))?"
    r"(?:(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|s))?",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\b(sk|pk|key|gsk|xai|AIza)[-_]?[\w*-]{6,}|(?<=Bearer )\S+")


class Failure(Exception):
    """What a service, or the way to it, said instead of an answer.

    `status` is that of HTTP (None: nobody answered), `message` holds the service's own code and type of error where
    it gives them, `slow` says that a library waited for it in vain.
    """

    def __init__(self, status: int | None, message: str, retry_after: float = 0.0, *, slow: bool = False) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.retry_after = retry_after
        self.slow = slow

    @property
    def too_long(self) -> bool:
        """Whether the prompt is longer than the model takes."""
        if self.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return True
        return self.invalid and _TOO_LONG.search(self.message) is not None

    @property
    def filtered(self) -> bool:
        """Whether a filter of the service refuses to read the text."""
        return self.invalid and _FILTERED.search(self.message) is not None

    @property
    def invalid(self) -> bool:
        """Whether the service finds fault with the request itself."""
        return self.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)

    @property
    def unexplained(self) -> bool:
        """Whether the service finds fault with the request, and nobody can tell with what of it."""
        known = self.too_long or self.filtered or _is_spent(self, self.retry_after) or _OF_KEY.search(self.message)
        return self.invalid and not known


def error_of(failure: Failure, model: str, key_name: str, key: str) -> PipelineError:
    """Say what is to be done about a failure; `key_name` is the variable that holds the provider's key.

    Returns `PromptTooLong`, `ModelTimeout`, `ModelBusy`, or `ModelRefused` with the fix.
    """
    said = _quote(failure.message.partition("Traceback (")[0], key)
    status = failure.status
    told = f"{model}: {said}" if status is None else f"{model}: HTTP {status}: {said}"
    wait = failure.retry_after or _spoken_wait(failure.message)
    asked = f" (it asks for {wait:.0f} s)" if wait else ""
    if (status is None or status in _SERVER) and _NOT_SET_UP.search(failure.message):
        fix = f"Set GRAPHMILL_LLM_API_KEY or {key_name} for the workers, or install what is missing"
        return ModelRefused(f"{model}: {said} - {fix}, then resume the run.")
    if failure.slow or status in _SLOW:
        return ModelTimeout(told + asked, retry_after=wait)
    if failure.too_long:
        return PromptTooLong(told)
    if status == HTTPStatus.PAYMENT_REQUIRED or _is_spent(failure, wait):
        return ModelRefused(f"{told} - The account's quota is used up: see its plan and billing, then resume the run.")
    if status is None or status in _PASSING or status in _SERVER:
        return ModelBusy(told + asked, retry_after=wait)
    return ModelRefused(f"{told} - {_fix(status, key_name)}, then resume the run.")


def _fix(status: int, key_name: str) -> str:
    key = f"GRAPHMILL_LLM_API_KEY or {key_name}"
    if status == HTTPStatus.UNAUTHORIZED:
        return f"The service takes no such key: set {key} for the workers"
    if status == HTTPStatus.FORBIDDEN:
        return f"The key ({key}) may not use this model: set another key, or another GRAPHMILL_LLM__MODEL"
    if status == HTTPStatus.NOT_FOUND:
        return (
            "There is no such model, or nothing at this address: set GRAPHMILL_LLM__MODEL or GRAPHMILL_CALLS__API_BASE"
        )
    return "The service finds fault with the request: check the settings GRAPHMILL_LLM__..."


def _is_spent(failure: Failure, wait: float) -> bool:
    # Anthropic says by 400 that an account has no credit left.
    if failure.status not in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_REQUEST):
        return False
    # Google says "quota" and "billing" of a minute's limit as well, and then how long to wait.
    if re.search("insufficient_quota", failure.message):
        return True
    return not wait and not _OF_A_MINUTE.search(failure.message) and _NO_QUOTA.search(failure.message) is not None


def _spoken_wait(message: str) -> float:
    """Read `try again in 1m7.5s`, in seconds; 0 where nothing like it is said."""
    found = _SPOKEN_WAIT.search(message)
    if found is None:
        return 0.0
    seconds = float(found["number"] or 0)
    if (found["unit"] or "").lower() == "ms":
        seconds /= 1000
    return seconds + 60 * int(found["minutes"] or 0) + 3600 * int(found["hours"] or 0)


def _quote(message: str, key: str) -> str:
    if key:
        message = message.replace(key, "***")
    return _SECRET.sub("***", " ".join(message.split()))[:_LONGEST_QUOTE]
