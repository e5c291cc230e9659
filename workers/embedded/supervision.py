"""Start children again that died or hang, but not for ever."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.embedded.errors import StartFailed
from workers.embedded.processes import Child

MOST_QUICK_RESTARTS = 5
"""Deaths in a row, each soon after a start, after which a child is given up."""
QUICK_SECONDS = 60.0
"""A child that ran longer than this has recovered: its count starts anew."""
QUICK_HANG_SECONDS = 300.0
"""The same for a child that hung, which takes minutes to be noticed."""
FIRST_DELAY_SECONDS = 0.5
"""Wait before the first restart; it doubles with each quick death."""


@dataclass(frozen=True)
class Death:
    """A child that ended without being told to, or was ended because it hung."""

    name: str
    returncode: int
    log_file: Path
    hung: bool = False

    def __str__(self) -> str:
        """One line for the user."""
        how = f"signal {-self.returncode}" if self.returncode < 0 else f"status {self.returncode}"
        what = "hung, was ended" if self.hung else f"ended unexpectedly ({how})"
        return f"{self.name} {what} and is started again; see {self.log_file}"


class Supervisor:
    """Watches children whenever `look` is called; it has no thread of its own."""

    def __init__(
        self,
        children: list[Child],
        *,
        hangs: Mapping[str, Callable[[], bool]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch `children`; `hangs` asks, by a child's name, whether it lives without going on."""
        self._children = children
        self._hangs = hangs or {}
        self._clock = clock
        self._quick: dict[str, int] = {}
        self._due: dict[str, float] = {}

    def add(self, child: Child) -> None:
        """Watch one more child."""
        self._children.append(child)

    def look(self) -> tuple[list[Death], bool]:
        """End who hangs, note who died since the last look, and start again whose delay is over.

        Returns:
            The new deaths, and whether a child was started.

        Raises:
            StartFailed: a child died quickly too often; with the end of its log.
        """
        deaths: list[Death] = []
        restarted = False
        for child in self._children:
            due = self._due.get(child.name)
            if due is not None:
                if self._clock() >= due:
                    del self._due[child.name]
                    child.start()
                    restarted = True
                continue
            hung = child.returncode is None and child.name in self._hangs and self._hangs[child.name]()
            if hung:
                child.kill()
            returncode = child.returncode
            if returncode is not None:
                deaths.append(Death(child.name, returncode, child.log_file, hung))
                self._plan_restart(child, deaths[-1])
        return deaths, restarted

    def _plan_restart(self, child: Child, death: Death) -> None:
        now = self._clock()
        quick = now - child.started_at < (QUICK_HANG_SECONDS if death.hung else QUICK_SECONDS)
        count = self._quick.get(child.name, 0) + 1 if quick else 1
        self._quick[child.name] = count
        if count > MOST_QUICK_RESTARTS:
            raise StartFailed(
                f"{child.name} died {count} times in a row (last: exit status {death.returncode}).\n"
                f"End of {child.log_file}:\n{child.tail()}"
            )
        self._due[child.name] = now + FIRST_DELAY_SECONDS * 2 ** (count - 1)
