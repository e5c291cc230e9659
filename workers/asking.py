"""Questions to the query workers, which answer through the queue."""

import secrets
from typing import Any

from celery import Celery
from celery.exceptions import TimeoutError as ResultTimeout

from pipeline import errors as pipeline_errors
from pipeline.errors import TransientError
from workers.settings import Settings


class NoAnswer(TransientError):
    """No worker answered a query in time."""


class Questioner:
    """The part of a client that asks."""

    def __init__(self, settings: Settings, app: Celery) -> None:
        self.settings = settings
        self._app = app

    def retrieve(self, question: str, *, graph: str, k: int = 15, session: str | None = None) -> dict[str, Any]:
        """Find evidence for a question through the query worker, numbered in a session.

        Raises `NoAnswer`, or the worker's own error (`GraphMissing`, `GraphUnavailable`, `QueryInvalid` ...).
        """
        session = session or secrets.token_hex(8)
        return {**self._ask("query.retrieve", graph, question, k, session), "session": session}

    def check_citations(self, draft: str, *, session: str) -> dict[str, Any]:
        """Check a draft's citations against the evidence of a session."""
        return self._ask("query.check_citations", session, draft)

    def _ask(self, task: str, *args: object) -> dict[str, Any]:
        timeout = self.settings.query_timeout
        # One that nobody took in time must not be run late.
        sent = self._app.send_task(task, args=args, expires=timeout)
        try:
            reply = sent.get(timeout=timeout)
        except ResultTimeout as error:
            raise NoAnswer(
                f"No query worker answered within {timeout:.0f} s. Is one running (`graphmill worker query`)? "
                "`graphmill health` shows it."
            ) from error
        finally:
            sent.forget()
        if "error" in reply:
            raise _error_of(reply["error"], reply["message"])
        return dict(reply["ok"])


def _error_of(name: str, message: str) -> Exception:
    """Make the worker's error anew here, by its class name."""
    cls = getattr(pipeline_errors, name, TransientError)
    error = cls(message)
    return error if isinstance(error, Exception) else TransientError(message)
