"""Single flight: which passages a task is asking a model about, so that no other task pays for the same answer.

A claim is a key in Redis that expires unless it is renewed; keys are those of the extraction artifacts.
Nobody waits for a claim: what another one asks for is left for a later turn, where its answer is found.
"""

from collections.abc import Iterator, Sequence
from itertools import batched

import redis

from scheduler.scripts import Scripts

_AT_ONCE = 500
"""Keys of one script, so that it never holds the server up."""


class Flights:
    """Claims of passages by the tasks that ask for them.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        ttl_ms: How long a claim outlives its last renewal.
    """

    def __init__(self, client: "redis.Redis", *, ttl_ms: int) -> None:
        self._scripts = Scripts(client, "")
        self._ttl_ms = ttl_ms

    def take(self, keys: Sequence[str], holder: str) -> set[str]:
        """Claim passages; gives those that others hold. Raises `LedgerUnavailable`, as all here do."""
        return set(self._each("flight_take", keys, holder, self._ttl_ms))

    def renew(self, keys: Sequence[str], holder: str) -> set[str]:
        """Renew claims; gives the lost ones."""
        return set(self._each("flight_renew", keys, holder, self._ttl_ms))

    def release(self, keys: Sequence[str], holder: str) -> None:
        """Give claims back; those of others stay."""
        for some in batched(keys, _AT_ONCE):
            self._scripts.call("flight_release", holder, *some, patient=True)

    def _each(self, script: str, keys: Sequence[str], holder: str, ttl_ms: int) -> Iterator[str]:
        for some in batched(keys, _AT_ONCE):
            yield from self._scripts.call(script, holder, ttl_ms, *some, patient=True)
