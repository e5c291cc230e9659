"""The gate before language models: asks the ledger for leave before each call, and reports what it came to.

It has the port of the models behind it, so neither they nor who asks them knows of limits, budgets or fallbacks.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence

import structlog

from pipeline.config import CallConfig
from pipeline.errors import (
    BudgetSpent,
    FormRefused,
    ModelBusy,
    ModelRefused,
    ModelTimeout,
    PipelineError,
    PromptTooLong,
    is_time_limit,
)
from pipeline.models import Usage
from pipeline.ports import ChatAnswer, ChatModel, ChatRequest
from scheduler.accounts import spell_unpriced
from scheduler.calls import CallEnd, Calls, Granted, Refusal, Refused
from scheduler.errors import LedgerUnavailable

_log = structlog.get_logger(__name__)

PATIENCE_SECONDS = 20.0
"""How long a call waits for room in all; then its file waits in the ledger, not in a worker's slot."""
LONGEST_KNOWN_WAIT_SECONDS = 2.0
"""Where leave is known to be further away than this, nobody waits for it."""
MOST_FORMS = 3
"""How often a question is put in another form."""
RETRY_SECONDS = 2.0
"""When a call that found no room is worth trying again, at the earliest."""

_SPELLED = {
    Refusal.IN_FLIGHT: "as many calls are under way as may be",
    Refusal.RATE: "the requests or tokens of this minute are used up",
    Refusal.PROBING: "its first call has not been answered yet",
    Refusal.STOPPED: "its service asked to be left alone for a while",
    Refusal.BROKEN: "its service failed several times and is tried once in a while",
    Refusal.BUDGET_WAITS: "what is left of the budget is reserved for calls under way",
}
# A model that may be asked soon is waited for; only for these another one is asked in its place.
_PASSED_OVER = frozenset({Refusal.STOPPED, Refusal.BROKEN, Refusal.REFUSED, Refusal.PRICE_UNKNOWN})


class GatedChat:
    """Language models of one run behind the ledger's leave; the first that may be asked is.

    Args:
        models: The first choice, then those that stand in for it while it may not be asked or refuses.
        calls: Who gives leave.
        limits: How each of the models may be called.
        run: Whose budget the calls are: a run, or the account of a finalize.
    """

    def __init__(self, models: Sequence[ChatModel], calls: Calls, limits: CallConfig, run: str) -> None:
        if not models:
            raise ValueError("a gate needs a model behind it")
        self._models = tuple(models)
        self._calls = calls
        self._limits = limits
        self._run = run
        # Of all threads of the process one asks, the others queue up behind it: the ledger is not asked by each.
        self._asking = threading.Lock()
        self._freed = threading.Event()

    @property
    def model(self) -> str:
        """The first choice, as in settings."""
        return self._models[0].model

    def bound(self, request: ChatRequest) -> Usage:
        """Tell what one call of the first choice may cost at most."""
        return self._models[0].bound(request)

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask once there is leave; another model where one refuses or is busy, but each of them once.

        Raises what the models do, and:
            ModelBusy: There is no room soon enough; `retry_after` says when it is worth trying again.
            ModelRefused: None of the models takes a call of ours.
            BudgetSpent: The run's budget is spent, or cannot be kept as a price is unknown.
            LedgerUnavailable: The ledger does not answer.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        failed: dict[str, PipelineError] = {}
        rephrased: Counter[str] = Counter()
        while models := [model for model in self._models if model.model not in failed]:
            found = self._wait_for_leave(models, request, deadline, failed)
            if found is None:
                break
            model, granted = found
            try:
                return self._call(model, granted, request)
            except FormRefused as error:
                # Each model has a few forms, and learns; one that never does is busy.
                rephrased[model.model] += 1
                if rephrased[model.model] > MOST_FORMS:
                    failed[model.model] = error
            except ModelTimeout:
                # Perhaps the fault of this text; and another model has no time left in this task.
                raise
            except (ModelBusy, ModelRefused) as error:
                failed[model.model] = error
        raise _worst(failed.values())

    def _wait_for_leave(
        self, models: Sequence[ChatModel], request: ChatRequest, deadline: float, failed: dict[str, PipelineError]
    ) -> tuple[ChatModel, Granted] | None:
        """Wait until one of the models may be asked; None where none may soon: `failed` then says of each why."""
        bounds = [(model, model.bound(request)) for model in models]
        if not self._asking.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _busy(self.model, Refused(Refusal.IN_FLIGHT, RETRY_SECONDS))
        try:
            while True:
                self._freed.clear()
                refused: dict[str, Refused] = {}
                for model, bound in bounds:
                    answer = self._ask(model.model, bound)
                    if isinstance(answer, Granted):
                        return model, answer
                    if answer.reason is Refusal.BUDGET_SPENT:
                        raise BudgetSpent(answer.detail)
                    if answer.reason is Refusal.PRICE_UNKNOWN and model is self._models[0]:
                        raise BudgetSpent(spell_unpriced(self._run, model.model))
                    refused[model.model] = answer
                    if answer.reason not in _PASSED_OVER:
                        break
                wait = min(_wait(answer) for answer in refused.values())
                left = deadline - time.monotonic()
                if wait > LONGEST_KNOWN_WAIT_SECONDS or left <= 0:
                    failed |= {name: _as_error(name, answer, self._run) for name, answer in refused.items()}
                    return None
                self._freed.wait(min(wait, left))
        finally:
            self._asking.release()

    def _ask(self, model: str, bound: Usage) -> Granted | Refused:
        """Ask until leave comes while it is good, or is refused."""
        while True:
            permit = secrets.token_hex(8)
            asked = time.monotonic()
            try:
                answer = self._calls.ask(model, self._limits, bound, self._run, permit)
            except PipelineError:
                raise
            except BaseException:
                # It may have been granted: the time limit of a task strikes anywhere.
                self._give_back(Granted(model, self._run, permit, bound, self._limits.in_flight, 0), CallEnd.UNSENT)
                raise
            if isinstance(answer, Refused) or time.monotonic() - asked < self._calls.leave_seconds:
                return answer
            self._give_back(answer, CallEnd.UNSENT)

    def _call(self, model: ChatModel, granted: Granted, request: ChatRequest) -> ChatAnswer:
        """Call, and report what it came to whatever that is."""
        end, usage, retry_after, refusal = CallEnd.ABANDONED, None, 0.0, ""
        try:
            answer = model.complete(request)
        except ModelTimeout as error:
            end, retry_after = CallEnd.TIMED_OUT, error.retry_after
            raise
        except FormRefused:
            end = CallEnd.REPHRASED
            raise
        except ModelBusy as error:
            end, retry_after = CallEnd.BUSY, error.retry_after
            raise
        except ModelRefused as error:
            end, refusal = CallEnd.REFUSED, str(error) or "no reason given"
            raise
        except PromptTooLong:
            end = CallEnd.TOO_LONG
            raise
        except Exception as error:
            end = CallEnd.ABANDONED if is_time_limit(error) else CallEnd.GARBLED
            raise
        else:
            # A service that tells no tokens leaves open what it cost.
            usage = answer.usage if answer.usage.tokens_in + answer.usage.tokens_out else None
            end = CallEnd.ANSWERED
            return answer
        finally:
            self._give_back(granted, end, usage, retry_after, refusal)

    def _give_back(
        self, granted: Granted, end: CallEnd, usage: Usage | None = None, retry_after: float = 0.0, refusal: str = ""
    ) -> None:
        """Report; a ledger that takes no report costs no answer: the permit expires, and its bound counts as spent."""
        try:
            patient = end is CallEnd.ANSWERED
            self._calls.report(granted, end, usage, retry_after=retry_after, refusal=refusal, patient=patient)
        except LedgerUnavailable as error:
            _log.warning("call_unreported", model=granted.model, run=granted.run, end=end.value, error=str(error))
        finally:
            self._freed.set()


def _wait(refused: Refused) -> float:
    """Give the seconds after which it is worth asking again; never, where a person must act first."""
    return float("inf") if refused.reason in {Refusal.REFUSED, Refusal.PRICE_UNKNOWN} else refused.wait_seconds


def _as_error(model: str, refused: Refused, run: str) -> PipelineError:
    if refused.reason is Refusal.REFUSED:
        return ModelRefused(refused.detail)
    if refused.reason is Refusal.PRICE_UNKNOWN:
        return BudgetSpent(spell_unpriced(run, model))
    return _busy(model, refused)


def _busy(model: str, refused: Refused) -> ModelBusy:
    after = max(refused.wait_seconds, RETRY_SECONDS)
    return ModelBusy(f"{model} cannot be asked now: {_SPELLED[refused.reason]}", retry_after=after)


def _worst(errors: Iterable[PipelineError]) -> PipelineError:
    """Of why each model did not answer, say what decides: the one that may answer first, else the first's refusal."""
    found = list(errors)
    busy = [error for error in found if isinstance(error, ModelBusy)]
    return min(busy, key=lambda error: error.retry_after) if busy else found[0]
