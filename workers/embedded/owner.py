"""The process that owns an embedded stack: it starts everything, restarts what dies, and ends all of it."""

import os
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from workers.embedded.engine import Engine
from workers.embedded.errors import StartFailed, explain_unusable
from workers.embedded.leftovers import clear_leftovers
from workers.embedded.locks import FileLock
from workers.embedded.processes import Child, stop_children
from workers.embedded.record import ProcessIdentity, StackRecord, StackState, StackUrls, remove_record, write_record
from workers.embedded.servers import broker_server, graph_server
from workers.embedded.supervision import Death, Supervisor

BROKER_FOLDER = "broker"
GRAPH_FOLDER = "graph"
LOGS_FOLDER = "logs"
WORKER_GRACE_SECONDS = 30.0
"""Longer than the workers' soft shutdown, in which they give back what they hold."""
SERVER_GRACE_SECONDS = 30.0
JOINER_WAIT_SECONDS = 3600.0
LATER_SECONDS = 5.0
"""How long workers that nobody waits for are not started: a short command is over by then, and was not slowed down."""
REST_SECONDS = 1.0
"""How long workers may take to put away what they have just done: one that is told to end before sleeps for all of its
soft shutdown, whether the task goes on or not."""
_POLL_SECONDS = 0.05
_REST_POLL_SECONDS = 0.01

Ready = Callable[[StackUrls], bool]
"""Asks whether the workers take work; called again until it says True."""
AtRest = Callable[[], bool]
"""Asks whether the workers have nothing in hand."""
Notice = Callable[[str], None]
"""Shows the user one line."""


class Owned:
    """A running stack of this process. Use it as a context manager: the stack ends with the block.

    Made by `open_stack`. All methods belong to the main thread.
    """

    def __init__(
        self,
        data_dir: Path,
        engine: Engine,
        worker_commands: Mapping[str, Sequence[str]],
        env: Mapping[str, str],
        *,
        later: Collection[str],
        lock: FileLock,
        joined: FileLock,
    ) -> None:
        self.data_dir = data_dir
        self._lock = lock
        self._joined = joined
        self._worker_commands = worker_commands
        self._env = env
        self._later = list(later)
        self._later_due = 0.0
        self._broker = broker_server(data_dir / BROKER_FOLDER, engine)
        self._graph = graph_server(data_dir / GRAPH_FOLDER, engine)
        self._workers: list[Child] = []
        self._state = StackState.STARTING
        self._started = datetime.now(UTC).isoformat()
        self._supervisor = Supervisor([])

    @property
    def urls(self) -> StackUrls:
        """Addresses of the two servers."""
        return StackUrls(redis=self._broker.url, graph=self._graph.url)

    def start(self, ready: Ready | None, timeout_seconds: float) -> None:
        """Bring servers and workers up; on any failure everything is ended again, and the lock given back."""
        try:
            for name in (BROKER_FOLDER, GRAPH_FOLDER, LOGS_FOLDER):
                (self.data_dir / name).mkdir(mode=0o700, exist_ok=True)
            clear_leftovers(self.data_dir, [self.data_dir / BROKER_FOLDER, self.data_dir / GRAPH_FOLDER])
            self._record()
            for server in (self._broker, self._graph):
                server.start(timeout_seconds)
                self._record()
            self._start_workers(ready, timeout_seconds)
            servers = (self._broker, self._graph)
            self._supervisor = Supervisor(
                [*(server.child for server in servers), *self._workers],
                hangs={server.child.name: server.pulse.hangs for server in servers},
            )
            self._later_due = time.monotonic() + LATER_SECONDS
            self._state = StackState.READY
            self._record()
        except OSError as error:
            self._end(0)
            raise explain_unusable(self.data_dir, error) from error
        except BaseException:
            self._end(0)
            raise

    def supervise(self) -> list[Death]:
        """Start again what died or hangs; the owner's loop calls this about every second, and shows what it returns.

        Raises:
            StartFailed: a child keeps dying; close the stack.
            DataFolderUnusable: the folder can no longer be written.
        """
        try:
            deaths, restarted = self._supervisor.look()
            started = self._start_later()
            if restarted or started:
                self._record()
        except OSError as error:
            raise explain_unusable(self.data_dir, error) from error
        return deaths

    def close(
        self,
        *,
        grace_seconds: float = WORKER_GRACE_SECONDS,
        joiner_wait_seconds: float = JOINER_WAIT_SECONDS,
        notice: Notice | None = None,
        at_rest: AtRest | None = None,
    ) -> None:
        """End the stack: wait for processes that joined, then workers, then servers. Harmless when repeated.

        `at_rest` asks whether the workers have nothing in hand, and is given a moment to say so.
        An exception in between (a second Ctrl-C) shortens every wait, but leaves nothing behind.
        """
        if self._state is StackState.LEAVING:
            return
        self._state = StackState.LEAVING
        try:
            self._stop_joining()
            self._wait_for_joiners(joiner_wait_seconds, notice)
            if at_rest is not None:
                _wait_for_rest(at_rest)
        finally:
            self._end(grace_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Who leaves because of an error or a signal does not wait for others.
        self.close(joiner_wait_seconds=JOINER_WAIT_SECONDS if kind is None else 0)

    def _start_workers(self, ready: Ready | None, timeout_seconds: float) -> None:
        for name in self._worker_commands:
            if name not in self._later:
                self._start_worker(name)
                self._record()
        deadline = time.monotonic() + timeout_seconds
        while ready is not None and not ready(self.urls):
            for worker in self._workers:
                if worker.returncode is not None:
                    raise StartFailed(
                        f"{worker.name} ended at its start (status {worker.returncode}).\n"
                        f"End of {worker.log_file}:\n{worker.tail()}"
                    )
            if time.monotonic() > deadline:
                logs = "\n".join(f"End of {worker.log_file}:\n{worker.tail()}" for worker in self._workers)
                raise StartFailed(f"The workers were not ready within {timeout_seconds:.0f} s.\n{logs}")
            time.sleep(_POLL_SECONDS)

    def _start_later(self) -> bool:
        """Start the workers that had time, once that is over; tells whether there were any."""
        if not self._later or self._state is not StackState.READY or time.monotonic() < self._later_due:
            return False
        while self._later:
            self._supervisor.add(self._start_worker(self._later.pop()))
        return True

    def _start_worker(self, name: str) -> Child:
        # SIGKILL when we die: the broker dies in the same moment, so there is nobody to give messages back to.
        worker = Child(
            name,
            self._worker_commands[name],
            self.data_dir / LOGS_FOLDER / f"{name}.log",
            env={**self._env, **self.urls.environment()},
            death_signal=signal.SIGKILL,
        )
        self._workers.append(worker)
        worker.start()
        return worker

    def _stop_joining(self) -> None:
        try:
            self._record()
        except OSError:
            remove_record(self.data_dir)  # works on a full disk as well, and nobody joins without a record

    def _wait_for_joiners(self, seconds: float, notice: Notice | None) -> None:
        deadline = time.monotonic() + seconds
        told = False
        while not self._joined.try_exclusive() and time.monotonic() < deadline:
            if not told and notice is not None:
                notice("Waiting for other graphmill commands that use the servers of this one; Ctrl-C ends them now.")
            told = True
            self.supervise()  # they still need everything to run
            time.sleep(_POLL_SECONDS)

    def _record(self) -> None:
        own = ProcessIdentity.of(os.getpid())
        if own is None:
            raise RuntimeError("this process cannot be found in the process table")
        ready = self._state is StackState.READY
        children = [self._broker.child, self._graph.child, *self._workers]
        write_record(
            self.data_dir,
            StackRecord(
                state=self._state,
                owner=own.pid,
                owner_created=own.created,
                started=self._started,
                redis_url=self._broker.url if ready else None,
                graph_url=self._graph.url if ready else None,
                children={child.name: child.identity for child in children if child.identity is not None},
            ),
        )

    def _end(self, worker_grace_seconds: float) -> None:
        self._state = StackState.LEAVING
        try:
            stop_children(self._workers, worker_grace_seconds)
        finally:
            try:
                stop_children([self._graph.child, self._broker.child], SERVER_GRACE_SECONDS)
            finally:
                self._graph.pulse.close()
                self._broker.pulse.close()
                try:
                    remove_record(self.data_dir)
                finally:
                    self._joined.release()
                    self._lock.release()


def _wait_for_rest(at_rest: AtRest) -> None:
    deadline = time.monotonic() + REST_SECONDS
    while not at_rest() and time.monotonic() < deadline:
        time.sleep(_REST_POLL_SECONDS)
