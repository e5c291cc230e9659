"""JSON Schema of the answers of a language model, made of an ontology.

It keeps to what services take that hold models to a schema: every property required, null for what is absent,
nothing additional. Types with attributes have a shape of their own, so that no answer lists what its type lacks;
so has what no declared type fits, with a word of the model's own for its type.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.llm.suggested import other_relation
from pipeline.ontology import UNKNOWN, Ontology, PropertyType, ValueType

_TEXT = {"type": "string"}
_SUGGESTED = {"suggested_type": _TEXT}
_TYPES: Mapping[ValueType, str] = {
    ValueType.STRING: "string",
    ValueType.INTEGER: "integer",
    ValueType.FLOAT: "number",
    ValueType.BOOLEAN: "boolean",
    ValueType.DATE: "string",
    ValueType.LIST: "array",
}


def answer_schema(ontology: Ontology, *, relates: bool) -> dict[str, Any]:
    """Give the schema of an answer with entities and relationships, or of one that finds entities only."""
    if not relates:
        named = {"name": _TEXT, "type": {"type": "string", "enum": list(ontology.labels)}}
        return _object({"entities": _array(_object({**named, "confidence": {"type": "number"}}))})
    return _object({"entities": _array(_entity(ontology)), "relationships": _array(_relation(ontology))})


def _entity(ontology: Ontology) -> dict[str, Any]:
    properties = {declared.label: ontology.properties_of(declared.label) for declared in ontology.entity_types}
    plain = [label for label, declared in properties.items() if not declared]
    shapes = [{"name": _TEXT, **_type(plain), "description": _TEXT}] if plain else []
    shapes += [
        {"name": _TEXT, **_type([label]), "description": _TEXT, "attributes": _attributes(declared)}
        for label, declared in properties.items()
        if declared
    ]
    shapes.append({"name": _TEXT, **_type([UNKNOWN]), **_SUGGESTED, "description": _TEXT})
    return {"anyOf": [_object(shape) for shape in shapes]}


def _relation(ontology: Ontology) -> dict[str, Any]:
    types = [_type([declared.label for declared in ontology.relation_types])]
    if other := other_relation(ontology):
        types.append({**_type([other]), **_SUGGESTED})
    ends = {"source": _TEXT, "target": _TEXT}
    shapes = [_object({**ends, **one, "description": _TEXT, "quote": _TEXT}) for one in types]
    return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}


def _type(labels: Sequence[str]) -> dict[str, Any]:
    """Give the property `type`: one of the labels, or any where there are none."""
    return {"type": {"type": "string", "enum": list(labels)} if labels else _TEXT}


def _attributes(declared: Sequence[PropertyType]) -> dict[str, Any]:
    return _object({one.name: _value(one) for one in declared})


def _value(declared: PropertyType) -> dict[str, Any]:
    value: dict[str, Any] = {"type": [_TYPES[declared.type], "null"]}
    return value | {"items": _TEXT} if declared.type is ValueType.LIST else value


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False
    }  # fmt: skip
