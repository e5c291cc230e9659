"""Children and their supervision, with real processes and a clock of the test."""

import signal
import sys
import threading
from pathlib import Path

import pytest

from workers.embedded import StartFailed
from workers.embedded.processes import Child, stop_children
from workers.embedded.supervision import FIRST_DELAY_SECONDS, MOST_QUICK_RESTARTS, QUICK_SECONDS, Supervisor

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


def child(folder: Path, code: str) -> Child:
    return Child("all", [sys.executable, "-c", code], folder / "all.log", death_signal=signal.SIGKILL)


def look_until_dead(supervisor: Supervisor) -> None:
    while not supervisor.look()[0]:
        pass


def test_a_child_that_keeps_dying_is_given_up_after_growing_waits(tmp_path) -> None:
    clock = [0.0]
    dying = child(tmp_path, "raise SystemExit('cannot go on')")
    supervisor = Supervisor([dying], clock=lambda: clock[0])
    dying.start()
    for count in range(MOST_QUICK_RESTARTS):
        dying.started_at = clock[0]
        look_until_dead(supervisor)
        clock[0] += FIRST_DELAY_SECONDS * 2**count - 0.01
        assert supervisor.look() == ([], False)
        clock[0] += 0.02
        assert supervisor.look() == ([], True)
    dying.started_at = clock[0]
    dying.wait(10)
    with pytest.raises(StartFailed, match=r"(?s)died 6 times in a row.*cannot go on"):
        supervisor.look()


def test_a_child_that_ran_long_enough_starts_with_a_new_count(tmp_path) -> None:
    clock = [0.0]
    dying = child(tmp_path, "")
    supervisor = Supervisor([dying], clock=lambda: clock[0])
    dying.start()
    for _ in range(MOST_QUICK_RESTARTS * 2):
        dying.started_at = clock[0] - QUICK_SECONDS
        look_until_dead(supervisor)
        clock[0] += FIRST_DELAY_SECONDS
        assert supervisor.look() == ([], True)
    stop_children([dying], 5)


def test_a_child_that_hangs_again_and_again_is_given_up(tmp_path) -> None:
    clock = [0.0]
    hanging = child(tmp_path, "import time; time.sleep(600)")
    supervisor = Supervisor([hanging], hangs={"all": lambda: True}, clock=lambda: clock[0])
    hanging.start()
    for _ in range(MOST_QUICK_RESTARTS):
        # It takes minutes to be sure that one hangs.
        hanging.started_at = clock[0] - QUICK_SECONDS * 3
        assert [death.hung for death in supervisor.look()[0]] == [True]
        clock[0] += FIRST_DELAY_SECONDS * 2**MOST_QUICK_RESTARTS
        assert supervisor.look() == ([], True)
    hanging.started_at = clock[0] - QUICK_SECONDS * 3
    with pytest.raises(StartFailed, match="died 6 times in a row"):
        supervisor.look()


def test_stopping_kills_a_group_that_does_not_listen(tmp_path) -> None:
    stubborn = child(tmp_path, STUBBORN)
    stubborn.start()
    while "ready" not in stubborn.tail():
        assert stubborn.returncode is None
    stop_children([stubborn], 0.2)
    assert stubborn.returncode == -signal.SIGKILL


def test_a_child_is_not_started_from_a_thread_whose_end_would_end_it(tmp_path) -> None:
    caught: list[BaseException] = []

    def start() -> None:
        with pytest.raises(RuntimeError, match="main thread") as error:
            child(tmp_path, "").start()
        caught.append(error.value)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_a_large_log_is_put_aside_and_the_tail_is_of_the_last_start(tmp_path) -> None:
    log = tmp_path / "all.log"
    log.write_bytes(b"old\n" * 5 * 2**20)
    talking = child(tmp_path, "print('new')")
    talking.start()
    talking.wait(10)
    assert talking.tail() == "new"
    assert log.stat().st_size < 100
    assert (tmp_path / "all.old.log").stat().st_size == 20 * 2**20
    log.write_text("between\n", encoding="utf-8")
    talking.start()
    talking.wait(10)
    assert talking.tail() == "new"
