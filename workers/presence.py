"""A worker tells the ledger that it lives: what the dispatch window and `status` go by."""

import os
import time
from dataclasses import dataclass
from typing import Any

import redis
import structlog
from celery import signals

from scheduler.workers import Offer, Workers

_log = structlog.get_logger(__name__)
EVERY_SECONDS = 5.0


@dataclass(slots=True)
class Presence:
    """Announces one worker at its start and with its heartbeats."""

    workers: Workers
    offer: Offer
    name: str = ""
    queues: tuple[str, ...] = ()
    processes: int = 0
    announced: float = 0.0

    def connect(self) -> None:
        """Follow the worker's signals."""
        signals.worker_ready.connect(self.on_ready, weak=False)
        signals.heartbeat_sent.connect(self.on_heartbeat, weak=False)
        signals.worker_shutdown.connect(self.on_shutdown, weak=False)

    def on_ready(self, sender: Any, **_: Any) -> None:
        """Learn the worker's name, queues and processes from its consumer."""
        self.name = sender.hostname
        self.queues = tuple(queue.name for queue in sender.task_consumer.queues)
        self.processes = sender.controller.concurrency
        self.announce()

    def on_heartbeat(self, **_: Any) -> None:
        """Announce again every few seconds."""
        if self.name and time.monotonic() - self.announced > EVERY_SECONDS:
            self.announce()

    def on_shutdown(self, **_: Any) -> None:
        """Take leave."""
        if self.name:
            self._say(lambda: self.workers.leave(self.name))

    def announce(self) -> None:
        """Tell the ledger; one that does not answer is told next time."""
        self.announced = time.monotonic()
        row = (self.name, list(self.queues), self.processes, os.getpid(), self.offer)
        self._say(lambda: self.workers.announce(*row))

    def _say(self, what: Any) -> None:
        try:
            what()
        except redis.exceptions.RedisError as error:
            _log.warning("presence_not_told", worker=self.name, reason=str(error))
