"""Entity and relation types, and which of them may be combined."""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from pipeline.ids import fingerprint

UNKNOWN = "Unknown"
"""The label of entities that no declared type fits."""

type ItemPath = tuple[str | int, ...]
"""Where something stands in an ontology: keys and positions from the top."""

_RESERVED = frozenset({"chunk", "document", "unknown"})
_SEPARATORS = re.compile(r"[\s_-]+")
_INTERNAL = re.compile(r"__.*__")


# An extractor's words for types are few, and every mention has one.
@lru_cache(maxsize=10_000)
def fold_label(raw: str) -> str:
    """Fold a label for comparison: case, white space, ``_`` and ``-`` do not tell labels apart."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", raw).casefold())


def _check_label(raw: str) -> str:
    """Give the label in NFC; raises ValueError by the rules of the GraphRAG SDK's `set_ontology`."""
    label = unicodedata.normalize("NFC", raw.strip())
    # Letters of many scripts carry combining marks (category M), so these count as letters.
    bad = sorted({c for c in label if not (c.isalnum() or c in " -_" or unicodedata.category(c)[0] == "M")})
    if bad:
        shown = " ".join(repr(c) for c in bad)
        raise ValueError(f"label {label!r} holds {shown}; letters, digits, spaces, - and _ are allowed")
    if _INTERNAL.fullmatch(label):
        raise ValueError(f"label {label!r} is of the form __X__, which is kept for internal nodes")
    folded = fold_label(label)
    if not folded:
        raise ValueError(f"label {label!r} has no letter or digit")
    if folded in _RESERVED:
        raise ValueError(f"label {label!r} is reserved")
    return label


class _DeclaredType(BaseModel):
    """What entity and relation types share: a checked label, and a description for extractors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    description: str = ""

    @field_validator("label")
    @classmethod
    def _label_is_allowed(cls, value: str) -> str:
        return _check_label(value)


class ValueType(StrEnum):
    """What kind of value a property has."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    BOOLEAN = "BOOLEAN"
    DATE = "DATE"
    LIST = "LIST"


class PropertyType(BaseModel):
    """A property that entities of a type may have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: ValueType = ValueType.STRING
    description: str = ""


class EntityType(_DeclaredType):
    """A kind of entity; synonyms are other words for it, as `company` for Organization.

    Entities bear the labels of its `parents`, too, and may have the properties of all.
    """

    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    properties: tuple[PropertyType, ...] = ()


class RelationType(_DeclaredType):
    """A kind of relation; patterns are its (source, target) labels, and none allow any pair."""

    patterns: tuple[tuple[str, str], ...] = ()


class Ontology(BaseModel):
    """The declared types of a graph; without relation types, relations are open.

    Raises `pydantic.ValidationError` where no entity type is declared, a word means two types,
    or a pattern names an undeclared type.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity_types: tuple[EntityType, ...]
    relation_types: tuple[RelationType, ...] = ()

    @model_validator(mode="after")
    def _types_agree(self) -> "Ontology":
        problems = find_conflicts(self.entity_types, self.relation_types)
        if messages := [message for _, message in problems]:
            raise ValueError("; ".join(messages))
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The declared entity labels, in order, then `Unknown`."""
        return (*(declared.label for declared in self.entity_types), UNKNOWN)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with any declared word: extractors may read all of them."""
        return fingerprint((json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False),))

    def resolve_label(self, raw: str) -> str:
        """Find the declared label that an extractor's word means, else `Unknown`."""
        return self._labels_by_word.get(fold_label(raw), UNKNOWN)

    def resolve_relation(self, raw: str) -> str | None:
        """Find the declared relation label that an extractor's word means, if any."""
        declared = self._relations_by_word.get(fold_label(raw))
        return declared.label if declared else None

    def allows(self, rel_type: str, source_label: str, target_label: str) -> bool:
        """Tell whether a relation fits: open, or declared and between a declared pair of types."""
        if not self.relation_types:
            return True
        declared = self._relations_by_word.get(fold_label(rel_type))
        if declared is None:
            return False
        pair = (self.resolve_label(source_label), self.resolve_label(target_label))
        patterns = ((self.resolve_label(source), self.resolve_label(target)) for source, target in declared.patterns)
        return not declared.patterns or pair in patterns

    @cached_property
    def _labels_by_word(self) -> dict[str, str]:
        words = {fold_label(word): declared.label for declared in self.entity_types for word in declared.synonyms}
        return words | {fold_label(declared.label): declared.label for declared in self.entity_types}

    @cached_property
    def _relations_by_word(self) -> dict[str, RelationType]:
        return {fold_label(declared.label): declared for declared in self.relation_types}


def find_conflicts(
    entity_types: Sequence[EntityType], relation_types: Sequence[RelationType]
) -> Iterator[tuple[ItemPath, str]]:
    """Find what no type shows alone: words that mean two types, patterns that name none.

    Yields the place and the message of each conflict.
    """
    if not entity_types:
        yield ("entity_types",), "declare at least one entity type"
    yield from _repeated_labels("entity_types", entity_types)
    yield from _repeated_labels("relation_types", relation_types)
    meanings = {fold_label(entity.label): entity.label for entity in entity_types}
    known = frozenset(meanings)
    for position, entity in enumerate(entity_types):
        for nth, synonym in enumerate(entity.synonyms):
            place: ItemPath = ("entity_types", position, "synonyms", nth)
            if not (word := fold_label(synonym)):
                yield place, f"synonym {synonym!r} of {entity.label!r} has no letter or digit"
            elif (owner := meanings.setdefault(word, entity.label)) != entity.label:
                yield place, f"synonym {synonym!r} of {entity.label!r} already means {owner!r}"
    for position, relation in enumerate(relation_types):
        for nth, pattern in enumerate(relation.patterns):
            for end in pattern:
                if fold_label(end) not in known:
                    yield (
                        ("relation_types", position, "patterns", nth),
                        f"pattern of {relation.label!r} names {end!r}, which is no declared entity label",
                    )


def _repeated_labels(section: str, declared: Sequence[_DeclaredType]) -> Iterator[tuple[ItemPath, str]]:
    """Find labels that differ from an earlier one in nothing that counts."""
    seen: dict[str, str] = {}
    for position, item in enumerate(declared):
        word = fold_label(item.label)
        if word and word in seen:
            yield (section, position, "label"), f"label {item.label!r} repeats {seen[word]!r}"
        seen.setdefault(word, item.label)


# The open-domain types of the GraphRAG SDK; the descriptions and synonyms are ours.
DEFAULT_ONTOLOGY = Ontology(
    entity_types=(
        EntityType(label="Person", description="A human being, real or fictional.", synonyms=("people", "human")),
        EntityType(
            label="Organization",
            description="A company, institution, agency, party, team, band or other group with a name.",
            synonyms=("organisation", "company", "institution", "agency"),
        ),
        EntityType(label="Technology", description="A technology, programming language, system or standard."),
        EntityType(
            label="Product",
            description="Something made: a device, vehicle, software product, book, film, song or other work.",
            synonyms=("artifact", "work of art"),
        ),
        EntityType(
            label="Location",
            description="A country, city, region, landscape, building or other place.",
            synonyms=("place", "geopolitical entity"),
        ),
        EntityType(label="Date", description="A day, month, year or period."),
        EntityType(label="Event", description="A named happening: a battle, award, conference, season, disaster."),
        EntityType(label="Concept", description="A named idea, field, language, belief, nationality or people."),
        EntityType(label="Law", description="A law, treaty, court case or regulation.", synonyms=("regulation",)),
        EntityType(label="Dataset", description="A named collection of data.", synonyms=("corpus",)),
        EntityType(label="Method", description="A named method, algorithm, procedure or protocol."),
    )
)
