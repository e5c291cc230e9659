"""Notices that a folder changed, and that it holds still again."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import watchfiles

from pipeline.errors import PermanentError

LOOK_MS = 50
"""How long one look waits for news."""
POLL_MS = 1000
"""Between two passes over a folder whose system sends no news."""
PATIENCE = 10
"""A folder that never holds still for the delay is taken as it is after so many delays."""


class WatchImpossible(PermanentError):
    """The system does not let a folder be watched, as where too much is watched already."""


class Stillness:
    """Tells when something that changed has been still for a while."""

    def __init__(self, delay: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay = delay
        self._clock = clock
        self._first: float | None = None
        self._last = 0.0

    def see(self, *, changed: bool) -> bool:
        """Note whether something changed just now; True once for all changes, when they are over."""
        now = self._clock()
        if changed:
            self._first = now if self._first is None else self._first
            self._last = now
        if self._first is None:
            return False
        due = now - self._last >= self._delay or now - self._first >= PATIENCE * self._delay
        if due:
            self._first = None
        return due


def watch_folder(path: Path, delay: float, *, poll: bool) -> Iterator[bool]:
    """Tell again and again, many times a second, whether the folder changed and has been still for `delay` seconds.

    It counts as changed at first, and whenever it comes back after it was gone. Names with a leading dot are passed
    over, as they are when it is listed. `poll` looks at all files rather than wait for the system's news.
    Raises `WatchImpossible`.
    """
    while True:
        folder, watched = os.path.realpath(path), _identify(path)
        if watched is None:
            # The next one who looks asks again.
            yield False
            continue
        still, arrived = Stillness(delay), True
        news = watchfiles.watch(
            folder, watch_filter=None, debounce=LOOK_MS * 4, step=LOOK_MS, rust_timeout=LOOK_MS,
            yield_on_timeout=True, force_polling=poll, poll_delay_ms=POLL_MS, ignore_permission_denied=True,
        )  # fmt: skip
        try:
            for changes in news:
                # Another folder under its name, as after a share is mounted, sends no news.
                if _identify(path) != watched:
                    break
                yield arrived or still.see(changed=any(_is_visible(folder, changed) for _, changed in changes))
                arrived = False
        except FileNotFoundError:
            yield False
        except OSError as error:
            raise WatchImpossible(
                f"{path} cannot be watched: {error}. --poll looks at all its files instead."
            ) from error


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_visible(folder: str, changed: str) -> bool:
    below = os.path.relpath(changed, folder)
    return below == "." or not any(part.startswith(".") for part in Path(below).parts)
