"""Puts together what does the query worker's jobs: part of the wiring."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from pipeline.errors import QueryInvalid
from pipeline.llm.cypher import query_by_model
from pipeline.models import Evidence, Usage
from pipeline.ports import ChatAnswer, ChatRequest, Embedder, GraphReader
from scheduler.accounts import Accounts
from scheduler.answering import Answering
from scheduler.calls import Calls
from scheduler.gate import GatedChat
from scheduler.query import Questions
from scheduler.query_kinds import QueryKinds
from scheduler.records import Budget
from scheduler.sessions import EvidenceSessions
from workers.bootstrap import build_accounts
from workers.connections import connect_redis
from workers.extractors import open_models
from workers.settings import Settings


class DailyChat:
    """The language models of questions behind the ledger's leave, with the budget of the present day (UTC)."""

    def __init__(self, settings: Settings, calls: Calls, accounts: Accounts) -> None:
        self._accounts = accounts
        self._budget = Budget(settings.answers_max_usd, settings.answers_max_tokens)
        self._models = open_models(settings, settings.recipe)
        self._gate_of = lru_cache(maxsize=1)(partial(GatedChat, self._models, calls, settings.calls))

    @property
    def model(self) -> str:
        """The first choice, as in settings."""
        return self._models[0].model

    def bound(self, request: ChatRequest) -> Usage:
        """Tell what one call of the first choice may cost at most."""
        return self._models[0].bound(request)

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask as `GatedChat.complete` does, whose errors it raises."""
        # Opened for each call: an account that was lost with its Redis would else have no budget.
        account = self._accounts.open_questions(datetime.now(UTC).date(), self._budget)
        return self._gate_of(account).complete(request)


def build_questions(
    settings: Settings, calls: Calls, embedder: Embedder, reader_of: Callable[[str], GraphReader]
) -> QueryKinds:
    """Make what answers questions of each kind."""
    sessions = EvidenceSessions(connect_redis(settings), expiry_seconds=settings.session_seconds)
    if not settings.llm.model:
        return name_kinds(Questions(reader_of, embedder, sessions, _find_no_rows), _refuse_answers)
    accounts = build_accounts(settings)
    model = DailyChat(settings, calls, accounts)
    questions = Questions(reader_of, embedder, sessions, partial(query_by_model, model=model))
    return name_kinds(questions, Answering(questions, model).answer)


def name_kinds(questions: Questions, answer: Callable[..., dict[str, Any]]) -> QueryKinds:
    """Name what answers each kind of question."""
    return QueryKinds(
        {
            "retrieve": questions.retrieve,
            "check": questions.check,
            "fetch": questions.fetch,
            "navigate": questions.navigate,
            "answer": answer,
        }
    )


_NO_MODEL = "set GRAPHMILL_LLM__MODEL on the workers, as openai/gpt-4o-mini"


def _find_no_rows(_question: str, _reader: GraphReader) -> tuple[list[Evidence], str, list[str]]:
    return [], "", [f"The path cypher needs a language model: {_NO_MODEL}."]


def _refuse_answers(**_arguments: Any) -> dict[str, Any]:
    raise QueryInvalid(f"answers need a language model: {_NO_MODEL}. Without one, retrieve gives the evidence itself")
