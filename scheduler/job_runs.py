"""What a query worker does with the id of a job: claims it, answers its questions, records the replies."""

from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

import structlog

from pipeline.errors import GraphUnavailable, PipelineError, is_time_limit
from scheduler.jobs import JobFailed, QueryJobs

SLICE_SECONDS = 1.0
"""After so long a batch lets other jobs have their turn."""
RETRY_SECONDS = 2.0
"""After so long a batch is sent on that found the graph unavailable."""
_log = structlog.get_logger(__name__)


def run_job(jobs: QueryJobs, answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]], job: str) -> None:
    """Answer the questions of a job, or of a slice of it, unless it has ended or another worker has it.

    A batch that finds the graph unavailable is tried again until its deadline.

    Args:
        jobs: The records.
        answer: Answers one question of a kind. Its `PipelineError` becomes the reply.
        job: The id.

    Raises:
        LedgerUnavailable: The replies are lost; whoever waits for the job has its message sent again.
    """
    claim = jobs.claim(job)
    if claim is None:
        return
    replies: list[dict[str, Any]] = []
    began = monotonic()
    with jobs.renewing(claim):
        for arguments in claim.arguments:
            reply = _reply(answer, claim.kind, arguments)
            if claim.batch and reply.get("error") == GraphUnavailable.__name__:
                _log.info("query_batch_waits", job=job, reason=reply["message"])
                if not replies:  # others are recorded first
                    sleep(min(RETRY_SECONDS, claim.seconds))
                break
            replies.append(reply)
            if monotonic() - began >= SLICE_SECONDS:
                break
        jobs.end(claim, replies)


def _reply(
    answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]], kind: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    # Whoever fetches the reply by the job's id must learn where its numbers mean something.
    place = {name: arguments[name] for name in ("session", "graph") if name in arguments}
    try:
        return {"ok": {**answer(kind, arguments), **place}}
    except PipelineError as error:
        return _spell_error(type(error).__name__, str(error))
    except Exception as error:  # noqa: BLE001 - told to whoever asked, who would else wait for nothing
        if is_time_limit(error):
            return _spell_error(JobFailed.__name__, "it took longer than a query worker may work on one question")
        # What an unforeseen error says may be of the worker's host, and no business of whoever asked.
        _log.exception("query_failed", kind=kind)
        return _spell_error(JobFailed.__name__, f"the query worker failed, its log tells why: {type(error).__name__}")


def _spell_error(name: str, message: str) -> dict[str, Any]:
    return {"error": name, "message": message}
