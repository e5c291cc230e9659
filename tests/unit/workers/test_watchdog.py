"""A worker whose main loop stands still is ended, unless it has a reason to wait."""

import threading

import pytest

from workers import watchdog
from workers.watchdog import EXIT_CODE, Watchdog

SECONDS = 0.4
LONG = 5.0


@pytest.fixture
def ended(monkeypatch):
    """The exit codes that the process would have ended with."""
    codes, seen, over = [], threading.Event(), threading.Event()

    def end(code):
        codes.append(code)
        seen.set()
        # As the real one, it does not return.
        over.wait()

    monkeypatch.setattr(watchdog.os, "_exit", end)
    monkeypatch.setattr(watchdog.faulthandler, "dump_traceback", lambda **_: None)
    yield codes, seen
    over.set()


@pytest.fixture
def watch():
    """Make a watchdog that watches."""
    made = []

    def make(answers):
        made.append(Watchdog(SECONDS, answers))
        made[-1].on_ready()
        return made[-1]

    yield make
    for one in made:
        one.on_shutting_down()


def test_a_main_loop_that_stands_still_ends_its_worker(ended, watch):
    codes, seen = ended
    watch(lambda: True)
    assert seen.wait(LONG)
    assert codes == [EXIT_CODE]


def test_a_worker_that_beats_or_ends_or_waits_for_its_broker_goes_on(ended, watch):
    codes, seen = ended
    asked = threading.Event()

    def silent():
        asked.set()
        return False

    without_broker, beating, ending = watch(silent), watch(lambda: True), watch(lambda: True)
    ending.on_shutting_down()
    for _ in range(20):
        assert not seen.wait(SECONDS / 8)
        beating.on_heartbeat()
    assert asked.is_set()
    assert codes == []
    without_broker.on_shutting_down()
