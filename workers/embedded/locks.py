"""Locks on files of the data folder that the kernel releases when their holder dies."""

import fcntl
import os
from pathlib import Path


class FileLock:
    """An advisory lock (flock) on a file of its own; one holder's claim at a time.

    Processes forked without exec share the claim, and keep it alive.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def try_exclusive(self) -> bool:
        """Take the lock alone; False when anybody holds it."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take the lock beside other sharers; False when somebody holds it alone."""
        return self._try(fcntl.LOCK_SH)

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _try(self, kind: int) -> bool:
        self.release()
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        return True
