"""The part of a finalize that gives pending passages, entities and facts their vectors."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched

from pipeline.embed import embed_distinct, round_stored, text_hash
from pipeline.ports import Embedder, GraphCurator, Vectors
from scheduler.finalize import FinalizeLedger, Shard
from scheduler.leases import Access, GraphLease, Leases
from scheduler.name_vectors import NameVectors
from scheduler.seals import Seals

PAGE = 500
"""Pending things looked up, and vectors stored, at once."""
Embedded = tuple[str, str, Vectors]
"""An id, the hash of its text, and the vector."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Embeds what a part of a phase lists, but for what has the vector of its text already."""

    finalizes: FinalizeLedger
    seals: Seals
    leases: Leases
    embedder: Embedder
    names: NameVectors
    curator_of: Callable[[str], GraphCurator]
    page_size: int
    """Texts embedded between two signs of life."""

    def embed(self, shard: Shard, kind: str) -> int:
        """Embed what is listed of a kind; gives how many vectors were made."""
        return sum(len(rows) for rows in self._embed(shard, kind))

    def embed_names(self, shard: Shard) -> int:
        """Embed the listed entities' names, and keep the vectors for the phase that compares them; gives how many."""
        rows = [row for page in self._embed(shard, "entity") for row in page]
        self.names.keep(self.seals.vectors_key(shard, shard.shard), rows)
        return len(rows)

    def _embed(self, shard: Shard, kind: str) -> Iterator[list[Embedded]]:
        curator = self.curator_of(shard.graph)
        for page in batched(self.seals.part(shard, shard.phase, shard.shard)[kind], PAGE):
            texts = curator.texts(kind, [one.id for one in page])
            hashed = ((one.id, text_hash(one.text), one) for one in texts)
            stale = [(name, digest, one.text) for name, digest, one in hashed if digest != one.embedded_hash]
            if stale:
                # Without a lease: this is where the time goes.
                rows = [row for some in batched(stale, self.page_size) for row in self._embed_some(shard, some)]
                with GraphLease.hold(self.leases, shard.graph, Access.SHARED, secrets.token_hex(8)) as lease:
                    curator.set_vectors(kind, rows, lease.epoch)
                yield rows
            self.finalizes.touch(shard)

    def _embed_some(self, shard: Shard, stale: Sequence[tuple[str, str, str]]) -> list[Embedded]:
        vectors = round_stored(embed_distinct(self.embedder, [text for _, _, text in stale]))
        self.finalizes.touch(shard)
        return [(name, digest, vector) for (name, digest, _), vector in zip(stale, vectors, strict=True)]
