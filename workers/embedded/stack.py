"""Open the stack of a data folder: own it, or join the process that does."""

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from workers.embedded.engine import Engine
from workers.embedded.errors import StackLost, StartFailed, explain_unusable
from workers.embedded.locks import FileLock
from workers.embedded.owner import Owned, Ready
from workers.embedded.processes import find_process
from workers.embedded.record import ProcessIdentity, StackUrls, read_record
from workers.embedded.supervision import Death

START_TIMEOUT_SECONDS = 300.0
"""For each step of the start; loading a large graph takes minutes."""
_OWNER_LOCK = ".lock"
_JOINED_LOCK = ".joined"
_POLL_SECONDS = 0.05


class Joined:
    """Another process's stack, in use by this one. A context manager like `Owned`.

    While it is open, an owner that wants to end waits.
    """

    def __init__(self, data_dir: Path, urls: StackUrls, owner: ProcessIdentity, lock: FileLock) -> None:
        self.data_dir = data_dir
        self.urls = urls
        self._owner = owner
        self._lock = lock

    def supervise(self) -> list[Death]:
        """Check that the owner lives; it restarts what dies, so nothing is ever returned.

        Raises:
            StackLost: the owner has ended, and the servers with it.
        """
        if find_process(self._owner) is None:
            raise StackLost(
                f"The graphmill process {self._owner.pid}, which ran the servers, has ended. "
                "Nothing is lost: run the command again."
            )
        return []

    def close(self) -> None:
        """Tell the owner that this process is done with its stack. Harmless when repeated."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_stack(
    data_dir: Path,
    engine: Engine,
    worker_commands: Mapping[str, Sequence[str]],
    env: Mapping[str, str],
    *,
    later: Collection[str] = (),
    ready: Ready | None = None,
    timeout_seconds: float = START_TIMEOUT_SECONDS,
) -> Owned | Joined:
    """Give this process running servers and workers on a data folder; who comes first owns them.

    Args:
        data_dir: Folder of all data; made when missing.
        engine: Binaries of the servers.
        worker_commands: Name of each worker and its command line; the name becomes its log's name.
        env: Whole environment of the workers; the servers' URLs are added.
        later: Names of workers that nobody waits for: `supervise` starts them, some seconds after the stack is open.
        ready: Asks whether the workers take work; the stack is open once it says True.
        timeout_seconds: Longest wait for each server, for the workers, and for another owner.

    Returns:
        `Owned` (whose `supervise` must be called now and then) or `Joined`. Close either.

    Raises:
        DataFolderUnusable: the folder cannot be made, written or locked.
        StartFailed: a server or worker does not come up, or another owner does not get ready.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        data_dir = data_dir.resolve()
        lock = FileLock(data_dir / _OWNER_LOCK)
        if joined := _lock_or_join(data_dir, lock, timeout_seconds):
            return joined
        joiners = FileLock(data_dir / _JOINED_LOCK)
        owned = Owned(data_dir, engine, worker_commands, env, later=later, lock=lock, joined=joiners)
        owned.start(ready, timeout_seconds)
    except OSError as error:
        raise explain_unusable(data_dir, error) from error
    return owned


def _lock_or_join(data_dir: Path, lock: FileLock, timeout_seconds: float) -> Joined | None:
    """Take the lock of who owns the stack, or join its owner; raises `StartFailed`."""
    deadline = time.monotonic() + timeout_seconds
    while not lock.try_exclusive():
        joined = _try_to_join(data_dir)
        if joined is not None:
            return joined
        if time.monotonic() > deadline:
            record = read_record(data_dir)
            who = f"process {record.owner}, which is {record.state}" if record else "a process that is starting"
            raise StartFailed(
                f"The data folder {data_dir} is held by {who}, and was not usable within {timeout_seconds:.0f} s. "
                "Wait for that process or end it."
            )
        time.sleep(_POLL_SECONDS)
    return None


def _try_to_join(data_dir: Path) -> Joined | None:
    record = read_record(data_dir)
    if record is None or record.urls is None:
        return None
    lock = FileLock(data_dir / _JOINED_LOCK)
    if not lock.try_shared():
        return None
    # Only now does the owner wait for us: it may have begun to leave between our look and our lock.
    again = read_record(data_dir)
    if again is None or again.urls is None:
        lock.release()
        return None
    return Joined(data_dir, again.urls, again.owner_identity, lock)
