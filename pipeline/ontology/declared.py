"""The types that an ontology declares: kinds of entities with their properties, and kinds of relations."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator

from pipeline.ontology.labels import check_label, check_property_name

type ItemPath = tuple[str | int, ...]
"""Where something stands in an ontology: keys and positions from the top."""


class _DeclaredType(BaseModel):
    """What entity and relation types share: a checked label, and a description for extractors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    description: str = ""

    @field_validator("label")
    @classmethod
    def _label_is_allowed(cls, value: str) -> str:
        return check_label(value)


class ValueType(StrEnum):
    """What kind of value a property has."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    BOOLEAN = "BOOLEAN"
    DATE = "DATE"
    LIST = "LIST"

    @classmethod
    def _missing_(cls, value: object) -> "ValueType | None":
        """Read a type in any case."""
        return cls.__members__.get(value.strip().upper()) if isinstance(value, str) else None


class PropertyType(BaseModel):
    """A property that entities of a type may have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: ValueType = ValueType.STRING
    description: str = ""

    @field_validator("name")
    @classmethod
    def _name_is_allowed(cls, value: str) -> str:
        return check_property_name(value)


class EntityType(_DeclaredType):
    """A kind of entity; synonyms are other words for it, as `company` for Organization.

    Entities bear the labels of its `parents`, too, and may have the properties of all. A parent that is no declared
    type is an extra label and no more.
    """

    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    properties: tuple[PropertyType, ...] = ()

    @field_validator("parents")
    @classmethod
    def _parents_are_allowed(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_label(parent) for parent in value)


class RelationType(_DeclaredType):
    """A kind of relation; patterns are its (source, target) labels, and none allow any pair."""

    patterns: tuple[tuple[str, str], ...] = ()


class DeclaredTypes(BaseModel):
    """Types as they are declared: perhaps a part of an ontology only, whose patterns name types of another part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity_types: tuple[EntityType, ...] = ()
    relation_types: tuple[RelationType, ...] = ()


def spell_pattern(label: str, source: str, target: str) -> str:
    """Spell a pattern as the commands read it."""
    return f"{label}:{source}->{target}"
