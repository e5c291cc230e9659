"""The values that the stages hand on: documents, chunks, mentions, relations, evidence.

None is changed once it is made, and most are frozen. Offsets are code points, half open, and say into what they point.
"""

from pipeline.models.documents import Document, PlacedDocument, StoredDocument
from pipeline.models.evidence import (
    Evidence,
    ExactPassage,
    FoundFact,
    FoundRelation,
    PassageStatus,
    Retrieval,
    WordMatch,
    WordMatches,
)
from pipeline.models.extraction import Extraction, Mention, Relation, Usage
from pipeline.models.garbage import GarbageReport
from pipeline.models.graph import EmbeddingText, GraphCounts, GraphRecord, Pending
from pipeline.models.query import ALL_PATHS, WHOLE_GRAPH, Condition, Query, Rerank, Scope, SearchPath
from pipeline.models.texts import Chunk, Heading, LoadedText, Page

__all__ = [
    "ALL_PATHS",
    "WHOLE_GRAPH",
    "Chunk",
    "Condition",
    "Document",
    "EmbeddingText",
    "Evidence",
    "ExactPassage",
    "Extraction",
    "FoundFact",
    "FoundRelation",
    "GarbageReport",
    "GraphCounts",
    "GraphRecord",
    "Heading",
    "LoadedText",
    "Mention",
    "Page",
    "PassageStatus",
    "Pending",
    "PlacedDocument",
    "Query",
    "Relation",
    "Rerank",
    "Retrieval",
    "Scope",
    "SearchPath",
    "StoredDocument",
    "Usage",
    "WordMatch",
    "WordMatches",
]
