"""A graph that a test fills by hand, and a reader of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.adapters.falkor import FalkorCurator, FalkorReader, FalkorWriter
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.ids import chunk_id, content_hash
from pipeline.models import Chunk, Document, Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.ports import GraphReader, Vectors

EPOCH = 1
DIMENSION = 3
EAST, NORTH, UP = (np.eye(DIMENSION, dtype=np.float32)[i] for i in range(DIMENSION))
NORTHEAST = ((EAST + NORTH) / np.linalg.norm(EAST + NORTH)).astype(np.float32)


@dataclass
class Store:
    """A graph that a test fills, and a reader of it."""

    graph: FalkorGraph

    def __post_init__(self) -> None:
        self.writer, self.curator = FalkorWriter(self.graph), FalkorCurator(self.graph)
        self.reader: GraphReader = FalkorReader(self.graph)

    def write(self, *documents: Document) -> None:
        self.writer.prepare(DEFAULT_ONTOLOGY)
        self.writer.write(documents, EPOCH, lambda: None)

    def embed(self, kind: str, vectors: Mapping[str, Vectors]) -> None:
        self.curator.set_vectors(kind, [(identity, "hash", vector) for identity, vector in vectors.items()], EPOCH)

    def finish(self) -> None:
        self.writer.build_search_indexes(DIMENSION, lambda: None)
        for kind in ("chunk", "entity", "relation"):
            self.curator.clear_pending(self.curator.pending(kind, -1, 1000), EPOCH)

    def unstamp(self, path: str) -> None:
        """Make a document as if its write had been cut off before the end."""
        self.graph.query("MATCH (d:Document {id: $id}) SET d.content_hash = NULL RETURN 1", id=path)


def make_document(
    path: str, *texts: str, names: Sequence[tuple[str, str]] = (), relations: Sequence[Relation] = ()
) -> Document:
    """Make a document of passages that lie one character apart; names are mentioned where they stand."""
    chunks, extractions, start = [], [], 0
    for index, text in enumerate(texts):
        chunks.append(
            Chunk(index, start, start + len(text), text, page_first=index + 1, heading_path=("Top", f"H{index}"))
        )
        mentions = [
            Mention(name, label, text.index(name), text.index(name) + len(name), description=text)
            for name, label in names
            if name in text
        ]
        known = {mention.name for mention in mentions}
        stated = tuple(relation for relation in relations if {relation.source, relation.target} <= known)
        extractions.append(Extraction(tuple(mentions), stated))
        start += len(text) + 1
    digest = content_hash("\n".join(texts))
    return Document(path, path, digest, digest, "print", "text/plain", tuple(chunks), tuple(extractions))


def founded(source: str, target: str, start: int = 0, end: int = 0) -> Relation:
    return Relation(source, "Person", target, "Organization", "FOUNDED", f"{source} founded {target}.", start, end)


def id_of(path: str, text: str) -> str:
    """Give the id of the first passage with a text."""
    return chunk_id(path, text, 0)
