"""Makes an ontology of Python values: a mapping of the shape of a file, or pydantic model classes.

A class is an entity type: its name is the label, its docstring the description, the models that it derives from are its
parents. Fields of plain values are its properties; a field of another given class, or of a list of it, is a relation.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from inspect import cleandoc, get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.errors import PydanticUndefinedAnnotation

from pipeline.errors import OntologyError
from pipeline.ontology.conflicts import Problem
from pipeline.ontology.declared import ItemPath, ValueType
from pipeline.ontology.reading import finish, read_types
from pipeline.ontology.types import Ontology

GIVEN_PROPERTIES = frozenset({"name", "description"})
"""What every entity has: fields and properties so named need no declaration."""

# In the order in which they are looked for: a bool is an int, a datetime a date.
_VALUES: tuple[tuple[type, ValueType], ...] = (
    (bool, ValueType.BOOLEAN),
    (int, ValueType.INTEGER),
    (float, ValueType.FLOAT),
    (str, ValueType.STRING),
    (datetime, ValueType.DATE),
    (date, ValueType.DATE),
)
_COLLECTIONS = (list, tuple, set, frozenset, Sequence, Iterable)
_WORD_STARTS = re.compile(r"(?<=[^\W_])(?=[A-Z][^\WA-Z_])|(?<=[^\WA-Z_])(?=[A-Z])")

type _Model = type[BaseModel]


def ontology_of(value: Mapping[str, object] | Iterable[type[BaseModel]]) -> Ontology:
    """Make an ontology of a mapping that is as an ontology file, or of pydantic model classes.

    Raises `OntologyError` that lists all faults, each with its path: `entity_types[2].label`, or `Person.age`.
    """
    if isinstance(value, Mapping):
        return finish(read_types(value), "The mapping")
    classes: list[Any] = list(value)
    for one in classes:
        if not _is_model(one):
            raise OntologyError(f"{one!r} is neither a mapping nor a pydantic model class; give one of the two")
    reading = _Classes(list(dict.fromkeys(classes)))
    data = {"entity_types": reading.entities(), "relation_types": list(reading.relations.values())}
    return finish(read_types(data, reading.problems, reading.given), "The given classes")


def upper_snake(name: str) -> str:
    """Spell a name as a relation type: worksFor and works_for are WORKS_FOR."""
    return re.sub(r"[\W_]+", "_", _WORD_STARTS.sub("_", name)).strip("_").upper()


class _Unreadable(Exception):
    """A field's type is none that an ontology knows; the message says which."""


@dataclass(slots=True)
class _Classes:
    """Reads classes one after the other; relations of the same name come together."""

    classes: list[_Model]
    relations: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    given: dict[ItemPath, ItemPath] = field(default_factory=dict)

    def entities(self) -> list[dict[str, object]]:
        return [self._entity(nth, one) for nth, one in enumerate(self.classes)]

    def _entity(self, nth: int, one: _Model) -> dict[str, object]:
        place: ItemPath = ("entity_types", nth)
        self.given[place] = (one.__name__,)
        properties: list[dict[str, object]] = []
        for name, about in self._own_fields(one, place):
            described = " ".join((about.description or "").split())
            try:
                kind, targets = self._read(about.annotation)
            except _Unreadable as error:
                self.problems.append(((*place, name), str(error)))
                continue
            if targets:
                self._relate(one, name, targets, described)
            elif name not in GIVEN_PROPERTIES:
                self.given[*place, "properties", len(properties)] = (one.__name__, name)
                properties.append({"name": name, "type": kind, "description": described})
        return {
            "label": one.__name__,
            # That of a base class does not count.
            "description": " ".join(cleandoc(one.__dict__.get("__doc__") or "").split("\n\n")[0].split()),
            "parents": [base.__name__ for base in _models_below(one)],
            "properties": properties,
        }

    def _own_fields(self, one: _Model, place: ItemPath) -> Iterator[tuple[str, Any]]:
        """Give the fields that no given class above has already declared."""
        try:
            one.model_rebuild(_types_namespace={other.__name__: other for other in self.classes})
        except PydanticUndefinedAnnotation as error:
            self.problems.append((place, f"names {error.name!r}, which is not among the given classes"))
            return
        above = [base for base in one.__mro__[1:] if base in self.classes]
        for name, about in one.model_fields.items():
            if name in get_annotations(one) or not any(name in base.model_fields for base in above):
                yield name, about

    def _relate(self, source: _Model, name: str, targets: list[str], description: str) -> None:
        label = upper_snake(name)
        if label not in self.relations:
            self.given["relation_types", len(self.relations)] = (source.__name__, name)
            self.relations[label] = {"label": label, "description": "", "patterns": []}
        relation = self.relations[label]
        relation["description"] = relation["description"] or description
        relation["patterns"] += [[source.__name__, target] for target in targets]

    def _read(self, annotation: Any) -> tuple[ValueType, list[str]]:
        """Give the value's type and, where these are given classes, the labels of them that a field holds."""
        options = [option for option in _options(annotation) if option is not NoneType]
        if options and all(_is_model(option) for option in options):
            return ValueType.STRING, [self._label_of(option) for option in options]
        kinds = {self._kind_of(option) for option in options}
        if kinds == {ValueType.INTEGER, ValueType.FLOAT}:
            return ValueType.FLOAT, []
        if len(options) == 1 and _is_collection(options[0]):
            items = [item for item in get_args(options[0]) if item is not Ellipsis]
            inner = [self._read(item) for item in dict.fromkeys(items)]
            return ValueType.LIST, [label for _, labels in inner for label in labels]
        if len(kinds) != 1:
            raise _Unreadable(f"is of several types, {annotation}; give it one")
        return kinds.pop(), []

    def _label_of(self, model: _Model) -> str:
        if model not in self.classes:
            raise _Unreadable(f"names the class {model.__name__}, which is not among the given ones")
        return model.__name__

    def _kind_of(self, option: Any) -> ValueType:
        if _is_collection(option):
            return ValueType.LIST
        choices = get_args(option) if get_origin(option) is Literal else ()
        if isinstance(option, type) and issubclass(option, Enum):
            choices = tuple(member.value for member in option)
        sample = type(choices[0]) if choices and len({type(choice) for choice in choices}) == 1 else option
        for known, kind in _VALUES:
            if isinstance(sample, type) and issubclass(sample, known):
                return kind
        spelled = getattr(option, "__name__", str(option))
        raise _Unreadable(f"is of the type {spelled}; str, int, float, bool, date, lists and given classes are known")


def _options(annotation: Any) -> Iterator[Any]:
    """Take a union apart."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _options(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for option in get_args(annotation):
            yield from _options(option)
    else:
        yield annotation


def _is_model(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, BaseModel)


def _is_collection(option: Any) -> bool:
    return (get_origin(option) or option) in _COLLECTIONS


def _models_below(one: _Model) -> list[_Model]:
    return [base for base in one.__bases__ if _is_model(base) and base is not BaseModel]
