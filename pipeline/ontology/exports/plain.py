"""Writes an ontology as the YAML or JSON file that it could have been read from."""

import json
import re
from typing import Any

import yaml

from pipeline.ontology.declared import DeclaredTypes, EntityType, PropertyType, RelationType

_WIDTH = 120
_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")


def as_mapping(ontology: DeclaredTypes) -> dict[str, Any]:
    """Give an ontology as the mapping that `ontology_of` reads; what is not declared is left out."""
    mapping: dict[str, Any] = {"entity_types": [_entity(declared) for declared in ontology.entity_types]}
    if ontology.relation_types:
        mapping["relation_types"] = [_relation(declared) for declared in ontology.relation_types]
    return mapping


class _Dumper(yaml.SafeDumper):
    """Writes texts so that they are read as they are."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Escape the line breaks that few know: unescaped, they come back as others."""
        style = '"' if _ODD_BREAKS.search(data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def spell_yaml(ontology: DeclaredTypes) -> str:
    """Write YAML."""
    mapping = as_mapping(ontology)
    return yaml.dump(
        mapping, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None
    )


def spell_json(ontology: DeclaredTypes) -> str:
    """Write JSON."""
    return json.dumps(as_mapping(ontology), ensure_ascii=False, indent=2) + "\n"


def _entity(declared: EntityType) -> dict[str, Any]:
    return _given(
        label=declared.label,
        description=declared.description,
        synonyms=list(declared.synonyms),
        parents=list(declared.parents),
        properties=[_property(one) for one in declared.properties],
    )


def _property(declared: PropertyType) -> dict[str, Any]:
    return _given(name=declared.name, type=declared.type.value, description=declared.description)


def _relation(declared: RelationType) -> dict[str, Any]:
    patterns = [list(pattern) for pattern in declared.patterns]
    return _given(label=declared.label, description=declared.description, patterns=patterns)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
