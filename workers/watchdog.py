"""Ends a worker whose main loop stands still: alive, it would hold its place and take nothing for ever.

Seen with kombu 5.7: the connection of Celery's remote control falls silent in the middle of a message, and the
rest of it is read without a timeout, in the main loop. Only another thread can notice; a supervisor (the embedded
stack, Compose, systemd) then starts a new worker, and the ledger gives its files back.
"""

import faulthandler
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import structlog
from celery import signals

_log = structlog.get_logger(__name__)
EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h."""


@dataclass(slots=True)
class Watchdog:
    """Watches the heartbeats of this process's main loop."""

    seconds: float
    """How long it may stand still while the broker answers; without a broker it waits, and that is right."""
    broker_answers: Callable[[], bool]
    _beaten: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)

    def connect(self) -> None:
        """Follow the worker's signals."""
        signals.worker_ready.connect(self.on_ready, weak=False)
        signals.heartbeat_sent.connect(self.on_heartbeat, weak=False)
        signals.worker_shutting_down.connect(self.on_shutting_down, weak=False)

    def on_ready(self, **_: Any) -> None:
        """Begin to watch."""
        self._beaten = time.monotonic()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def on_heartbeat(self, **_: Any) -> None:
        """Note that the main loop goes on."""
        self._beaten = time.monotonic()

    def on_shutting_down(self, **_: Any) -> None:
        """A worker that ends beats no more: it waits for its tasks, which have time limits."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self.seconds / 8):
            silent = time.monotonic() - self._beaten
            if silent < self.seconds:
                continue
            if self.broker_answers():
                _log.critical("worker_deaf", seconds=round(silent), exit_code=EXIT_CODE)
                # Where it stands, for whoever reads the log.
                faulthandler.dump_traceback(all_threads=True)
                # Its pool ends with it.
                os._exit(EXIT_CODE)
            self._beaten = time.monotonic()
