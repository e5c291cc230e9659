"""Types as commands spell them: `Drug`, `TREATS:Drug->Disease`, `Drug.approved:DATE`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import OntologyError
from pipeline.ontology.conflicts import Problem
from pipeline.ontology.declared import DeclaredTypes, ItemPath
from pipeline.ontology.labels import fold_label
from pipeline.ontology.reading import read_types
from pipeline.ontology.types import Ontology

_ARROW = "->"


def spelled_addition(
    old: Ontology, entities: Sequence[str], relations: Sequence[str], properties: Sequence[str]
) -> DeclaredTypes:
    """Read what is to be added to an ontology.

    Entities are labels; relations are `TYPE:Source->Target`, or `TYPE` alone for any pair; properties are
    `Type.name:VALUETYPE`, or `Type.name` for text. Raises `OntologyError` that lists all of them that are not.
    """
    spelled = _Spelled(
        {fold_label(declared.label): declared.label for declared in old.entity_types},
        {fold_label(declared.label) for declared in old.relation_types if declared.patterns},
    )
    for text in entities:
        spelled.add_entity(text)
    for text in properties:
        spelled.add_property(text)
    for text in relations:
        spelled.add_relation(text)
    data = {"entity_types": spelled.entities, "relation_types": spelled.relations}
    draft = read_types(data, spelled.problems, spelled.given)
    if faults := list(draft.faults()):
        shown = "\n".join(f"  {place[0]}: {message}" for place, message in faults)
        raise OntologyError(f"The ontology cannot be extended so:\n{shown}")
    return draft.part


@dataclass(slots=True)
class _Spelled:
    """Options as the lists of an ontology file; each label stands there once."""

    known: dict[str, str]
    """The labels that are declared already, by their folded form."""
    patterned: set[str]
    """The relation types that hold between declared pairs only, folded."""
    entities: list[dict[str, Any]] = field(default_factory=list)
    relations: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    given: dict[ItemPath, ItemPath] = field(default_factory=dict)

    def add_entity(self, text: str) -> None:
        self._item("entity_types", text.strip(), f"--entity {text}")

    def add_property(self, text: str) -> None:
        option = f"--property {text}"
        owner, _, rest = (part.strip() for part in text.partition("."))
        name, colon, kind = rest.partition(":")
        if not name:
            self.problems.append(((option,), "write it as Type.name:INTEGER, or Type.name for text"))
        elif fold_label(owner) not in self._labels:
            self.problems.append(((option,), f"{owner!r} is no declared entity label; add --entity {owner!r}"))
        else:
            nth = self._item("entity_types", self.known.get(fold_label(owner), owner), option)
            properties = self.entities[nth].setdefault("properties", [])
            self.given["entity_types", nth, "properties", len(properties)] = (option,)
            properties.append({"name": name, **({"type": kind} if colon else {})})

    def add_relation(self, text: str) -> None:
        option = f"--relation {text}"
        label, colon, ends = (part.strip() for part in text.partition(":"))
        pattern = [end.strip() for end in ends.split(_ARROW)]
        if colon and (len(pattern) != len(("source", "target")) or not all(pattern)):
            self.problems.append(((option,), "write it as TYPE:Source->Target, or TYPE alone for any pair"))
            return
        if unknown := [end for end in pattern if colon and fold_label(end) not in self._labels]:
            self.problems += [
                ((option,), f"{end!r} is no declared entity label; add --entity {end!r}") for end in unknown
            ]
            return
        if not colon and fold_label(label) in self.patterned:
            self.problems.append(
                ((option,), f"{label!r} holds between declared pairs: {label}:Source->Target adds one")
            )
            return
        nth = self._item("relation_types", label, option)
        if colon:
            patterns = self.relations[nth].setdefault("patterns", [])
            self.given["relation_types", nth, "patterns", len(patterns)] = (option,)
            patterns.append(pattern)

    @property
    def _labels(self) -> set[str]:
        return self.known.keys() | {fold_label(entity["label"]) for entity in self.entities}

    def _item(self, section: str, label: str, option: str) -> int:
        """Find the place of a type, which is made where it is not named yet."""
        items = self.entities if section == "entity_types" else self.relations
        for nth, item in enumerate(items):
            if fold_label(item["label"]) == fold_label(label):
                return nth
        self.given[section, len(items)] = (option,)
        items.append({"label": label})
        return len(items) - 1
