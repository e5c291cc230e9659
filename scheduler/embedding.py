"""What gives passages, entities and facts their vectors in a finalize."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import batched
from typing import NamedTuple

from pipeline.embed import embed_distinct, round_stored, text_hash
from pipeline.ports import Embedder, GraphCurator, Vectors
from scheduler.errors import ShardOver
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.leases import Access, GraphLease, Leases
from scheduler.name_vectors import FreshVectors, NameVectors
from scheduler.seals import Seals

Embedded = tuple[str, str, Vectors]
"""An id, the hash of its text, and the vector."""


class _Stale(NamedTuple):
    """A text whose vector is of another text, or missing."""

    id: str
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class Embedding:
    """Embeds the texts of a graph's elements, but for those that have the vector of their text already."""

    finalizes: FinalizeLedger
    seals: Seals
    leases: Leases
    embedder: Embedder
    names: NameVectors
    curator_of: Callable[[str], GraphCurator]
    page_size: int
    """Texts embedded between two signs of life."""

    def embed(self, shard: Shard, kind: str, pages: Iterable[Sequence[str]]) -> int:
        """Embed elements of a kind that are still there, page by page; gives how many vectors were made."""
        return self._store_each(shard, kind, (self._make(shard, self._find_stale(shard, kind, ids)) for ids in pages))

    def embed_names(self, shard: Shard, pages: Iterable[Sequence[str]]) -> int:
        """Make the vectors of entities' names for those who compare and store them; gives how many were made."""
        rows = [row for ids in pages for row in self._make(shard, self._find_stale(shard, "entity", ids))]
        self._go_on(shard)
        self.names.keep(self.seals.vectors_key(shard, shard.shard), rows)
        return len(rows)

    def find_fresh(self, shard: Shard) -> FreshVectors:
        """Tell which vectors of names all parts have made; raises `ArtifactMissing`."""
        parts = range(self.seals.parts(shard, Phase.NAMES))
        return self.names.find_fresh([self.seals.vectors_key(shard, part) for part in parts])

    def store_names(self, shard: Shard, part: int, pages: Iterable[Sequence[str]]) -> None:
        """Store the vectors that a part of the names' phase made; those that are gone are made anew."""
        made = self.names.load(self.seals.vectors_key(shard, part))

        def take_made() -> Iterator[list[Embedded]]:
            for ids in pages:
                stale = self._find_stale(shard, "entity", ids)
                missing = self._make(shard, [one for one in stale if one.hash not in made])
                yield [*((one.id, one.hash, made[one.hash]) for one in stale if one.hash in made), *missing]

        self._store_each(shard, "entity", take_made())

    def _find_stale(self, shard: Shard, kind: str, ids: Sequence[str]) -> list[_Stale]:
        # Said for each page: a part that finds many with nothing to do would seem to stand still.
        self._go_on(shard)
        texts = ((one, text_hash(one.text)) for one in self.curator_of(shard.graph).texts(kind, ids))
        return [_Stale(one.id, digest, one.text) for one, digest in texts if digest != one.embedded_hash]

    def _make(self, shard: Shard, stale: Sequence[_Stale]) -> list[Embedded]:
        """Embed texts, without a lease: this is where the time goes."""
        rows: list[Embedded] = []
        for some in batched(stale, self.page_size):
            vectors = round_stored(embed_distinct(self.embedder, [one.text for one in some]))
            rows += ((one.id, one.hash, vector) for one, vector in zip(some, vectors, strict=True))
            self._go_on(shard)
        return rows

    def _store_each(self, shard: Shard, kind: str, pages: Iterable[Sequence[Embedded]]) -> int:
        """Store page after page, each while the next one is made; gives how many vectors.

        Whatever ends it, a store in hand is awaited: none may go on when its part is told to be over.
        """
        stored = 0
        before: Future[None] | None = None
        with ThreadPoolExecutor(1) as beside:
            for rows in pages:
                if before is not None:
                    before.result()
                before = beside.submit(self._store, shard, kind, rows)
                stored += len(rows)
            if before is not None:
                before.result()
        return stored

    def _store(self, shard: Shard, kind: str, rows: Sequence[Embedded]) -> None:
        if rows:
            with GraphLease.hold(self.leases, shard.graph, Access.SHARED, secrets.token_hex(8)) as lease:
                # What came late would take the place of what a later finalize has made of other texts.
                self._go_on(shard)
                self.curator_of(shard.graph).set_vectors(kind, rows, lease.epoch)

    def _go_on(self, shard: Shard) -> None:
        """Say that a part moves; one that is over embeds for nobody, and must not store what is read by its name."""
        if not self.finalizes.touch(shard):
            raise ShardOver(f"Part {shard.shard} of phase {shard.phase.value} of graph {shard.graph} is over.")
