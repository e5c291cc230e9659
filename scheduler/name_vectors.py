"""Vectors of the names of a graph's entities, kept in the artifact store: a graph gives them at 0.25 ms each.

Each part of a finalize adds the vectors of names that are new. One that is gone costs nothing but time, unless it was
made just now: all parts of a finalize must compare by the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched

import numpy as np
import orjson

from pipeline import ids
from pipeline.errors import ArtifactMissing
from pipeline.ports import ArtifactStore, Vectors
from pipeline.ports.merges import GraphMerges
from scheduler.finalize import FinalizeLedger

MOST_PARTS = 128
"""Of more parts, one is made of those that are in use."""
PAGE = 5_000
"""Vectors read from the graph at once."""
_HASH_ENDS = b"\n"


@dataclass(frozen=True, slots=True)
class FreshVectors:
    """Vectors of names that were made just now, and that the graph may not hold yet."""

    parts: tuple[str, ...] = ()
    """Of the artifact store."""
    hashes: frozenset[str] = frozenset()
    """Of the texts that they were made of."""


NOTHING_FRESH = FreshVectors()


@dataclass(frozen=True, slots=True)
class NameVectors:
    """Reads vectors of names by the hash of the text that each was made of."""

    artifacts: ArtifactStore
    finalizes: FinalizeLedger
    model_id: str
    dimension: int

    def keep(self, part: str, rows: Sequence[tuple[str, str, Vectors]]) -> None:
        """Store (id, hash, vector) rows as a part, whose name `read` is to be told."""
        vectors = np.stack([vector for *_, vector in rows]) if rows else self._nothing()
        self._store(part, [text_hash for _, text_hash, _ in rows], vectors)

    def load(self, part: str) -> dict[str, Vectors]:
        """Give the vectors of a part by hash; none where it is gone."""
        hashes, vectors = self._load(part)
        return dict(zip(hashes, vectors, strict=True))

    def find_fresh(self, parts: Sequence[str]) -> FreshVectors:
        """Tell what vectors there are in parts that were kept just now; raises `ArtifactMissing`."""
        found: set[str] = set()
        for part in parts:
            data = self.artifacts.get(part)
            if data is None:
                raise ArtifactMissing("Vectors of names that were made just now are missing in the artifact store.")
            found.update(orjson.loads(data.partition(_HASH_ENDS)[0]))
        return FreshVectors(tuple(parts), frozenset(found))

    def read(
        self,
        graph: str,
        merges: GraphMerges,
        names: Sequence[tuple[str, str]],
        fresh: FreshVectors,
        progress: Callable[[], None],
    ) -> Vectors:
        """Give the vectors of entities' names, parallel to (id, hash) pairs, as `GraphMerges.name_vectors` does.

        `fresh` is kept from now on, too; `progress` is called in between.
        """
        rows: dict[str, list[int]] = {}
        for row, (_, text_hash) in enumerate(names):
            if text_hash:
                rows.setdefault(text_hash, []).append(row)
        vectors = np.zeros((len(names), self.dimension), dtype=np.float32)
        known = self.finalizes.name_vectors(graph, self._model)
        parts: list[str] = []
        missing = dict(rows)
        for part in dict.fromkeys([*known, *fresh.parts]):
            hashes, kept = self._load(part)
            parts += [part] if hashes else []
            for place, text_hash in enumerate(hashes):
                if found := missing.pop(text_hash, None):
                    vectors[found] = kept[place]
            progress()
        if missing:
            self._read_anew(merges, names, missing, vectors, progress)
        if len(parts) >= MOST_PARTS:
            parts, missing = [], rows
        # Where the graph has a hash but no vector of our width, there is nothing to keep.
        if new := {text_hash: found[0] for text_hash, found in missing.items() if vectors[found[0]].any()}:
            parts.append(ids.artifact_key("names", (self._model, *new)))
            self._store(parts[-1], list(new), vectors[list(new.values())])
        if parts != known:
            self.finalizes.keep_name_vectors(graph, self._model, parts)
        return vectors

    def _nothing(self) -> Vectors:
        return np.zeros((0, self.dimension), dtype=np.float32)

    @property
    def _model(self) -> str:
        return f"{self.model_id}:{self.dimension}"

    def _read_anew(
        self,
        merges: GraphMerges,
        names: Sequence[tuple[str, str]],
        missing: dict[str, list[int]],
        vectors: Vectors,
        progress: Callable[[], None],
    ) -> None:
        for some in batched(missing.values(), PAGE):
            read = merges.name_vectors([names[found[0]][0] for found in some], self.dimension)
            for found, vector in zip(some, read, strict=True):
                vectors[found] = vector
            progress()

    def _store(self, part: str, hashes: Sequence[str], vectors: Vectors) -> None:
        self.artifacts.put(part, orjson.dumps(hashes) + _HASH_ENDS + vectors.astype("<f4").tobytes())

    def _load(self, part: str) -> tuple[list[str], Vectors]:
        data = self.artifacts.get(part)
        if data is None:
            return [], self._nothing()
        head, _, body = data.partition(_HASH_ENDS)
        hashes: list[str] = orjson.loads(head)
        return hashes, np.frombuffer(body, dtype="<f4").reshape(len(hashes), self.dimension)
