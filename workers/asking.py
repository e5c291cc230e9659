"""Questions to the query workers: jobs that any host can ask after, by their ids."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from celery import Celery

from pipeline import errors as pipeline_errors
from pipeline.errors import PipelineError, TransientError
from pipeline.models import SearchPath
from pipeline.models.query import read_query, spell_query
from scheduler import errors as scheduler_errors
from scheduler import jobs
from scheduler.errors import LedgerUnavailable
from scheduler.jobs import MAX_SECONDS, JobState, JobStatus, JobUnknown
from scheduler.records import MemoryUse
from scheduler.sessions import new_session_id
from workers.jobs import build_jobs
from workers.settings import Settings

_MODEL_SECONDS = 120.0
"""Least time for a question that is waited for and asks a language model, often more than once."""
_LATE_SECONDS = 1.0
"""How long after a job's deadline its end is waited for."""


class NoAnswer(TransientError):
    """No worker answered a query in time."""


class Questioner(ABC):
    """The part of a client that asks.

    What is asked for by `submit...` is answered while the caller does other things, within an hour unless a `timeout`
    is given; `result` fetches it. All else waits for its answer, at most `settings.query_timeout` or, where a language
    model is asked, two minutes if that is longer, and leaves no record. A session that is not named lives for an hour
    after its last use at most.

    Raises, beside what the methods name: `QueryInvalid` for arguments out of bounds, and `LedgerUnavailable` where
    Redis does not answer, or holds too much for jobs that nobody waits for.
    """

    def __init__(self, settings: Settings, app: Celery) -> None:
        self.settings = settings
        self._jobs = build_jobs(settings, app)

    @abstractmethod
    def memory(self) -> MemoryUse:
        """Tell what the Redis of ledger and queues holds."""

    # Jobs

    def submit_query(self, kind: str, arguments: Mapping[str, Any], *, timeout: float | None = None) -> str:
        """Ask one question of a kind, and give the id of its job.

        Args:
            kind: retrieve, check, fetch, navigate or answer.
            arguments: Plain JSON values; `workers.querying.name_kinds` names what does each kind.
            timeout: Seconds until the job expires, at most an hour. None: an hour.
        """
        self._require_room()
        slow = _asks_model(kind, arguments)
        return self._jobs.submit(kind, arguments, timeout_s=MAX_SECONDS if timeout is None else timeout, slow=slow)

    def submit_retrieval(
        self, question: str, *, graph: str, session: str | None = None, timeout: float | None = None, **options: Any
    ) -> str:
        """Ask for evidence; options are those of `retrieve`, `timeout` as for any job. Gives the id of the job."""
        arguments = _retrieval(question, graph, session or new_session_id(), options)
        return self.submit_query("retrieve", arguments, timeout=timeout)

    def submit_batch(
        self,
        questions: Sequence[str],
        *,
        graph: str,
        session: str | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> str:
        """Ask for evidence for up to 200 questions in one job and one session; gives the id of the job.

        Other questions do not wait for all of them. `timeout` is for all together.
        """
        named = session or new_session_id()
        arguments = [_retrieval(question, graph, named, options) for question in questions]
        self._require_room()
        return self._jobs.submit_batch(
            "retrieve",
            arguments,
            timeout_s=MAX_SECONDS if timeout is None else timeout,
            slow=any(_asks_model("retrieve", one) for one in arguments),
        )

    def job_status(self, job: str) -> JobStatus:
        """Tell where a job stands."""
        return self._jobs.status(job)

    def result(self, job: str, timeout: float | None = None) -> dict[str, Any]:
        """Wait for a job's end and give its reply, with `queue_ms`, `service_ms`, and the `session` and `graph` asked.

        The reply of a batch is `replies`: parallel to the questions, each a reply, or an `error` with its `message`.
        Of one that expired half done, the questions without an answer have the error `expired`. A reply can be fetched
        for an hour after the end, any number of times.

        Args:
            job: The id.
            timeout: Seconds to wait. None: until the job ends, or expires.

        Raises:
            NoAnswer: The job has not ended within the timeout, or has expired without any answer.
            JobUnknown: There is no such job, or its end was too long ago.
            PipelineError: The worker's own error (`GraphMissing`, `GraphUnavailable`, `QueryInvalid` ...).
        """
        waited = MAX_SECONDS + _LATE_SECONDS if timeout is None else timeout
        status, replies = self._jobs.result(job, waited)
        if not status.state.over:
            advice = _NO_WORKER if status.state is JobState.QUEUED else "Its reply can be fetched later."
            raise NoAnswer(f"The job {job} is {status.state} after {waited:g} s. {advice}")
        if status.state is JobState.UNKNOWN:
            raise JobUnknown(f"There is no job {job}, or it ended more than an hour ago: ask again.")
        if status.state is JobState.EXPIRED and not replies:
            raise NoAnswer(_explain_expired(status))
        if status.state is JobState.FAILED:
            raise _error_of(replies[0]["error"], replies[0]["message"])
        times = {"queue_ms": round(status.queue_ms, 1), "service_ms": round(status.service_ms, 1)}
        if status.batch:
            unanswered = {"error": JobState.EXPIRED.value, "message": _explain_expired(status)}
            replies += [unanswered] * (status.total - len(replies))
            return {"replies": [reply.get("ok", reply) for reply in replies], **times}
        return {**replies[0]["ok"], **times}

    # Questions whose answer is waited for

    def retrieve(self, question: str, *, graph: str, session: str | None = None, **options: Any) -> dict[str, Any]:
        """Find evidence for a question, numbered in a session, whose id the reply has.

        Args:
            question: In words.
            graph: The name of the graph.
            session: The conversation. None: a new one.
            options: `max_chars` of the text, and the fields of `pipeline.models.Query`.

        Raises:
            NoAnswer, GraphMissing, GraphUnavailable, EmbedderMismatch: As the worker says.
        """
        return self._ask("retrieve", _retrieval(question, graph, session or new_session_id(), options))

    def check_citations(self, draft: str, *, session: str) -> dict[str, Any]:
        """Check a draft's citations against the evidence of a session."""
        return self._ask("check", {"session": session, "draft": draft})

    def fetch(self, numbers: Sequence[int], *, graph: str, session: str) -> dict[str, Any]:
        """Fetch the exact texts that evidence numbers of a session stand for."""
        return self._ask("fetch", {"graph": graph, "session": session, "numbers": list(numbers)})

    def navigate(self, number: int, *, graph: str, session: str, reach: int = 2) -> dict[str, Any]:
        """Show what stands around a passage in its document, numbered in the session."""
        return self._ask("navigate", {"graph": graph, "session": session, "number": number, "reach": reach})

    def answer(
        self,
        question: str,
        *,
        graph: str,
        session: str | None = None,
        history: Sequence[Mapping[str, str]] = (),
        return_context: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Answer a question by a language model that must keep to the evidence; options are fields of `Query`."""
        query = spell_query(read_query({**options, "question": question}))
        arguments = {
            "graph": graph,
            "session": session or new_session_id(),
            "question": question,
            "history": [dict(turn) for turn in history],
            "query": {name: value for name, value in query.items() if name != "question"},
            "return_context": return_context,
        }
        return self._ask("answer", arguments)

    def _ask(self, kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        slow, seconds = _asks_model(kind, arguments), self.settings.query_timeout
        seconds = max(_MODEL_SECONDS, seconds) if slow else seconds
        job = self._jobs.submit(kind, arguments, timeout_s=seconds, slow=slow)
        try:
            return self.result(job, seconds + _LATE_SECONDS)
        finally:
            self._jobs.forget(job)

    def _require_room(self) -> None:
        """Raise `LedgerUnavailable` where Redis is nearly full: replies that are kept would fill it."""
        memory = self.memory()
        if memory.above_mark:
            raise LedgerUnavailable(
                f"{memory}: no job is taken in whose reply it would keep. A larger maxmemory makes room, and so does "
                "time; a question that is waited for is still answered."
            )


_NO_WORKER = "Is a worker running (`graphmill worker query`)? `graphmill health` shows it."
_MORE_TIME = (
    "Give it more time (GRAPHMILL_QUERY_TIMEOUT, or the `timeout` of what is submitted); the workers' logs tell more."
)


def _explain_expired(status: JobStatus) -> str:
    seconds = (status.queue_ms + status.service_ms) / 1000
    if not status.service_ms and not status.done:
        return f"No query worker answered within {seconds:.0f} s. {_NO_WORKER}"
    if status.batch:
        return f"{status.done} of {status.total} questions were answered within {seconds:.0f} s. {_MORE_TIME}"
    return f"A query worker began, but had no answer within {seconds:.0f} s. {_MORE_TIME}"


def _asks_model(kind: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a language model is asked, so that the answer takes seconds or minutes."""
    query = arguments.get("query")
    paths = query.get("paths") if isinstance(query, Mapping) else None
    return kind == "answer" or (isinstance(paths, Collection) and SearchPath.CYPHER in paths)


def _retrieval(question: str, graph: str, session: str, options: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"question": question, **options}
    bounds = {"max_chars": asked.pop("max_chars")} if "max_chars" in asked else {}
    return {"graph": graph, "session": session, "query": spell_query(read_query(asked)), **bounds}


def _error_of(name: str, message: str) -> Exception:
    """Make the worker's error anew here, by its class name."""
    for home in (pipeline_errors, scheduler_errors, jobs):
        cls = getattr(home, name, None)
        if isinstance(cls, type) and issubclass(cls, PipelineError):
            return cls(message)
    return TransientError(message)
