"""What a graph tells of itself, for finalize and reports."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pending:
    """Something that finalize has to look at; `mark` changes with every write to it.

    `place` orders the list of what is pending: paging goes on after the last one's.
    """

    id: str
    mark: str
    place: int


@dataclass(frozen=True, slots=True)
class EmbeddingText:
    """What an element's vector is to be made of, and the hash of what its present one was made of."""

    id: str
    text: str
    embedded_hash: str | None


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """What a graph's vectors and artifacts were made with, once and for all."""

    model_id: str
    dimension: int
    store_id: str


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How much a graph holds; documents only where completely written."""

    documents: int
    chunks: int
    entities: int
    relations: int
    mentions: int
    pending: Mapping[str, int]
