"""Lua scripts of the ledger and the leases: loaded once, called with bounded patience.

Every script that is called with `patient=True` is idempotent for its caller, so that a call whose
answer was lost may be repeated; redis-py's own retries are off (they would repeat anything).
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import redis

from scheduler.errors import IllegalMove, LedgerUnavailable
from scheduler.states import FILE_MOVES, RUN_MOVES

PATIENCE_SECONDS = 60.0
"""How long a worker that holds work waits for a ledger that restarts before it gives the work up."""


@cache
def read_script(name: str, preamble: str) -> str:
    """Read a script, behind the functions that it shares with its kind and the tables that those go by."""
    folder = resources.files("scheduler") / "lua"
    parts = [(folder / f"{part}.lua").read_text("utf-8") for part in (preamble, name) if part]
    return "\n".join([*(_TABLES if preamble == "common" else ()), *parts])


def _spell_moves[S: StrEnum](name: str, moves: Mapping[S, frozenset[S]]) -> str:
    """Write a table of moves in Lua: state → set of states."""
    rows = (f"{state}={{{','.join(f'{to}=true' for to in sorted(moves[state]))}}}" for state in moves)
    return f"local {name} = {{{','.join(rows)}}}"


_TABLES = (_spell_moves("RUN_MOVES", RUN_MOVES), _spell_moves("FILE_MOVES", FILE_MOVES))
# The client takes OOM off the message, and tells it by the type alone.
_UNAVAILABLE = (
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    redis.exceptions.OutOfMemoryError,
)
_ILLEGAL_MOVE = re.compile(r"ILLEGALMOVE (.*?);")


@contextmanager
def reaching_ledger() -> Iterator[None]:
    """Turn a Redis that does not answer, or is full, into `LedgerUnavailable`; a block, or a decorator of a method."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> LedgerUnavailable:
    if isinstance(error, redis.exceptions.OutOfMemoryError):
        return LedgerUnavailable(
            "The ledger's Redis is full: it takes nothing in until it has room (see its maxmemory)"
        )
    return LedgerUnavailable(f"The ledger's Redis did not answer: {error}")


class Scripts:
    """Calls the scripts of one kind on one Redis."""

    def __init__(self, client: "redis.Redis", preamble: str) -> None:
        self._client = client
        self._preamble = preamble
        self._loaded: dict[str, Any] = {}

    def call(self, name: str, *args: str | float, patient: bool = False) -> Any:
        """Run a script; raises `LedgerUnavailable` at once, or after a minute where `patient`; `IllegalMove`."""
        script = self._loaded.get(name)
        if script is None:
            script = self._loaded[name] = self._client.register_script(read_script(name, self._preamble))
        deadline = time.monotonic() + (PATIENCE_SECONDS if patient else 0.0)
        pause = 0.05
        while True:
            try:
                return script(keys=[], args=args)
            except _UNAVAILABLE as error:
                cause: Exception = error
            except redis.exceptions.ResponseError as error:
                if illegal := _ILLEGAL_MOVE.search(str(error)):
                    raise IllegalMove(f"{name}: {illegal[1]}") from error
                if not str(error).startswith(("LOADING", "MISCONF", "TRYAGAIN")):
                    raise
                cause = error
            if time.monotonic() >= deadline:
                raise _unavailable(cause) from cause
            time.sleep(pause)
            pause = min(pause * 2, 2.0)
