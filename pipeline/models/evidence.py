"""What answers a question, as retrieved."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved item that an answer may cite.

    `kind` is `passage`, `fact`, `relation`, `entity` or `row`; `score` a similarity, larger is better; `start` and
    `end` are offsets into the source document's text where it stands: of a passage, a fact's sentence, a mention.
    """

    kind: str
    id: str
    text: str
    score: float
    source: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None
    heading: str = ""
    paths: tuple[str, ...] = ()
    document: str = ""
    """The id of the document that says it; empty for a row."""
    version: str = ""
    """The content hash of that document when this was read."""
    passage: str = ""
    """The id of the passage where it stands; a passage's own."""
    hop: int = 0
    """Of a relation: how far from the entities found, from 1."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer to a question: evidence by rank, and why it may be incomplete (empty: it is not)."""

    evidence: tuple[Evidence, ...]
    incomplete: tuple[str, ...] = ()
    hint: str = ""
    """What kind of answer the question wants, see `pipeline.retrieve.kinds`; empty where it does not say."""
    cypher: str = ""
    """The query that a language model wrote and that was run, where one was."""


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that answers a question, and the passages that state it."""

    evidence: Evidence
    passage_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation of an entity, in the direction in which it is stated."""

    evidence: Evidence
    """`hop` is 0 until somebody who counts sets it."""
    source: str
    target: str
    """Ids of the entities."""


class PassageStatus(StrEnum):
    """What has become of a passage."""

    CURRENT = "current"
    """It stands in a document as it is now."""
    SUPERSEDED = "superseded"
    """A later version of its document has replaced it; it is kept for a while."""
    GONE = "gone"
    """It was deleted, kept long enough, or never there: it has no text."""


@dataclass(frozen=True, slots=True)
class ExactPassage:
    """The stored text of a passage with its place, whatever has become of its document."""

    id: str
    status: PassageStatus
    text: str = ""
    source: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None
    heading: str = ""
    document: str = ""
    version: str = ""
    index: int = 0
    """Its position in the document, from 0."""
    replaced_at: int = 0
    """When it was superseded: milliseconds since 1970 by the graph server's clock."""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A passage that holds some of the words asked for, each in this or another inflection."""

    id: str
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Passages that hold words; `total` counts all passages, `frequencies` those that hold a word."""

    total: int
    frequencies: Mapping[str, int]
    found: tuple[WordMatch, ...]
