"""Writes an ontology as a JSON Schema of the entities and relations that it allows."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from pipeline.ontology.declared import EntityType, PropertyType, RelationType, ValueType
from pipeline.ontology.types import Ontology

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_VALUES: dict[ValueType, dict[str, Any]] = {
    ValueType.STRING: {"type": "string"},
    ValueType.INTEGER: {"type": "integer"},
    ValueType.FLOAT: {"type": "number"},
    ValueType.BOOLEAN: {"type": "boolean"},
    ValueType.DATE: {"type": "string", "pattern": r"^\d{4}(-\d{2}(-\d{2})?)?$"},
    ValueType.LIST: {"type": "array", "items": {"type": "string"}},
}


def spell_json_schema(ontology: Ontology) -> str:
    """Write the schema of an object with `entities` and `relations`, a definition for each type."""
    entities = {f"entity.{declared.label}": _entity(declared, ontology) for declared in ontology.entity_types}
    relations = {f"relation.{declared.label}": _relation(declared, ontology) for declared in ontology.relation_types}
    if not relations:
        relations = {"relation": _ends({"type": _TEXT}, "A relation of any type.", ontology)}
    schema = {
        "$schema": _DIALECT,
        "title": "Entities and relations",
        "type": "object",
        "properties": {"entities": _list_of(entities), "relations": _list_of(relations)},
        "additionalProperties": False,
        "$defs": entities | relations,
    }
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _list_of(names: Iterable[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{quote(name)}"} for name in names]}}


def _entity(declared: EntityType, ontology: Ontology) -> dict[str, Any]:
    properties = {one.name: _property(one) for one in ontology.properties_of(declared.label)}
    return {
        "title": declared.label,
        **_described(declared.description),
        "type": "object",
        "properties": {
            "type": {"const": declared.label},
            "name": _TEXT,
            "description": {"type": "string"},
            "properties": {"type": "object", "properties": properties, "additionalProperties": False},
        },
        "required": ["type", "name"],
        "additionalProperties": False,
    }


def _property(declared: PropertyType) -> dict[str, Any]:
    return {**_VALUES[declared.type], **_described(declared.description)}


def _relation(declared: RelationType, ontology: Ontology) -> dict[str, Any]:
    schema = _ends({"type": {"const": declared.label}}, declared.description, ontology)
    if declared.patterns:
        pairs = [(_and_below(source, ontology), _and_below(target, ontology)) for source, target in declared.patterns]
        schema["anyOf"] = [
            {"properties": {"source_type": {"enum": sources}, "target_type": {"enum": targets}}}
            for sources, targets in pairs
        ]
    return {"title": declared.label, **schema}


def _ends(kind: dict[str, Any], description: str, ontology: Ontology) -> dict[str, Any]:
    labels = {"enum": list(ontology.labels)}
    return {
        **_described(description),
        "type": "object",
        "properties": {
            **kind,
            "source": _TEXT,
            "source_type": labels,
            "target": _TEXT,
            "target_type": labels,
            "description": {"type": "string"},
        },
        "required": ["type", "source", "source_type", "target", "target_type"],
        "additionalProperties": False,
    }


def _and_below(label: str, ontology: Ontology) -> list[str]:
    """List a type and its subtypes: a pattern means all of them."""
    own = ontology.resolve_label(label)
    below = (one.label for one in ontology.entity_types if own in ontology.ancestors(one.label))
    return [own, *below]


def _described(description: str) -> dict[str, str]:
    return {"description": description} if description else {}
