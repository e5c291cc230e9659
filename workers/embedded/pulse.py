"""Notices a server that hangs: alive by the process table, but answering nothing and doing nothing, for ever.

FalkorDB's threads can come to wait for each other in a circle (seen on 4.16 with GRAPH.COPY of a graph that is written
at the same time). Then the whole server stands still, and only its end helps; what it acknowledged is in its
append-only file, but for the last second or two at most.
"""

import socket
import time
from collections.abc import Callable

import psutil

from workers.embedded.processes import Child

SILENT_SECONDS = 60.0
"""How long a server may leave a question open while it does nothing. One that works is left alone, however long."""
ASK_SECONDS = 5.0
_LONGEST_LOOK_SECONDS = 20.0
"""How much of the time since the last call counts: a loop that itself waits for the server calls that seldom."""
_IDLE_CPU_SECONDS = 1.0
"""CPU time that a server which hangs may use meanwhile: its allocator's threads still tidy up."""
_WAITING = frozenset({psutil.STATUS_DISK_SLEEP, psutil.STATUS_TRACING_STOP})
"""It waits for a disk or for a debugger, not for itself."""


Address = tuple[str, int]
"""Host and port."""


class Pulse:
    """Asks one server now and then whether it lives, and never waits for the answer."""

    def __init__(
        self, child: Child, address: Callable[[], Address], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._child = child
        self._address = address
        self._clock = clock
        self._asked_of = 0.0  # when the process that was asked had been started
        self._socket: socket.socket | None = None
        self._open = self._sent = False
        self._asked_at = -ASK_SECONDS
        self._looked_at = 0.0
        self._silent = 0.0
        self._cpu = 0.0

    def hangs(self) -> bool:
        """Tell whether the server has answered nothing and done nothing for too long; to be called about every second.

        What counts is the time in which it was called: this process may have been stopped, or the machine asleep.
        """
        now = self._clock()
        passed, self._looked_at = now - self._looked_at, now
        if self._asked_of != self._child.started_at:
            self.close()
        if self._open and not self._answered():
            if not self._waits():
                self._silent += min(passed, _LONGEST_LOOK_SECONDS)
            if self._silent >= SILENT_SECONDS:
                idle = self._cpu_seconds() - self._cpu < _IDLE_CPU_SECONDS
                self.close()
                return idle
        elif now - self._asked_at >= ASK_SECONDS:
            self._ask(now)
        return False

    def close(self) -> None:
        """Ask no more of the process that was asked; the next look begins anew."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._open, self._sent = None, False, False

    def _ask(self, now: float) -> None:
        self._asked_of, self._asked_at = self._child.started_at, now
        self._silent, self._cpu = 0.0, self._cpu_seconds()
        if self._socket is None:
            self._socket = socket.socket()
            self._socket.setblocking(False)
            self._socket.connect_ex(self._address())
        self._open, self._sent = True, False
        self._send()

    def _send(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.send(b"PING\r\n")  # without a password: that it refuses is an answer as well
            self._sent = True
        except BlockingIOError:
            pass  # it has not taken the call yet
        except OSError:
            self.close()  # it has ended, which its supervisor sees

    def _answered(self) -> bool:
        if not self._sent:
            self._send()
        if self._socket is None or not self._sent:
            return not self._open
        try:
            answer = self._socket.recv(4096)
        except BlockingIOError:
            return False
        except OSError:
            answer = b""
        if not answer:
            self.close()
        self._open = False
        return True

    def _waits(self) -> bool:
        try:
            return self._process().status() in _WAITING
        except psutil.Error:
            return False

    def _cpu_seconds(self) -> float:
        try:
            times = self._process().cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def _process(self) -> psutil.Process:
        if self._child.identity is None:
            raise psutil.NoSuchProcess(0)
        return psutil.Process(self._child.identity.pid)
