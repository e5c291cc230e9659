"""Writes an ontology in the formats of other programs; the same ontology always gives the same text."""

import json
from collections.abc import Callable

from pipeline.ontology.exports.json_schema import spell_json_schema
from pipeline.ontology.exports.plain import spell_json, spell_yaml
from pipeline.ontology.exports.shacl import spell_shacl
from pipeline.ontology.exports.vocabulary import describe_jsonld, spell_owl
from pipeline.ontology.types import Ontology

FORMATS: dict[str, Callable[[Ontology], str]] = {
    "yaml": spell_yaml,
    "json": spell_json,
    "json-schema": spell_json_schema,
    "json-ld": lambda ontology: json.dumps(describe_jsonld(ontology), ensure_ascii=False, indent=2) + "\n",
    "shacl": spell_shacl,
    "owl": spell_owl,
}
"""How each format is written. yaml, json and owl (Turtle) can be read back."""
