"""The rows that a graph stores of documents, each thing once.

Those of what is said are made by the hundred thousand; frozen ones take several times as long to make.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.models import Chunk


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A passage of a document; offsets into the document's text."""

    document_id: str
    id: str
    chunk: Chunk


@dataclass(slots=True)
class MentionRow:
    """All places of one chunk that name one entity; `spans` (offsets into its text) and `properties` are JSON."""

    chunk_id: str
    as_id: str
    name: str
    description: str
    spans: str
    properties: str = ""


@dataclass(slots=True)
class EntityRow:
    """An entity under the id it has been merged into, and mentions of it, best described first."""

    id: str
    label: str
    name: str
    canonical_key: str
    mentions: tuple[MentionRow, ...]


@dataclass(slots=True)
class SupportRow:
    """A chunk that states a relation, between the entities as they were extracted."""

    chunk_id: str
    source_as_id: str
    target_as_id: str
    start: int
    end: int
    description: str


@dataclass(slots=True)
class RelationRow:
    """A relation between two entities, and chunks that state it, best described first.

    Where both ends have been merged into one (`is_loop`), only the supports are kept, for an undo.
    """

    source: str
    rel_type: str
    target: str
    source_name: str
    target_name: str
    supports: tuple[SupportRow, ...]

    @property
    def is_loop(self) -> bool:
        """True where merges have made both ends one entity."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class FindRow:
    """How often a chunk says something that the ontology does not declare, and a few short examples."""

    chunk_id: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A type that the ontology does not declare, or a relation's pattern, and chunks where it was found.

    `kind` is `entity` or `relation`; `source` and `target` are labels, of a relation only.
    """

    id: str
    kind: str
    type: str
    source: str
    target: str
    finds: tuple[FindRow, ...]


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How much of a document a graph holds."""

    chunks: int = 0
    mentions: int = 0
    supports: int = 0

    def covers(self, wanted: "StoredCounts") -> bool:
        """Tell whether nothing of `wanted` is missing."""
        return self.chunks >= wanted.chunks and self.mentions >= wanted.mentions and self.supports >= wanted.supports


@dataclass(frozen=True, slots=True)
class GraphRows:
    """All rows of some documents, each thing once, and how much of each document there must be.

    `more_mentions` repeats entities whose mentions do not fit into one row. `labels` are more labels that the
    entities of a label bear.
    """

    chunks: tuple[ChunkRow, ...]
    neighbours: tuple[tuple[str, str], ...]
    entities: tuple[EntityRow, ...]
    more_mentions: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]
    candidates: tuple[CandidateRow, ...]
    labels: Mapping[str, tuple[str, ...]]
    expected: Mapping[str, StoredCounts]
