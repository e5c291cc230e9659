"""What is asked of a graph: a question, where to look for its answer, and how much of it to bring."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Strict, TypeAdapter, ValidationError

from pipeline.errors import QueryInvalid

MOST_HOPS = 5
MOST_ITEMS = 100
"""Of a kind."""
SCOPE_PROPERTIES = ("path", "root", "media_type", "table", "page_count", "run_id")
"""Properties of a document that a scope may name."""
SCOPE_OPERATORS = ("=", "in", "starts_with", "<", ">=")
_NUMBERS = frozenset({"page_count"})

type Whole = Annotated[int, Strict()]
"""A whole number, for which neither true nor a text of digits is taken."""


class SearchPath(StrEnum):
    """The ways from a question to evidence."""

    FACTS = "facts"
    """Facts, that is relations as sentences, by meaning; and the passages that state them."""
    EXACT_NAMES = "exact_names"
    """Entities that the question names, and passages that mention them."""
    FUZZY_NAMES = "fuzzy_names"
    """Entities by the words and the meaning of their names and descriptions."""
    LINKS = "links"
    """Relations around the entities found, and passages that the ones found point at."""
    PASSAGES = "passages"
    """Passages by meaning and by words."""
    CYPHER = "cypher"
    """A query that a language model writes; only where it is asked for."""


ALL_PATHS = frozenset(SearchPath) - {SearchPath.CYPHER}


class Rerank(StrEnum):
    """By what the passages found are put in order."""

    FUSED = "fused"
    """By the ranks that all paths give them, that by stored vectors among them."""
    COSINE = "cosine"
    """By their stored vectors alone."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a document's property; raises `QueryInvalid` for what no document can be asked."""

    name: str
    """One of `SCOPE_PROPERTIES`."""
    op: str
    """One of `SCOPE_OPERATORS`."""
    value: str | Whole | tuple[str | Whole, ...]
    """Of the kind that the property is; a tuple for `in`."""

    def __post_init__(self) -> None:
        """Check that it compares something."""
        if self.name not in SCOPE_PROPERTIES:
            raise QueryInvalid(
                f"a scope cannot name {self.name!r}: a document's properties are {', '.join(SCOPE_PROPERTIES)}"
            )
        if self.op not in SCOPE_OPERATORS:
            raise QueryInvalid(f"a scope cannot compare by {self.op!r}: use {', '.join(SCOPE_OPERATORS)}")
        kind = int if self.name in _NUMBERS else str
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        fits = all(isinstance(value, kind) and not isinstance(value, bool) for value in values)
        listed = isinstance(self.value, tuple)
        if listed != (self.op == "in") or not fits or (self.op == "starts_with" and kind is int):
            raise QueryInvalid(
                f"{self.name} {self.op} {self.value!r} compares nothing: {self.name} is "
                f"{'a number' if kind is int else 'text'}, `in` takes a list, and only text starts with something"
            )


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents count; nothing else is read, ranked, or told. Without list and conditions it is all."""

    documents: tuple[str, ...] | None = None
    """Ids; None for all. An empty list holds no document, and nothing is found within it."""
    where: tuple[Condition, ...] = ()
    """All must hold."""

    def __bool__(self) -> bool:
        """Tell whether it leaves anything out."""
        return self.documents is not None or bool(self.where)


WHOLE_GRAPH = Scope()


@dataclass(frozen=True, slots=True)
class Query:
    """One question. Numbers are most items of a kind; the defaults are those of the GraphRAG SDK's tools.

    Raises `QueryInvalid` with what is out of bounds.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    question: str
    paths: frozenset[SearchPath] = ALL_PATHS
    passages: Whole = 15
    entities: Whole = 30
    relations: Whole = 20
    facts: Whole = 15
    """Facts looked at; at most twelve are kept, see `pipeline.retrieve.search`."""
    expand_hops: Whole = 1
    """How far from the entities found relations are followed."""
    rerank: Rerank = Rerank.FUSED
    scope: Scope = field(default=WHOLE_GRAPH)
    sentences: bool = False
    """Whether to pick the sentences that answer best; it takes a third of a second."""

    def __post_init__(self) -> None:
        """Check all bounds."""
        for name, least in (("passages", 1), ("entities", 0), ("relations", 0), ("facts", 0)):
            if not _lies_within(least, getattr(self, name), MOST_ITEMS):
                raise QueryInvalid(f"ask for {least} to {MOST_ITEMS} {name}, not {getattr(self, name)}")
        if not _lies_within(1, self.expand_hops, MOST_HOPS):
            raise QueryInvalid(f"links are followed over 1 to {MOST_HOPS} hops, not {self.expand_hops}")
        if not self.paths:
            raise QueryInvalid(f"name at least one path: {', '.join(SearchPath)}")
        if self.scope and SearchPath.CYPHER in self.paths:
            raise QueryInvalid(
                "a generated query cannot be kept within a scope: leave out the path cypher, or the scope"
            )


_QUERY = TypeAdapter(Query)


def _lies_within(least: int, value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def read_query(options: Mapping[str, Any]) -> Query:
    """Make a query of plain JSON values, as jobs carry them; raises `QueryInvalid` for what it does not know."""
    try:
        return _QUERY.validate_python(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "query"
        raise QueryInvalid(f"{where}: {first['msg']}") from error


def spell_query(query: Query) -> dict[str, Any]:
    """Spell a query as plain JSON values, sets sorted."""
    spelled: dict[str, Any] = _QUERY.dump_python(query, mode="json")
    return {**spelled, "paths": sorted(spelled["paths"])}
