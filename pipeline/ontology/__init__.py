"""Which kinds of entities and relations a graph holds."""

from pipeline.ontology.classes import ontology_of
from pipeline.ontology.declared import DeclaredTypes, EntityType, PropertyType, RelationType, ValueType, spell_pattern
from pipeline.ontology.default import DEFAULT_ONTOLOGY
from pipeline.ontology.evolution import OntologyDiff, diff, extend
from pipeline.ontology.files import load_addition, load_ontology
from pipeline.ontology.presets import preset, preset_names
from pipeline.ontology.sources import is_preset, read_addition, read_source
from pipeline.ontology.types import UNKNOWN, Ontology

__all__ = [
    "DEFAULT_ONTOLOGY",
    "UNKNOWN",
    "DeclaredTypes",
    "EntityType",
    "Ontology",
    "OntologyDiff",
    "PropertyType",
    "RelationType",
    "ValueType",
    "diff",
    "extend",
    "is_preset",
    "load_addition",
    "load_ontology",
    "ontology_of",
    "preset",
    "preset_names",
    "read_addition",
    "read_source",
    "spell_pattern",
]
