"""What a passage says, and what reading it cost.

Mentions and relations are made by the hundred thousand, so Python does not guard them as it does the others: frozen
ones take four times as long to make, and ones with slots six times as long to encode. Nobody changes them, though.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(unsafe_hash=True)
class Mention:
    """An entity named in a chunk; `start:end` are offsets into the chunk's text.

    One with a `key` is that of a table's row, whatever its name. `properties` is what the row or the chunk tells of
    it, as a JSON object; '' for nothing.
    """

    name: str
    type: str
    start: int
    end: int
    description: str = ""
    score: float = 1.0
    key: str = ""
    properties: str = ""


@dataclass(unsafe_hash=True)
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
