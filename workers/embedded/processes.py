"""Child processes that do not outlive their parent, however it ends."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from workers.embedded.errors import StartFailed
from workers.embedded.record import ProcessIdentity

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.5
_LARGEST_LOG_BYTES = 16 * 2**20
# Looked up before any fork, so that the child calls nothing but a function it already has.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent_pid: int | None = None) -> None:
    """Kill this process as soon as its parent has ended, even if that was by SIGKILL.

    Called at process start, with the pid that the parent had when it made this process: if it is no
    longer the parent, it has died in between. Without it, the parent of this moment counts. On Linux
    the kernel watches (the thread that made this process); elsewhere a thread of ours looks twice a
    second.
    """
    parent_pid = os.getppid() if parent_pid is None else parent_pid
    _follow(parent_pid, signal.SIGKILL)
    if _LIBC is None:
        threading.Thread(target=_watch, args=(parent_pid,), name="watch-parent", daemon=True).start()


def _follow(parent_pid: int, death_signal: int) -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _follower(death_signal: int) -> Callable[[], None]:
    parent_pid = os.getpid()
    return lambda: _follow(parent_pid, death_signal)


class Child:
    """A program that this process starts, watches and ends.

    It has its own session, so that Ctrl-C in the terminal reaches the parent alone, which then ends
    its children in order. `death_signal` is what the kernel sends when the parent dies (Linux).
    `env` is the whole environment, None for this process's. Output goes to the end of `log_file`.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log_file: Path,
        *,
        death_signal: signal.Signals,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log_file = log_file
        self.started_at = 0.0
        """Clock time of the last start, of `time.monotonic`."""
        self.identity: ProcessIdentity | None = None
        """Which process the last start made."""
        self._command = [str(part) for part in command]
        self._death_signal = death_signal
        self._folder = folder
        self._env = env
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program; what an earlier start left behind is killed first.

        Raises:
            OSError: the log cannot be written.
            StartFailed: the program is not there or may not be run.
            RuntimeError: not called from the main thread. The kernel takes the end of the starting
                thread for the parent's death.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("child processes are started from the main thread: they end with the thread that did")
        self.kill()
        _limit_log(self.log_file)
        log = os.open(self.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._log_start = os.fstat(log).st_size
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env=self._env,
                start_new_session=True,
                preexec_fn=_follower(self._death_signal),  # noqa: PLW1509 - main thread only, two system calls
            )
        except OSError as error:
            raise StartFailed(f"{self.name} cannot be started: {self._command[0]}: {error.strerror}") from error
        finally:
            os.close(log)
        self.started_at = time.monotonic()
        self.identity = ProcessIdentity.of(self._process.pid)

    @property
    def returncode(self) -> int | None:
        """How the program ended; None while it runs, or before it was started."""
        return None if self._process is None else self._process.poll()

    def tail(self, lines: int = 15) -> str:
        """Give the last lines that the program wrote since its last start."""
        try:
            with self.log_file.open("rb") as log:
                log.seek(self._log_start)
                text = log.read().decode("utf-8", "replace")
        except OSError as error:
            return f"(no log: {error})"
        return "\n".join(text.splitlines()[-lines:]) or "(it wrote nothing)"

    def terminate(self) -> None:
        """Ask the program to end (SIGTERM)."""
        if self._process is not None:
            self._process.terminate()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; False when it has not come in time."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End the program and everything it started in its session, at once."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # an empty group: EPERM on macOS
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def stop_children(children: Iterable[Child], grace_seconds: float) -> None:
    """End children together: SIGTERM, a common time of grace, then SIGKILL for what is left of their groups.

    An exception while waiting (a second Ctrl-C) cuts the grace short, not the killing.
    """
    stopping = list(children)
    deadline = time.monotonic() + grace_seconds
    try:
        for child in stopping:
            child.terminate()
        for child in stopping:
            child.wait(max(0.0, deadline - time.monotonic()))
    finally:
        for child in stopping:
            child.kill()


def _limit_log(log_file: Path) -> None:
    """Keep one older log beside the current one, so that logs do not grow over many starts."""
    try:
        too_large = log_file.stat().st_size > _LARGEST_LOG_BYTES
    except FileNotFoundError:
        return
    if too_large:
        log_file.replace(log_file.with_suffix(".old.log"))


def find_process(identity: ProcessIdentity) -> psutil.Process | None:
    """Find the process of an identity if it still runs; a zombie counts as ended."""
    try:
        process = psutil.Process(identity.pid)
        if identity.matches(process.create_time()) and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except psutil.Error:
        return None
    return None
