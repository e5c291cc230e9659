"""Dropping a graph: all that it holds goes, and what Redis knows of it; runs keep their history."""

import secrets
from contextlib import suppress
from dataclasses import dataclass

import redis

from pipeline.errors import GraphMissing, PermanentError
from pipeline.ports import GraphWriter
from scheduler.keys import spell_name
from scheduler.leases import Access, GraphLease, Leases
from scheduler.scripts import Scripts


class GraphInUse(PermanentError):
    """A run or finalize works on the graph."""


@dataclass(frozen=True, slots=True)
class Dropping:
    """What dropping a graph needs."""

    client: "redis.Redis"
    leases: Leases
    writer: GraphWriter

    def drop(self, graph: str) -> int:
        """Remove a graph; gives how many runs had ended with it.

        A repeated call ends what was begun. Raises `GraphInUse`, `GraphMissing`, `LeaseUnavailable`.
        """
        # Nobody writes meanwhile: a writer that comes later finds no graph, and prepares a new one.
        with GraphLease.hold(self.leases, graph, Access.EXCLUSIVE, secrets.token_hex(8)) as lease:
            # A server that does not answer is noticed before anything is forgotten.
            with suppress(GraphMissing):
                self.writer.fence()
            runs = self._forget(graph)
            try:
                self.writer.drop()
            finally:
                Scripts(self.client, "lease_common").call("lease_forget", spell_name(graph), lease.holder, patient=True)
        return runs

    def _forget(self, graph: str) -> int:
        """Forget the graph's finalize, unless something works on it; gives how many runs had ended with it."""
        told, *rest = Scripts(self.client, "common").call("drop", graph, patient=True)
        if told == "run":
            run, state = rest
            raise GraphInUse(
                f"Run {run} is {state} and works on graph {graph!r}. Let it end, or end it: graphmill cancel {run}"
            )
        if told == "finalize":
            raise GraphInUse(f"A finalize of graph {graph!r} goes on. Try again when it has ended.")
        return int(rest[0])
