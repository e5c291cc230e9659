"""What the stages need from outside, as protocols; `pipeline.adapters` implements them."""

from pipeline.ports.graph import GraphCurator, GraphInspector, GraphReviser, GraphWriter, Progress
from pipeline.ports.models import (
    ArtifactStore,
    CallingExtractor,
    ChatAnswer,
    ChatModel,
    ChatRequest,
    DocumentReader,
    Embedder,
    Extractor,
    Vectors,
)
from pipeline.ports.ontologies import CandidateState, CandidateStore, OntologyStore, StoredOntology, TypeCandidate
from pipeline.ports.reading import GraphReader

__all__ = [
    "ArtifactStore",
    "CallingExtractor",
    "CandidateState",
    "CandidateStore",
    "ChatAnswer",
    "ChatModel",
    "ChatRequest",
    "DocumentReader",
    "Embedder",
    "Extractor",
    "GraphCurator",
    "GraphInspector",
    "GraphReader",
    "GraphReviser",
    "GraphWriter",
    "OntologyStore",
    "Progress",
    "StoredOntology",
    "TypeCandidate",
    "Vectors",
]
