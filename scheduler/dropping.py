"""Dropping a graph: all that it holds goes, and what Redis knows of it; runs keep their history."""

import secrets
from dataclasses import dataclass

import redis

from pipeline.errors import GraphMissing, PermanentError
from pipeline.ports import GraphWriter
from scheduler.finalize import FinalizeLedger
from scheduler.leases import Access, GraphLease, Leases
from scheduler.ledger import Ledger
from scheduler.scripts import Scripts


class GraphInUse(PermanentError):
    """A run or finalize works on the graph."""


@dataclass(frozen=True, slots=True)
class Dropping:
    """What dropping a graph needs."""

    client: "redis.Redis"
    ledger: Ledger
    finalizes: FinalizeLedger
    leases: Leases
    writer: GraphWriter

    def check(self, graph: str) -> None:
        """Refuse where something works on the graph; raises `GraphInUse`."""
        for run in self.ledger.active_runs():
            status = self.ledger.status(run)
            if status.graph == graph:
                raise GraphInUse(
                    f"Run {run} is {status.state} and works on graph {graph!r}. "
                    f"Let it end, or end it: graphmill cancel {run}"
                )
        if self.finalizes.status(graph).state == "running":
            raise GraphInUse(f"A finalize of graph {graph!r} goes on. Try again when it has ended.")

    def drop(self, graph: str) -> int:
        """Remove a graph; gives how many runs had written to it.

        A repeated call ends what was begun. Raises `GraphInUse`, `GraphMissing`, `LeaseUnavailable`.
        """
        missing: GraphMissing | None = None
        # Nobody writes meanwhile: a writer that comes later finds no graph, and prepares a new one.
        with GraphLease.hold(self.leases, graph, Access.EXCLUSIVE, secrets.token_hex(8)):
            self.check(graph)
            try:
                self.writer.drop()
            except GraphMissing as error:
                missing = error
            runs = int(Scripts(self.client, "common").call("drop", graph, patient=True))
        if missing:
            raise missing
        return runs
