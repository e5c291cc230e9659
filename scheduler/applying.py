"""Applies a sealed plan of merges to a graph, in short exclusive grants between which ingests go on."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import batched

from pipeline.ports import GraphCurator, GraphWriter
from pipeline.ports.merges import GraphMerges
from pipeline.resolve.values import Judged, Pair, pair_of
from scheduler.leases import Access, GraphLease, Leases
from scheduler.seals import SealedChoice, SealedMerge, SealedPlan, spell_told

GRANT_MERGES, GRANT_SECONDS = 20, 2.0
"""How much one exclusive grant may do while ingests wait."""
VERDICT_PAGE, MERGE_PAGE = 5_000, 1_000
"""Verdicts written, and merges listed at once."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of a plan."""

    merged: int
    outdated: tuple[Pair, ...]
    """Survivors and duplicates that were left two: they are not any more what was judged."""


@dataclass(frozen=True, slots=True)
class Applying:
    """What applies plans to one graph; `progress` is called in between."""

    graph: str
    curator: GraphCurator
    writer: GraphWriter
    merges: GraphMerges
    leases: Leases
    progress: Callable[[], None]

    def apply(self, plan: SealedPlan) -> Applied:
        """Merge, then choose names and values, then keep what was judged.

        Each step is harmless to repeat. Verdicts come last: once they are kept nobody is asked again, and what a judge
        would call a group would be lost with a plan that was never applied.
        """
        applied = self._merge(plan)
        self._choose(plan.choices)
        # Of what has changed nobody knows any more: it is asked about again.
        changed = {member for pair in applied.outdated for member in pair}
        self._keep(judged for judged in plan.verdicts if changed.isdisjoint(judged.pair))
        return applied

    def separate(self, rows: Sequence[str]) -> int:
        """Take out of rows of tables what bears a name that two of them have by now; gives how much.

        So what a text calls by such a name is neither's, whichever row came first. It is pending, and the next finalize
        judges it.
        """
        separated = 0
        for identity in self.merges.contested(rows):
            with self._alone() as lease:
                separated += self.merges.undo(identity, lease.epoch, lease.renew, for_good=False)
        return separated

    def _merge(self, plan: SealedPlan) -> Applied:
        merges, told = plan.merges, dict(plan.told)
        # What an earlier try has merged into is not any more what it was, by our own hand.
        for into in self._list_survivors(merges):
            told.pop(into, None)
        outdated: list[Pair] = []
        position = merged = 0
        while position < len(merges):
            with self._alone() as lease:
                self.curator.settle()
                # Since the last grant a person may have undone a merge.
                apart = self.merges.kept_apart()
                ends = time.monotonic() + GRANT_SECONDS
                stop = position + GRANT_MERGES
                while position < min(stop, len(merges)) and time.monotonic() < ends:
                    survivor, duplicate, why = merges[position]
                    position += 1
                    lease.renew()
                    if pair_of(survivor, duplicate) in apart:
                        continue
                    if self._has_changed(told, survivor, duplicate):
                        outdated.append((survivor, duplicate))
                    elif self.curator.merge(survivor, duplicate, lease.epoch, why):
                        merged += 1
                        told.update(self._tell([survivor]))
                        moved = (tuple(survivor if one == duplicate else one for one in pair) for pair in apart)
                        apart = {pair_of(one, other) for one, other in moved}
        return Applied(merged, tuple(outdated))

    def _list_survivors(self, merges: Sequence[SealedMerge]) -> set[str]:
        """List what this finalize has merged into so far."""
        found: set[str] = set()
        after, number = "", merges[0][2].number if merges else 0
        while number and (page := self.merges.merges(after, MERGE_PAGE, number=number)):
            found |= {one.into for one in page}
            after = page[-1].id
        return found

    def _has_changed(self, told: Mapping[str, str], *pair: str) -> bool:
        """Tell whether entities are not what was judged; one that is gone has not changed."""
        return any(told.get(identity, said) != said for identity, said in self._tell(pair).items())

    def _tell(self, pair: Sequence[str]) -> dict[str, str]:
        return {one.id: spell_told(one) for one in self.merges.named(pair)}

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
