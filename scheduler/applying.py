"""Applies a sealed plan of merges to a graph, in short exclusive grants between which ingests go on."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import batched

from pipeline.ports import GraphCurator, GraphWriter
from pipeline.ports.merges import GraphMerges
from pipeline.resolve.values import Judged
from scheduler.leases import Access, GraphLease, Leases
from scheduler.seals import SealedChoice, SealedMerge, SealedPlan

GRANT_MERGES, GRANT_SECONDS = 20, 2.0
"""How much one exclusive grant may do while ingests wait."""
VERDICT_PAGE = 5_000
"""Verdicts written at once."""


@dataclass(frozen=True, slots=True)
class Applying:
    """What applies plans to one graph; `progress` is called in between."""

    graph: str
    curator: GraphCurator
    writer: GraphWriter
    merges: GraphMerges
    leases: Leases
    progress: Callable[[], None]

    def apply(self, plan: SealedPlan) -> int:
        """Merge, then choose names and values, then keep what was judged; gives how many entities were merged.

        Each step is harmless to repeat. Verdicts come last: once they are kept nobody is asked again, and what a judge
        would call a group would be lost with a plan that was never applied.
        """
        merged = self._merge(plan.merges)
        self._choose(plan.choices)
        self._keep(plan.verdicts)
        return merged

    def _merge(self, merges: Sequence[SealedMerge]) -> int:
        position = merged = 0
        while position < len(merges):
            with self._alone() as lease:
                self.curator.settle()
                ends = time.monotonic() + GRANT_SECONDS
                stop = position + GRANT_MERGES
                while position < min(stop, len(merges)) and time.monotonic() < ends:
                    survivor, duplicate, why = merges[position]
                    merged += self.curator.merge(survivor, duplicate, lease.epoch, why)
                    position += 1
                    lease.renew()
        return merged

    def _choose(self, choices: Iterable[SealedChoice]) -> None:
        for some in batched(choices, GRANT_MERGES):
            with self._alone() as lease:
                for survivor, name, keep in some:
                    self.merges.choose(survivor, name, keep, lease.epoch)

    def _keep(self, verdicts: Iterable[Judged]) -> None:
        for some in batched(verdicts, VERDICT_PAGE):
            with GraphLease.hold(self.leases, self.graph, Access.SHARED, secrets.token_hex(8)) as lease:
                self.merges.put_verdicts(some, lease.epoch)
            self.progress()

    @contextmanager
    def _alone(self) -> Iterator[GraphLease]:
        with GraphLease.hold(self.leases, self.graph, Access.EXCLUSIVE, secrets.token_hex(8)) as lease:
            self.writer.raise_fence(lease.epoch, exclusive=True)
            yield lease
        self.progress()
