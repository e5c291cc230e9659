"""Task shells of ingest: a message becomes a claim, a stage, and an end; Celery hands on to the next."""

from typing import Any

from celery import Task, shared_task

from scheduler.records import Batch
from scheduler.stages import run_stage
from tasks.resources import current


def _run(task: Task[..., Any], stage: str, message: dict[str, Any]) -> None:
    resources = current()
    batch = Batch(**{**message, "files": tuple(message["files"])})
    worker = str(task.request.hostname)
    if not run_stage(resources.ledger, batch, stage, resources.stages[stage], worker):
        # The batch ends here: no further stage has anything to do, and its place in the window is free.
        task.request.chain = None
        resources.tick_after_work()


@shared_task(name="ingest.load", bind=True)
def load(self: Task[..., Any], /, **message: Any) -> None:
    """Read the files of a batch."""
    _run(self, "load", message)


@shared_task(name="ingest.chunk", bind=True)
def chunk(self: Task[..., Any], /, **message: Any) -> None:
    """Cut the texts of a batch into passages."""
    _run(self, "chunk", message)


@shared_task(name="ingest.extract", bind=True)
def extract(self: Task[..., Any], /, **message: Any) -> None:
    """Find entities and relations in the passages of a batch."""
    _run(self, "extract", message)


@shared_task(name="ingest.write", bind=True)
def write(self: Task[..., Any], /, **message: Any) -> None:
    """Write the documents of a batch to the graph."""
    _run(self, "write", message)


@shared_task(name="revise.discard", bind=True)
def discard(self: Task[..., Any], /, **message: Any) -> None:
    """Remove what the files of a cancelled run left in the graph."""
    _run(self, "discard", message)
