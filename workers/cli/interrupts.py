"""Ctrl-C, SIGTERM and SIGHUP end a command in good order, also where what they raise is lost.

Python drops an exception that a signal raises while an object is being finalized; a loop that goes on for
long asks here whether that has happened.
"""

import signal
from types import FrameType

_asked: list[int] = []
"""The signals that have asked for the end."""


def follow_signals() -> None:
    """Let the signals raise `KeyboardInterrupt` from now on, as Ctrl-C does."""
    _asked.clear()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def check_interrupted() -> None:
    """Raise `KeyboardInterrupt` where a signal has asked for the end."""
    if _asked:
        raise KeyboardInterrupt


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _asked.append(number)
    raise KeyboardInterrupt
