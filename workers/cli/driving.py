"""The loop of a command that watches: do control work, look after the stack, show how far things are."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import redis.exceptions
from kombu.exceptions import OperationalError

from pipeline.errors import TransientError
from workers.cli.exits import Interrupted
from workers.cli.interrupts import check_interrupted
from workers.cli.output import Note
from workers.embedded import EmbeddedError
from workers.running import System

if TYPE_CHECKING:
    from scheduler.records import MemoryUse

PACE_SECONDS = 0.2
"""Between two looks: a worker that waits for its next batch waits no longer than this."""
UNREAD_SECONDS = 10.0
"""How long a queue may have no worker before the user is told."""
REPEAT_SECONDS = 60.0
_LOOK_SECONDS = 2.0
ROOM_FIX = "a larger maxmemory, or a shorter GRAPHMILL_KEEP_RUNS_DAYS, makes room."
# What passes when a server comes back.
PASSING = (
    TransientError,
    OSError,
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    OperationalError,
)


def drive[State](
    system: System,
    note: Note,
    *,
    look: Callable[[], State],
    show: Callable[[State], None],
    over: Callable[[State], bool],
    needed: Callable[[State], Sequence[str]],
) -> State:
    """Tick until it is over; gives the last state seen.

    Args:
        system: What is driven.
        note: Shows remarks: a child that died, a Redis that does not answer, a queue without worker.
        look: Reads the state.
        show: Shows it.
        over: Tells whether there is nothing more to wait for.
        needed: Names the queues that must have workers for it to go on.

    Raises:
        EmbeddedError: the embedded stack cannot go on.
    """
    outage, unread, held_back = Reminder(note), UnreadQueues(system, note), Reminder(note)
    while True:
        check_interrupted()
        for death in system.supervise():
            note(str(death))
        try:
            state = look()
            show(state)
            if over(state):
                return state
            if system.client.tick().held_back:
                held_back.remind(explain_held_back(system.client.memory()))
            elif held_back.clear():
                note("Redis is below its mark again: dispatch goes on.")
            unread.check(needed(state))
        except PASSING as error:
            outage.remind(f"Waiting for Redis: {error}")
        else:
            if outage.clear():
                note("Redis answers again.")
        time.sleep(PACE_SECONDS)


def explain_held_back(memory: "MemoryUse") -> str:
    """Say why nothing new is dispatched, and what helps."""
    return f"{memory}: nothing new is dispatched. It goes on by itself; {ROOM_FIX}"


class Reminder:
    """Says the same thing again only now and then."""

    def __init__(self, note: Note, clock: Callable[[], float] = time.monotonic) -> None:
        self._note = note
        self._clock = clock
        self._said_at: float | None = None

    def remind(self, text: str) -> None:
        """Say it, unless it was said lately."""
        now = self._clock()
        if self._said_at is None or now - self._said_at >= REPEAT_SECONDS:
            self._note(text)
            self._said_at = now

    def clear(self) -> bool:
        """Note that it is over; True where it had been said."""
        said, self._said_at = self._said_at is not None, None
        return said


class UnreadQueues:
    """Notices queues that no living worker reads."""

    def __init__(self, system: System, note: Note, clock: Callable[[], float] = time.monotonic) -> None:
        self._system = system
        self._reminder = Reminder(note, clock)
        self._clock = clock
        self._looked_at = -_LOOK_SECONDS
        self._since: float | None = None

    def check(self, queues: Sequence[str]) -> None:
        """Look now and then; tell the user once a queue has been without worker for a while."""
        now = self._clock()
        if now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        read = {queue for worker in self._system.workers() for queue in worker.queues}
        unread = [queue for queue in queues if queue not in read]
        if not unread:
            self._since = None
            self._reminder.clear()
        elif self._since is None:
            self._since = now
        elif now - self._since >= UNREAD_SECONDS:
            names = ", ".join(unread)
            self._reminder.remind(
                f"No living worker reads {names}: nothing moves until one does. "
                f"Start one, on any host: graphmill worker {role_for(unread)}"
            )


def role_for(queues: Sequence[str]) -> str:
    """Name the smallest role that reads queues."""
    from workers.roles import ROLES

    fitting = [role for role in ROLES.values() if set(queues) <= set(role.queues)]
    return min(fitting, key=lambda role: len(role.queues)).name if fitting else "all"


@contextmanager
def interruptible(how_to_go_on: Callable[[], str], note: Note) -> Iterator[None]:
    """Turn Ctrl-C inside the block into an orderly end, and tell how to go on, also where the stack has ended."""
    try:
        yield
    except KeyboardInterrupt:
        note("Stopping; Ctrl-C again forces it.")
        raise Interrupted(f"Interrupted. Nothing is lost: {how_to_go_on()}") from None
    except EmbeddedError as error:
        raise type(error)(f"{error}\nNothing is lost: {how_to_go_on()}") from error
