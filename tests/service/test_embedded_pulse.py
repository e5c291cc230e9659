"""A server that hangs is told from one that works, with real processes and a clock of the test."""

import select
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.embedded.processes import Child, stop_children
from workers.embedded.pulse import ASK_SECONDS, SILENT_SECONDS, Pulse
from workers.embedded.supervision import Supervisor

# Takes calls at the port that it is told, and acts as told: it answers, or does not; it works, or does not.
SERVER = """
import signal, socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listening:
    print("ready", flush=True)
    if sys.argv[2] == "stands":
        signal.pause()
    while sys.argv[2] == "works":
        pass
    while True:
        caller, _ = listening.accept()
        while sys.argv[2] == "answers" and caller.recv(100):
            caller.send(b"-NOAUTH")
        caller.close()
"""


class Bench:
    """One server, its pulse, and the time."""

    def __init__(self, folder: Path, port: int) -> None:
        self.now = 1000.0
        self.port = port
        self.answers = False
        self.child = Child("graph", [], folder / "graph.log", death_signal=signal.SIGKILL)
        self.pulse = Pulse(self.child, lambda: ("127.0.0.1", self.port), lambda: self.now)

    def start(self, what: str) -> None:
        self.answers = what in ("answers", "hangs up")
        self.child._command = [sys.executable, "-c", SERVER, str(self.port), what]
        self.child.start()
        while "ready" not in self.child.tail():
            assert self.child.returncode is None, self.child.tail()

    def seconds_until_it_hangs(self, most: float = SILENT_SECONDS * 5) -> float | None:
        """Look every second of the test's clock; None when it has not hung within `most` seconds."""
        began = self.now
        while self.now < began + most:
            self.now += 1
            if self.pulse.hangs():
                return self.now - began
            if self.answers and self.pulse._open and self.pulse._socket is not None:
                # The test's clock does not wait for the server, whose answer takes some time of ours.
                select.select([self.pulse._socket], [], [], 10)
        return None


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    bench = Bench(tmp_path, port)
    yield bench
    bench.pulse.close()
    stop_children([bench.child], 0)


def test_a_server_that_answers_nothing_and_does_nothing_hangs(bench) -> None:
    bench.start("stands")
    assert bench.seconds_until_it_hangs() == pytest.approx(SILENT_SECONDS, abs=ASK_SECONDS)


def test_a_server_that_was_stopped_after_it_answered_hangs(bench) -> None:
    bench.start("answers")
    assert bench.seconds_until_it_hangs(20) is None
    bench.child._process.send_signal(signal.SIGSTOP)
    bench.answers = False
    assert bench.seconds_until_it_hangs() == pytest.approx(SILENT_SECONDS, abs=2 * ASK_SECONDS)


def test_a_server_that_refuses_every_caller_does_not_hang(bench) -> None:
    bench.start("hangs up")
    assert bench.seconds_until_it_hangs() is None


def test_a_server_that_works_without_an_answer_is_left_alone(bench) -> None:
    bench.start("works")
    assert bench.seconds_until_it_hangs(SILENT_SECONDS - 10) is None
    process = bench.pulse._process()
    began = process.cpu_times().user
    while process.cpu_times().user < began + 1.1:
        assert bench.child.returncode is None
    assert bench.seconds_until_it_hangs(20) is None


def test_a_server_that_takes_calls_late_does_not_hang(bench) -> None:
    bench.start("stands")
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        bench.port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", bench.port)):  # more do not find room
            assert bench.seconds_until_it_hangs(SILENT_SECONDS / 2) is None
            listening.settimeout(10)
            listening.accept()[0].close()
            caller, _ = listening.accept()
        with caller:
            assert not bench.pulse.hangs()
            assert caller.recv(100) == b"PING\r\n"
            caller.send(b"-NOAUTH")
            select.select([bench.pulse._socket], [], [], 10)
            assert bench.seconds_until_it_hangs(SILENT_SECONDS - 10) is None


def test_the_time_in_which_nobody_looked_does_not_count(bench) -> None:
    bench.start("stands")
    assert bench.seconds_until_it_hangs(10) is None
    bench.now += 3600
    assert bench.seconds_until_it_hangs(SILENT_SECONDS / 2) is None
    assert bench.seconds_until_it_hangs() is not None


def test_a_server_that_has_ended_does_not_hang_and_the_next_is_asked_anew(bench) -> None:
    assert bench.seconds_until_it_hangs() is None
    bench.start("stands")
    assert bench.seconds_until_it_hangs(SILENT_SECONDS - 10) is None
    bench.child.kill()
    assert bench.seconds_until_it_hangs() is None
    bench.start("answers")
    assert bench.seconds_until_it_hangs() is None


def test_who_hangs_is_ended_told_and_started_again(bench) -> None:
    hangs = iter([True, False])
    supervisor = Supervisor([bench.child], hangs={"graph": lambda: next(hangs)}, clock=lambda: bench.now)
    bench.start("stands")
    first = bench.child.identity
    (death,), _ = supervisor.look()
    assert str(death) == f"graph hung, was ended and is started again; see {bench.child.log_file}"
    bench.now += 1
    assert supervisor.look() == ([], True)
    assert bench.child.identity != first
    assert supervisor.look() == ([], False)
