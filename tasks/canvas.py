"""Plans become Celery canvases here: a chain for a batch, a bounded chord for a finalize phase."""

from dataclasses import asdict
from typing import Any

from celery import chain, chord
from celery.result import ResultSet

from scheduler.finalize import MAX_SHARDS, Shard
from scheduler.records import Batch
from tasks import finalize, ingest


def batch_chain(batch: Batch) -> Any:
    """Give the four stages of a batch (only the first message exists until it has run), or its removal."""
    message = {**asdict(batch), "files": list(batch.files)}
    if batch.discard:
        return ingest.discard.si(**message)
    return chain(*(stage.si(**message) for stage in (ingest.load, ingest.chunk, ingest.extract, ingest.write)))


def phase_canvas(shards: list[Shard]) -> Any:
    """Give the shards of a phase, and the step that follows when all have ended."""
    if len(shards) > MAX_SHARDS:
        raise ValueError(f"{len(shards)} shards are more than a chord carries safely ({MAX_SHARDS}).")
    messages = [{**asdict(s), "phase": s.phase.value} for s in shards]
    after = finalize.advance.si(**messages[0])
    if messages[0]["shard"] < 0:
        return after
    if len(messages) == 1:
        return chain(finalize.run_shard.si(**messages[0]), after)
    return chord([finalize.run_shard.si(**message) for message in messages], after)


class CanvasSender:
    """Puts batches and phases on the queues of the current Celery app."""

    def send_batch(self, batch: Batch) -> None:
        """Send a batch on its way through the stages."""
        _let_go(batch_chain(batch).apply_async())

    def send_phase(self, shards: list[Shard]) -> None:
        """Send shards of one phase, and after them the step that moves the finalize on."""
        _let_go(phase_canvas(shards).apply_async())


def _let_go(result: Any) -> None:
    """Take results away from the backend: nobody asks for them, and at the interpreter's end they would complain."""
    while result is not None:
        for part in getattr(result, "results", ()):
            part.backend = None
        if not isinstance(result, ResultSet):  # a group has no backend but that of its parts
            result.backend = None
        result = result.parent
