"""Which kinds of entities and relations a graph holds."""

from pipeline.ontology.files import load_ontology
from pipeline.ontology.types import (
    DEFAULT_ONTOLOGY,
    UNKNOWN,
    EntityType,
    Ontology,
    PropertyType,
    RelationType,
    ValueType,
)

__all__ = [
    "DEFAULT_ONTOLOGY",
    "UNKNOWN",
    "EntityType",
    "Ontology",
    "PropertyType",
    "RelationType",
    "ValueType",
    "load_ontology",
]
