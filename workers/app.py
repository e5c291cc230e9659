"""The Celery application: `celery -A workers.app worker|beat|flower|inspect`."""

import gc
import os
import traceback
from functools import partial
from typing import Any

from billiard.pool import EX_RECYCLE
from celery import Celery, signals

from pipeline.errors import PermanentError
from workers.celeryconfig import celery_config
from workers.settings import Settings, load_settings
from workers.telemetry import configure_logging

GARBAGE_THRESHOLD = 50_000
"""New objects after which a pool process looks for garbage; Python's default is 700 to 2,000."""
DEAF_TIMEOUTS = 8
"""Timeouts of the broker for which a worker's main loop may stand still: it may run into a few, one after the other."""
TASK_MODULES = ("tasks.ingest", "tasks.finalize", "tasks.query", "tasks.control")


def create_app(settings: Settings) -> Celery:
    """Build an application of these settings, with the known task modules and no discovery."""
    app = Celery("graphmill", include=list(TASK_MODULES))
    app.conf.update(celery_config(settings))
    return app


settings = load_settings()
app = create_app(settings)


@signals.setup_logging.connect
def _set_up_logging(**_: Any) -> None:
    configure_logging(settings)


@signals.worker_init.connect
def _enter_worker(**_: Any) -> None:
    """Bind what tasks work with, before the pool forks; nothing is opened yet."""
    from scheduler.workers import Offer, Workers
    from tasks.resources import bind
    from workers.bootstrap import identify_artifacts
    from workers.connections import broker_answers, connect_redis
    from workers.extractors import list_extractors, preload_models
    from workers.parts import check_parts
    from workers.presence import Presence
    from workers.resources import build_resources
    from workers.watchdog import Watchdog

    try:
        check_parts(settings)
    except Exception as error:
        # A worker that cannot do its work must not take any; Celery would note any other error and go on.
        reason = str(error) if isinstance(error, PermanentError) else traceback.format_exc()
        raise SystemExit(f"This worker cannot start: {reason}") from error
    queues = app.amqp.queues.consume_from
    asks_model = {
        "extract": settings.recipe.asks_model,
        "finalize": settings.judge == "llm",
        "query": bool(settings.llm.model),
    }
    if any(asks for queue, asks in asks_model.items() if queue in queues):
        preload_models()
    bind(lambda: build_resources(settings))
    offer = Offer(identify_artifacts(settings), tuple(list_extractors(settings)), settings.embed.embedder)
    Presence(Workers(connect_redis(settings)), offer).connect()
    Watchdog(DEAF_TIMEOUTS * settings.redis_timeout, partial(broker_answers, settings)).connect()


@signals.worker_process_init.connect
def _enter_pool_process(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed; and collects garbage less often."""
    from workers.embedded.processes import die_with_parent

    die_with_parent(os.getppid())
    # A batch makes a hundred thousand values without one cycle; looking for some took a fifth of its time.
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)


@signals.worker_process_shutdown.connect
def _leave_pool_process(exitcode: int, **_: Any) -> None:
    """End a pool process at once when its worker ends.

    Billiard lets it announce its end and sleep for a second, in which its parent may end it. A parent that ends itself
    does not listen any more: it waits for that second. One that makes room for a new process is left to its parent.
    """
    if exitcode != EX_RECYCLE:
        os._exit(exitcode)
