"""Opens the records of query jobs; apart from the rest of the wiring, as clients need no more of it."""

from functools import partial

from celery import Celery

from scheduler.jobs import QueryJobs
from scheduler.workers import Workers
from tasks.query import QUEUE, send_job
from workers.connections import connect_redis
from workers.settings import Settings


def build_jobs(settings: Settings, app: Celery) -> QueryJobs:
    """Make the records of query jobs, whose messages `app` sends."""
    client = connect_redis(settings)
    return QueryJobs(client, partial(send_job, app), partial(Workers(client).processes, QUEUE))
