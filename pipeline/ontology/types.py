"""The ontology of a graph: its types together, and which of them may be combined."""

import json
from collections.abc import Mapping
from functools import cached_property

from pydantic import model_validator

from pipeline.ids import fingerprint
from pipeline.ontology.conflicts import find_conflicts
from pipeline.ontology.declared import DeclaredTypes, EntityType, PropertyType, RelationType
from pipeline.ontology.labels import fold_label, fold_property

__all__ = ["UNKNOWN", "EntityType", "Ontology", "PropertyType", "RelationType"]

UNKNOWN = "Unknown"
"""The label of entities that no declared type fits."""


class Ontology(DeclaredTypes):
    """The declared types of a graph; without relation types, relations are open.

    Raises `pydantic.ValidationError` where no entity type is declared, a word means two types,
    a pattern names an undeclared type, or types are parents of each other in a circle.
    """

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

    def ancestors(self, label: str) -> tuple[str, ...]:
        """Give the labels above a type, the nearest first, each once; those of an undeclared label are none."""
        declared = self.resolve_label(label)
        if declared not in self._ancestors:
            self._ancestors[declared] = _reach(declared, self._parents)
        return self._ancestors[declared]

    def properties_of(self, label: str) -> tuple[PropertyType, ...]:
        """Give the properties of a type, its own before inherited ones; the nearest of one name counts."""
        found: dict[str, PropertyType] = {}
        for owner in (self.resolve_label(label), *self.ancestors(label)):
            for declared in self._types_by_label[owner].properties if owner in self._types_by_label else ():
                found.setdefault(fold_property(declared.name), declared)
        return tuple(found.values())

    def allows(self, rel_type: str, source_label: str, target_label: str) -> bool:
        """Tell whether a relation fits: open, or declared and between a declared pair of types, or subtypes of them."""
        if not self.relation_types:
            return True
        declared = self._relations_by_word.get(fold_label(rel_type))
        if declared is None:
            return False
        if not declared.patterns:
            return True
        sources, targets = self._line(source_label), self._line(target_label)
        return any(
            self.resolve_label(source) in sources and self.resolve_label(target) in targets
            for source, target in declared.patterns
        )

    def _line(self, label: str) -> tuple[str, ...]:
        """Give a type's label and those above it."""
        return (self.resolve_label(label), *self.ancestors(label))

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        # Extra labels count as they are spelled first.
        spelled = {fold_label(declared.label): declared.label for declared in self.entity_types}
        return {
            declared.label: tuple(spelled.setdefault(fold_label(word), word) for word in declared.parents)
            for declared in self.entity_types
        }

    @cached_property
    def _ancestors(self) -> dict[str, tuple[str, ...]]:
        """Those that were asked for."""
        return {}

    @cached_property
    def _types_by_label(self) -> dict[str, EntityType]:
        return {declared.label: declared for declared in self.entity_types}

    @cached_property
    def _labels_by_word(self) -> dict[str, str]:
        words = {fold_label(word): declared.label for declared in self.entity_types for word in declared.synonyms}
        return words | {fold_label(declared.label): declared.label for declared in self.entity_types}

    @cached_property
    def _relations_by_word(self) -> dict[str, RelationType]:
        return {fold_label(declared.label): declared for declared in self.relation_types}


def _reach(label: str, parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """List what stands above a label, level by level."""
    reached: dict[str, None] = {}
    level = [label]
    while level:
        level = list(dict.fromkeys(word for below in level for word in parents.get(below, ()) if word not in reached))
        reached |= dict.fromkeys(level)
    return tuple(reached)
