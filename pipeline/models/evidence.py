"""What answers a question, as retrieved."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved item that an answer may cite.

    `kind` is `passage`, `fact` or `entity`; `score` a similarity, larger is better; `start` and
    `end` are offsets into the source document's text where the item is a passage.
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


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer to a question: evidence by rank, and why it may be incomplete (empty: it is not)."""

    evidence: tuple[Evidence, ...]
    incomplete: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that answers a question, and the passages that state it."""

    evidence: Evidence
    passage_ids: tuple[str, ...]


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
