"""The values that the stages hand on: documents, chunks, mentions, relations, evidence.

All are frozen. Offsets are code points, half open, and say into what they point.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paginated document: its number from 1, and its span in the document's text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level from 1, its title, and where its line starts in the document's text."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class LoadedText:
    """What a reader makes of a file: clean text (no NUL, no lone surrogate) and its structure."""

    text: str
    media_type: str
    encoding: str | None = None
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is exactly `document.text[start:end]`.

    `occurrence` counts equal passages before this one in the document, `index` all passages.
    """

    index: int
    start: int
    end: int
    text: str
    occurrence: int = 0
    page_first: int | None = None
    page_last: int | None = None
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity named in a chunk; `start:end` are offsets into the chunk's text.

    One with a `key` is that of a table's row, whatever its name; `properties` is JSON, what the row says of it.
    """

    name: str
    type: str
    start: int
    end: int
    description: str = ""
    score: float = 1.0
    key: str = ""
    properties: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation stated in a chunk between two mentioned entities; the span is its evidence."""

    source: str
    source_type: str
    target: str
    target_type: str
    type: str
    description: str
    start: int
    end: int
    source_key: str = ""
    target_key: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a model cost: how many, their tokens, and US dollars (None where a price is unknown)."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Add up; an unknown price makes the sum unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        tokens = (self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)
        return Usage(self.calls + other.calls, *tokens, usd)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk says, grounded; `dropped` counts by reason what could not be kept.

    What the text bears out but the ontology does not declare stands in `undeclared_mentions` and
    `undeclared_relations`, with the types that the extractor gave: candidates for the ontology, which no
    search sees. `usage` is what reading the chunk cost.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    undeclared_mentions: tuple[Mention, ...] = ()
    undeclared_relations: tuple[Relation, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Document:
    """A document ready to be written: identity, place, hashes, passages and what they say.

    `extractions` runs parallel to `chunks`.
    """

    id: str
    path: str
    content_hash: str
    source_hash: str
    fingerprint: str
    media_type: str = ""
    chunks: tuple[Chunk, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    page_count: int = 0
    run_id: str = ""
    root: str = ""
    """The folder that `path` is relative to, as the run names it; '' for text that is no file."""
    table: str = ""
    """How its rows are read where it is a table, so that it is read so again (`pipeline.tables.TableOrder`)."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What the graph remembers of a completely written document, with the run that wrote it."""

    id: str
    content_hash: str
    source_hash: str
    fingerprint: str
    run_id: str = ""
    clearing: bool = False
    """Whether its past version is not all gone yet."""
    replaced: bool = False
    """Whether its run found an earlier version."""
    table: str = ""
    """How its rows were read; '' where it is no table."""
    root: str = ""
    """The folder that its file was named from."""


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A completely written document and where it is from; text that is no file has no root."""

    id: str
    path: str
    root: str
    source_hash: str
    fingerprint: str
    """Of what it was made with."""
    table: str
    """How its rows were read; '' where it is no table."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Something that finalize has to look at; `mark` changes with every write to it.

    `place` orders the list of what is pending: paging goes on after the last one's.
    """

    id: str
    mark: str
    place: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that may be merged; `degree` counts its relations and mentions."""

    id: str
    label: str
    name: str
    degree: int = 0
    description: str = ""


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


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What a collection of unused artifacts removed, or would remove, and what it kept."""

    removed: int
    removed_bytes: int
    kept: int
    kept_bytes: int
    drafts: int
    """Files that crashed writers left unfinished."""
    folders: int
