"""What retrieval needs of one graph: searches, links, exact passages. Nothing here writes."""

from collections.abc import Sequence
from typing import Any, Protocol

from pipeline.models import Evidence, ExactPassage, FoundFact, FoundRelation, GraphRecord, Scope, WordMatches
from pipeline.ports.models import Vectors

MOST_AROUND = 50
"""Passages that are listed around one."""


class GraphReader(Protocol):
    """Reads one graph for retrieval, never writing.

    Documents that are not completely written, and what only they say, are left out, but not by `run`; so is, where a
    scope is given, what only documents out of it say, with its text. Where an index is missing or being built, a
    search finds nothing, and `gaps` says so. Vectors are of shape (dimension,) and unit length; similarities are
    cosines; ties go by id.

    All raise `GraphMissing`, `GraphUnavailable` and, for a query that takes too long, its subclass `GraphTimeout`.
    """

    def gaps(self) -> list[str]:
        """Say why searches may miss what the graph holds, in sentences; empty where they do not."""

    def record(self) -> GraphRecord | None:
        """Read what the graph's vectors were made with; None where nothing is written down."""

    def has_documents(self, scope: Scope) -> bool:
        """Tell whether a document is in a scope."""

    def nearest_passages(self, vector: Vectors, k: int, scope: Scope) -> list[str]:
        """Find ids of passages by similarity; within a scope all of them are compared, exactly."""

    def match_passages(self, words: Sequence[str], k: int, scope: Scope) -> WordMatches:
        """Find the k passages that hold most of the words, rare words counting more."""

    def nearest_facts(self, vector: Vectors, k: int, scope: Scope) -> list[FoundFact]:
        """Find facts by similarity of their text, with the place where the first passage states each."""

    def nearest_entities(self, vector: Vectors, k: int, scope: Scope) -> list[str]:
        """Find ids of entities by similarity of their names."""

    def match_entities(self, words: Sequence[str], k: int, scope: Scope) -> list[str]:
        """Find ids of the entities whose names hold most of the words, rare words counting more."""

    def entities_named(self, keys: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Find ids of entities by canonical key; keys that name nothing are left out."""

    def passages_naming(self, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[str]:
        """Find ids of passages that mention an entity: those that open with it first, then by similarity."""

    def linked_passages(self, passage_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[str]:
        """Find ids of passages that open with an entity which one of the given others mentions, by similarity."""

    def relations_of(self, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[FoundRelation]:
        """Find relations that begin or end at entities, by similarity of their facts; each once."""

    def siblings(self, entity_ids: Sequence[str], k: int, scope: Scope) -> list[str]:
        """Find ids of entities related to one that at least two of the given are related to; by name, then id."""

    def passages(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        """Load passages in the order of their ids; the score is the similarity."""

    def entities(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        """Load entities in the order of their ids, with the place of the mention that describes each."""

    def exact(self, ids: Sequence[str]) -> list[ExactPassage]:
        """Load passages as they are stored, superseded ones too, parallel to `ids`."""

    def around(self, identity: str, reach: int) -> list[ExactPassage]:
        """List the passages of a current passage's document that stand near it or under its heading, in order.

        Near are up to `reach` before and behind it; it is among them. At most `MOST_AROUND`.
        Empty where it is not current.
        """

    def vocabulary(self) -> tuple[list[str], list[str]]:
        """List the labels of entities, and the types of their relations, for whoever writes a query.

        Types that a minute ago were none may be missing.
        """

    def run(self, cypher: str, timeout_ms: int) -> tuple[list[str], list[list[Any]]]:
        """Run a query that was checked, read-only; gives names of columns, and rows of plain values.

        Nodes and edges become mappings of their properties, without vectors. The query sees all that is stored, what
        a document that is being written says too. Raises `GraphRejected` where the engine refuses it.
        """
