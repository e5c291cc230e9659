"""Task shells of the query worker. Errors come back as data: their class name and what to do."""

from typing import Any

import structlog
from celery import shared_task

from pipeline.errors import PipelineError
from tasks.resources import current

_log = structlog.get_logger(__name__)


@shared_task(name="query.retrieve", ignore_result=False)
def retrieve(graph: str, question: str, k: int, session: str) -> dict[str, Any]:
    """Find numbered evidence for a question."""
    try:
        return {"ok": current().queries.retrieve(graph, question, k, session)}
    except PipelineError as error:
        return {"error": type(error).__name__, "message": str(error)}


@shared_task(name="query.check_citations", ignore_result=False)
def check_citations(session: str, draft: str) -> dict[str, Any]:
    """Check a draft's citations against the session's evidence."""
    try:
        return {"ok": current().queries.check(session, draft)}
    except PipelineError as error:
        return {"error": type(error).__name__, "message": str(error)}
