"""Task shell of the control loop."""

from dataclasses import asdict

import structlog
from celery import shared_task

from tasks.resources import current

_log = structlog.get_logger(__name__)


@shared_task(name="control.tick")
def tick() -> None:
    """Take back what is lost, keep the window full, drive finalizes."""
    report = current().tick()
    if report.messages_lost or report.workers_lost or report.dead_letters or report.phases_redriven:
        _log.warning("work_taken_back", **asdict(report))
