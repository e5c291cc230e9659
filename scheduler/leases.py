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
from itertools import chain
from typing import Any, Self, cast

import orjson
import redis

from pipeline.errors import LeaseLost
from scheduler.errors import LeaseUnavailable
from scheduler.keys import read_name, spell_name
from scheduler.scripts import Scripts, reaching_ledger

WAIT_SECONDS = 2.0
POLL_SECONDS = 0.02
WISH_MS = 1000
"""How long a waiter that no longer asks keeps its place: a little more than a pause between two asks."""
RETURN_MS = 3000
"""How long an exclusive waiter that gave up keeps its place: its task is back in a second or two.

Without it, shared work that takes longer than `WAIT_SECONDS` keeps exclusive work out for ever, as each
try begins at the end of the queue.
"""
DOCUMENTS_SHOWN = 20
"""Documents of a `LeaseReport`; the others are only counted."""
_HASH, _SCAN = "HASH", 1000


class Access(StrEnum):
    """How a graph is used: together with others, or alone."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


class Standing(StrEnum):
    """Where one that asked for a graph stands."""

    HOLDS = "holds"
    NEXT = "next"
    WAITS = "waits"


@dataclass(frozen=True, slots=True)
class GraphUse:
    """One that holds a graph lease or wishes for it, and the seconds until that is forgotten."""

    holder: str
    access: Access
    standing: Standing
    seconds_left: float


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """A document whose lease is held, and the seconds until it ends unrenewed."""

    document: str
    holder: str
    seconds_left: float


@dataclass(frozen=True, slots=True)
class LeaseReport:
    """The leases of one graph at one instant; `documents` counts all, `first` tells of some."""

    graph: str
    epoch: int
    uses: tuple[GraphUse, ...]
    documents: int
    first: tuple[DocumentUse, ...]


class Leases:
    """Hands out graph and document leases; all clocks are the server's."""

    def __init__(self, client: "redis.Redis", *, ttl_ms: int) -> None:
        self._redis = client
        self._graph = Scripts(client, "lease_common")
        self._documents = Scripts(client, "")
        self.ttl_ms = ttl_ms

    def try_graph(self, graph: str, access: Access, holder: str) -> int:
        """Ask once; gives the epoch, or 0 while others are before us (the wish is noted for a second)."""
        return int(
            self._graph.call(
                "lease_acquire", spell_name(graph), access.value, holder, self.ttl_ms, WISH_MS, patient=True
            )
        )

    def renew_graph(self, graph: str, access: Access, holder: str) -> bool:
        """Renew; False when the lease is lost."""
        return bool(self._graph.call("lease_renew", spell_name(graph), access.value, holder, self.ttl_ms, patient=True))

    def release_graph(self, graph: str, access: Access, holder: str, *, return_ms: int = 0) -> bool:
        """Give back (or stop wishing); False when it was not held.

        Where an exclusive one only wished, new shared ones are kept out for `return_ms` more, or until
        any exclusive one is let in.
        """
        return bool(self._graph.call("lease_release", spell_name(graph), access.value, holder, return_ms, patient=True))

    def reseed(self, graph: str, fence: int, access: Access) -> int:
        """Move the counter past a fence that refused us, if that is ahead of all grants; gives the counter."""
        return int(self._graph.call("lease_reseed", spell_name(graph), fence, access.value, patient=True))

    def take_documents(self, graph: str, holder: str, ids: Sequence[str]) -> set[str]:
        """Take the leases of documents; gives those that another holder has."""
        rows = orjson.dumps(list(ids)).decode()
        return set(
            self._documents.call("documents_acquire", spell_name(graph), holder, self.ttl_ms, rows, patient=True)
        )

    def renew_documents(self, graph: str, holder: str, ids: Sequence[str]) -> set[str]:
        """Renew the leases of documents; gives the lost ones."""
        rows = orjson.dumps(list(ids)).decode()
        return set(self._documents.call("documents_renew", spell_name(graph), holder, self.ttl_ms, rows, patient=True))

    def release_documents(self, graph: str, holder: str, ids: Sequence[str]) -> None:
        """Give the leases of documents back."""
        self._documents.call(
            "documents_release", spell_name(graph), holder, orjson.dumps(list(ids)).decode(), patient=True
        )

    @reaching_ledger()
    def graphs(self) -> list[str]:
        """List the graphs that leases were ever given for."""
        return sorted({read_name(key.removeprefix("gm:lease:")) for key in self._scan("gm:lease:*", _HASH)})

    @reaching_ledger()
    def read(self, graph: str) -> LeaseReport:
        """Tell who holds and who waits, without changing anything."""
        key = f"gm:lease:{spell_name(graph)}"
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.time()
            pipe.hgetall(key)
            for name in ("shared", "turn", "wait:x", "wait:s"):
                pipe.zrange(f"{key}:{name}", 0, -1, withscores=True)
            (seconds, micros), record, *sets = pipe.execute()
        now = seconds * 1000 + micros // 1000
        alone = [(record["holder"], float(record["until"]))] if record.get("holder") else []
        next_ones = {holder for holder, _ in sets[1]}
        found = chain(
            ((*use, Access.EXCLUSIVE, Standing.HOLDS) for use in alone),
            ((*use, Access.SHARED, Standing.HOLDS) for use in sets[0]),
            ((*use, Access.SHARED, Standing.NEXT) for use in sets[1]),
            ((*use, Access.EXCLUSIVE, Standing.WAITS) for use in sets[2]),
            ((*use, Access.SHARED, Standing.WAITS) for use in sets[3] if use[0] not in next_ones),
        )
        uses = [GraphUse(who, access, standing, (until - now) / 1000) for who, until, access, standing in found]
        count, first = self._read_documents(graph)
        living = tuple(use for use in uses if use.seconds_left > 0)
        return LeaseReport(graph, int(record.get("epoch", 0)), living, count, first)

    def _read_documents(self, graph: str) -> tuple[int, tuple[DocumentUse, ...]]:
        prefix = f"gm:doc:{spell_name(graph)}:"
        # What a pattern would take for more than itself.
        pattern = "".join(f"\\{letter}" if letter in "\\*?[]" else letter for letter in prefix) + "*"
        keys = sorted(self._scan(pattern))
        with self._redis.pipeline(transaction=True) as pipe:
            for key in keys[:DOCUMENTS_SHOWN]:
                pipe.get(key)
                pipe.pttl(key)
            answers = pipe.execute()
        uses = zip(keys, answers[::2], answers[1::2], strict=False)
        # One that ended since it was listed has no holder.
        first = (DocumentUse(key.removeprefix(prefix), who, left / 1000) for key, who, left in uses if who)
        return len(keys), tuple(first)

    def _scan(self, pattern: str, kind: str | None = None) -> set[str]:
        return set(cast("Any", self._redis).scan_iter(pattern, count=_SCAN, _type=kind))


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
                leases.release_graph(graph, access, holder, return_ms=RETURN_MS)
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
