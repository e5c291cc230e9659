"""graphmill's own app, whose main loop stops for good after its first beats."""

import threading

from celery import signals

from workers.app import app

__all__ = ["app"]

beats = []


@signals.heartbeat_sent.connect(weak=False)
def _stop(**_):
    beats.append(1)
    if len(beats) > 2:
        threading.Event().wait()
