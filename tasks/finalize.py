"""Task shells of finalize: parts of a phase, and the step after each phase.

They return nothing and never raise: a chord with a failed part would never reach its body, so what
happened stands in the ledger, and the tick dispatches again what stopped.
"""

from typing import Any

import structlog
from celery import shared_task

from scheduler.finalize import Phase, Shard
from tasks.resources import current

_log = structlog.get_logger(__name__)


def _shard(message: dict[str, Any]) -> Shard:
    return Shard(message["graph"], message["number"], Phase(message["phase"]), message["shard"])


@shared_task(name="finalize.shard", ignore_result=False)
def run_shard(**message: Any) -> None:
    """Do one part of a phase."""
    try:
        current().finalize_steps.run(_shard(message))
    except Exception:  # noqa: BLE001 - a part that raised would end the chord without its body
        _log.exception("finalize_shard_failed", **message)


@shared_task(name="finalize.advance")
def advance(**message: Any) -> None:
    """Go on to the next phase when this one is over."""
    try:
        resources = current()
        if shards := resources.finalize_steps.advance(_shard(message)):
            resources.sender.send_phase(shards)
        else:
            resources.tick_after_work()
    except Exception:  # noqa: BLE001 - a part that raised would end the chord without its body
        _log.exception("finalize_advance_failed", **message)
