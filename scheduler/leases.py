"""Leases: who may write to a graph, and to one document of it, right now.

The graph lease is a phase-fair readers-writer lease (shared for ingest, exclusive for what moves or
removes things) with an epoch that the graph's fence checks in every write: a holder that slept past
its lease writes nothing. Nobody waits here for long: a task asks for up to `WAIT_SECONDS`, then
defers its files. Rules: the architecture's "Leases"; protocol: ADR 0002.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import orjson
import redis

from pipeline.errors import LeaseLost
from scheduler.errors import LeaseUnavailable
from scheduler.scripts import Scripts

WAIT_SECONDS = 2.0
POLL_SECONDS = 0.02
WISH_MS = 1000
"""How long a waiter that no longer asks keeps its place: a little more than a pause between two asks."""


class Access(StrEnum):
    """How a graph is used: together with others, or alone."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


class Leases:
    """Hands out graph and document leases; all clocks are the server's."""

    def __init__(self, client: "redis.Redis", *, ttl_ms: int) -> None:
        self._graph = Scripts(client, "lease_common")
        self._documents = Scripts(client, "")
        self.ttl_ms = ttl_ms

    def try_graph(self, graph: str, access: Access, holder: str) -> int:
        """Ask once; gives the epoch, or 0 while others are before us (the wish is noted for a second)."""
        return int(self._graph.call("lease_acquire", graph, access.value, holder, self.ttl_ms, WISH_MS, patient=True))

    def renew_graph(self, graph: str, access: Access, holder: str) -> bool:
        """Renew; False when the lease is lost."""
        return bool(self._graph.call("lease_renew", graph, access.value, holder, self.ttl_ms, patient=True))

    def release_graph(self, graph: str, access: Access, holder: str) -> bool:
        """Give back (or stop wishing); False when it was not held."""
        return bool(self._graph.call("lease_release", graph, access.value, holder, patient=True))

    def reseed(self, graph: str, fence: int, access: Access) -> int:
        """Move the counter past a fence that refused us, if that is ahead of all grants; gives the counter."""
        return int(self._graph.call("lease_reseed", graph, fence, access.value, patient=True))

    def take_documents(self, graph: str, holder: str, ids: Sequence[str]) -> set[str]:
        """Take the leases of documents; gives those that another holder has."""
        rows = orjson.dumps(list(ids)).decode()
        return set(self._documents.call("documents_acquire", graph, holder, self.ttl_ms, rows, patient=True))

    def renew_documents(self, graph: str, holder: str, ids: Sequence[str]) -> set[str]:
        """Renew the leases of documents; gives the lost ones."""
        rows = orjson.dumps(list(ids)).decode()
        return set(self._documents.call("documents_renew", graph, holder, self.ttl_ms, rows, patient=True))

    def release_documents(self, graph: str, holder: str, ids: Sequence[str]) -> None:
        """Give the leases of documents back."""
        self._documents.call("documents_release", graph, holder, orjson.dumps(list(ids)).decode(), patient=True)


@dataclass(slots=True)
class GraphLease:
    """A held graph lease as a context: `with GraphLease.hold(...) as lease: ... lease.epoch`."""

    leases: Leases
    graph: str
    access: Access
    holder: str
    epoch: int
    _renewed: float

    @classmethod
    def hold(cls, leases: Leases, graph: str, access: Access, holder: str) -> Self:
        """Take the lease; raises `LeaseUnavailable` after a short wait."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (epoch := leases.try_graph(graph, access, holder)):
            if time.monotonic() >= deadline:
                leases.release_graph(graph, access, holder)
                raise LeaseUnavailable(f"Graph {graph!r} is in use by others ({access} access was asked for).")
            time.sleep(POLL_SECONDS)
        return cls(leases, graph, access, holder, epoch, time.monotonic())

    def renew(self) -> bool:
        """Renew once a third of the lease has passed, and tell so; raises `LeaseLost` when it is gone."""
        if time.monotonic() - self._renewed < self.leases.ttl_ms / 3000:
            return False
        if not self.leases.renew_graph(self.graph, self.access, self.holder):
            raise LeaseLost(f"The {self.access} lease on graph {self.graph!r} ended before the work did.")
        self._renewed = time.monotonic()
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leases.release_graph(self.graph, self.access, self.holder)
