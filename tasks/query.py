"""Task shell of the query worker: a message is the id of a job, whose record tells the rest."""

from threading import Timer
from typing import Any

from celery import Celery, current_app, shared_task, signals

from scheduler.job_runs import run_job
from tasks.resources import current

QUEUE = "query"
_LEAST_SECONDS = 1.0
"""Shortest limit of a message: one that is over before the task begins ends the process. The deadline still counts."""
_WARM_AFTER_SECONDS = 5.0
_GRACE_SECONDS = 30.0
"""Time that a question has to end in good order after its limit."""


# Its events would take a quarter of the time that a question spends on the queue; its record tells more.
@shared_task(name="query.work", send_events=False)
def work(job: str) -> None:
    """Answer a job, or a slice of it."""
    resources = current()
    run_job(resources.jobs, resources.queries.run, job)


def send_job(app: Celery, job: str, seconds: float) -> None:
    """Put a job's message on the queue; a worker may take so long for it, and no longer than for any task."""
    soft = min(max(seconds, _LEAST_SECONDS), app.conf.task_soft_time_limit)
    # Sent by its name, a task's result would be kept unless the message says otherwise.
    app.send_task(work.name, (job,), soft_time_limit=soft, time_limit=soft + _GRACE_SECONDS, ignore_result=True)


@signals.worker_process_init.connect
def _warm_up(**_: Any) -> None:
    """Load the models of questions before the first one comes, where nothing else is done.

    Some seconds late: half a second of a core in each process is much beside a start, and for a stack of one command.
    """
    if set(current_app.amqp.queues.consume_from) == {QUEUE}:
        warming = Timer(_WARM_AFTER_SECONDS, current().warm_up)
        warming.daemon = True
        warming.start()
