"""Running one function over many items at once, with results as they come."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue


def run_each[T, R](
    function: Callable[[T], R], items: Sequence[T], threads: int
) -> Generator[tuple[int, R], None, None]:
    """Call `function` for each item in up to `threads` threads; yields positions and results as they come.

    Closing the iterator, or an error of the function, which is raised here, begins no further call and waits for
    those under way. The threads keep no process from ending.
    """
    work = _Work(function, items)
    # A context each, so that their logs say what the caller's do.
    workers = [
        threading.Thread(target=copy_context().run, args=(work.do,), daemon=True, name=f"run-each-{number}")
        for number in range(min(threads, len(items)))
    ]
    try:
        for worker in workers:
            worker.start()
        for _ in items:
            result = work.results.get()
            if isinstance(result, _Raised):
                raise result.error
            yield result
    finally:
        work.stop()
        for worker in workers:
            # One that could not be started has no identity, and nothing to wait for.
            if worker.ident is not None:
                worker.join()


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


class _Work[T, R]:
    """What is left to do, and what came of the rest."""

    def __init__(self, function: Callable[[T], R], items: Sequence[T]) -> None:
        self._function = function
        self._left = iter(enumerate(items))
        self._taking = threading.Lock()
        self._stopped = False
        self.results: SimpleQueue[tuple[int, R] | _Raised] = SimpleQueue()

    def do(self) -> None:
        """Do one after the other until nothing is left, or something fails."""
        while (taken := self._take()) is not None:
            position, item = taken
            try:
                self.results.put((position, self._function(item)))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where results are awaited
                self.stop()
                self.results.put(_Raised(error))

    def stop(self) -> None:
        """Let nothing more begin."""
        with self._taking:
            self._stopped = True

    def _take(self) -> tuple[int, T] | None:
        with self._taking:
            return None if self._stopped else next(self._left, None)
