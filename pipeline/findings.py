"""What inspections of a graph and of the artifact folder find."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class KindFingerprint:
    """All elements of one kind in a graph, as their number and one hash (64 hex digits) over them."""

    kind: str
    count: int
    hash: str


@dataclass(frozen=True, slots=True)
class GraphFingerprint:
    """What a graph says, as one hash of 32 hex digits over those of its kinds; `pending` elements may still change."""

    graph: str
    hash: str
    kinds: tuple[KindFingerprint, ...]
    pending: int


class FaultCode(StrEnum):
    """What may be wrong with a graph, or between it and the ledger, as a closed set that reports rely on."""

    DOCUMENT_LOST = "document_lost"
    """The newest outcome of a file says that the graph holds it; it does not, or only half."""
    DOCUMENT_UNSTAMPED = "document_unstamped"
    """Half written, and nothing is at work on it."""
    CHUNK_WITHOUT_DOCUMENT = "chunk_without_document"
    ENTITY_WITHOUT_MENTION = "entity_without_mention"
    RELATION_WITHOUT_SUPPORT = "relation_without_support"
    SUPPORT_WITHOUT_RELATION = "support_without_relation"
    SOURCE_CHUNKS_DIFFER = "source_chunks_differ"
    """`source_chunk_ids` of a relation are not the chunks of its supports."""
    DUPLICATE_NODE = "duplicate_node"
    DUPLICATE_RELATION = "duplicate_relation"
    MERGED_CYCLE = "merged_cycle"
    """Merged into something that was, in the end, merged into itself."""
    MERGED_ID_LIVES = "merged_id_lives"
    """Merged away, but there is an entity of that id."""
    VECTOR_MISSING = "vector_missing"
    PENDING_LEFT = "pending_left"
    """Finalize has yet to look at something, but no run and no finalize goes on."""
    INDEX_NOT_READY = "index_not_ready"
    CONSTRAINT_NOT_READY = "constraint_not_ready"
    FENCE_MISSING = "fence_missing"
    RUN_COUNTS_DIFFER = "run_counts_differ"
    """What a run counts of its files is not what is recorded for them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where."""

    code: FaultCode
    element: str
