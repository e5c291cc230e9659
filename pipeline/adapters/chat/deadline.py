"""A deadline for one call that holds whatever the other side does."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue


def within[T](seconds: float, call: Callable[[], T]) -> T:
    """Give what the call gives, or raises; raises `TimeoutError` when the seconds are over.

    Timeouts of HTTP libraries count from the last byte, so a server that drips holds a call for ever. The call runs
    on a thread of its own, which is left alone at the deadline: it keeps its connection until the server ends it or
    sends nothing for as long as the library waits, and does not keep the process from ending. Starting it takes a
    tenth of a millisecond.
    """
    outcome: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it was called
            outcome.put((None, error))

    threading.Thread(target=run, name="language-model", daemon=True).start()
    try:
        value, error = outcome.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value] # without an error there is one
