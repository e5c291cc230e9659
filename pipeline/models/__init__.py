"""The values that the stages hand on: documents, chunks, mentions, relations, evidence.

All are frozen. Offsets are code points, half open, and say into what they point.
"""

from pipeline.models.documents import Document, PlacedDocument, StoredDocument
from pipeline.models.evidence import Evidence, FoundFact, Retrieval, WordMatch, WordMatches
from pipeline.models.extraction import Extraction, Mention, Relation, Usage
from pipeline.models.garbage import GarbageReport
from pipeline.models.graph import EmbeddingText, GraphCounts, GraphRecord, Pending
from pipeline.models.texts import Chunk, Heading, LoadedText, Page

__all__ = [
    "Chunk",
    "Document",
    "EmbeddingText",
    "Evidence",
    "Extraction",
    "FoundFact",
    "GarbageReport",
    "GraphCounts",
    "GraphRecord",
    "Heading",
    "LoadedText",
    "Mention",
    "Page",
    "Pending",
    "PlacedDocument",
    "Relation",
    "Retrieval",
    "StoredDocument",
    "Usage",
    "WordMatch",
    "WordMatches",
]
