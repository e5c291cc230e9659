"""Makes an ontology of lists and mappings, whatever they were read from, and finds all their faults.

    entity_types:
      - Person
      - label: Company
        description: A business.
        synonyms: [firm, enterprise]
        parents: [Organization]
        properties: {founded: DATE, revenue: FLOAT}
    relation_types:
      - label: WORKS_FOR
        patterns: [[Person, Company]]

`entities`, `relations` and `attributes`, the words of the GraphRAG SDK, are read as well.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from pipeline.errors import OntologyError
from pipeline.ontology.conflicts import Problem, find_clashes, find_gaps
from pipeline.ontology.declared import DeclaredTypes, EntityType, ItemPath, PropertyType, RelationType, ValueType
from pipeline.ontology.types import Ontology

_SECTIONS = {
    "entity_types": "entity_types",
    "entities": "entity_types",
    "relation_types": "relation_types",
    "relations": "relation_types",
}
_PATTERN_DEPTH = 2
_MOST_SHOWN = 100
"""Faults of one ontology that are listed; nobody corrects more at once."""


@dataclass(slots=True)
class Draft:
    """Types as they were read, and what is wrong with them by their places in the proper words.

    `given` tells where a place was in what was read, if elsewhere.
    """

    entity_types: list[EntityType] = field(default_factory=list)
    relation_types: list[RelationType] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    given: dict[ItemPath, ItemPath] = field(default_factory=dict)

    def faults(self) -> Iterator[Problem]:
        """Give all problems but gaps, each once and by its place in what was read."""
        return self._placed([*self.problems, *find_clashes(self.entity_types, self.relation_types)])

    def gaps(self) -> Iterator[Problem]:
        """Give what a whole ontology has to declare besides."""
        return self._placed(find_gaps(self.entity_types, self.relation_types))

    @property
    def ontology(self) -> Ontology:
        """The ontology of a draft without faults and gaps."""
        return Ontology(entity_types=tuple(self.entity_types), relation_types=tuple(self.relation_types))

    @property
    def part(self) -> DeclaredTypes:
        """The types of a draft without faults."""
        return DeclaredTypes(entity_types=tuple(self.entity_types), relation_types=tuple(self.relation_types))

    def _placed(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        return ((self._place(place), message) for place, message in dict.fromkeys(problems))

    def _place(self, place: ItemPath) -> ItemPath:
        for length in range(len(place), 0, -1):
            if (start := self.given.get(place[:length])) is not None:
                return (*start, *place[length:])
        return place


def read_types(
    data: object, problems: Iterable[Problem] = (), given: Mapping[ItemPath, ItemPath] | None = None
) -> Draft:
    """Read lists and mappings of the shape of an ontology file; what cannot be is in the draft's problems."""
    draft = Draft(problems=list(problems), given=dict(given or {}))
    if not isinstance(data, Mapping):
        draft.problems.append(((), "an ontology is a mapping with entity_types and relation_types"))
        return draft
    seen: set[str] = set()
    for key, value in data.items():
        section = _SECTIONS.get(key) if isinstance(key, str) else None
        if section is None:
            draft.problems.append(((str(key),), "is not known; entity_types and relation_types are"))
        elif section in seen:
            draft.problems.append(((key,), f"{section} is given twice"))
        elif not isinstance(value, list | tuple):
            draft.problems.append(((key,), "must be a list"))
        else:
            seen.add(section)
            if key != section:
                draft.given[section,] = (key,)
            for nth, item in enumerate(value):
                _read_item(draft, section, nth, item)
    return draft


def _read_item(draft: Draft, section: str, nth: int, item: object) -> None:
    """Validate one type on its own, so that the faults of all are found."""
    fields: object = {"label": item} if isinstance(item, str) else item
    if section == "relation_types":
        draft.relation_types.append(_validate(RelationType, draft, (section, nth), fields))
        return
    place: ItemPath = (section, nth)
    properties: tuple[PropertyType, ...] = ()
    if isinstance(fields, Mapping):
        fields = dict(fields)
        names = [name for name in ("properties", "attributes") if name in fields]
        if names[1:]:
            draft.problems.append(((*place, names[1]), "properties is given twice"))
        if names:
            given = [fields.pop(name) for name in names][0]  # noqa: RUF015 - both have to go
            start: ItemPath = draft.given.get((section,), (section,))
            _note_place(draft, (*place, "properties"), (*start, nth, names[0]))
            properties = tuple(_read_properties(draft, (*place, "properties"), given))
    entity = _validate(EntityType, draft, place, fields)
    draft.entity_types.append(entity.model_copy(update={"properties": properties}) if properties else entity)


def _note_place(draft: Draft, place: ItemPath, given: ItemPath) -> None:
    """Remember where something was read, unless its reader has told already."""
    if not any(place[:length] in draft.given for length in range(2, len(place) + 1)):
        draft.given[place] = given


def _read_properties(draft: Draft, place: ItemPath, given: object) -> Iterator[PropertyType]:
    """Read a list of properties, or a mapping of names to types."""
    if isinstance(given, Mapping):
        start = draft.given.get(place, place)
        for nth, (name, value) in enumerate(given.items()):
            draft.given[*place, nth] = (*start, str(name))
            fields = value if isinstance(value, Mapping) else {"type": value} if value not in ("", None) else {}
            yield _validate(PropertyType, draft, (*place, nth), {**fields, "name": name})
    elif isinstance(given, list | tuple):
        for nth, item in enumerate(given):
            fields = {"name": item} if isinstance(item, str) else item
            yield _validate(PropertyType, draft, (*place, nth), fields)
    elif given not in ("", None):
        draft.problems.append((place, "must be a list of properties, or a mapping of names to types"))


def _validate[T: (EntityType, RelationType, PropertyType)](
    kind: type[T], draft: Draft, place: ItemPath, fields: object
) -> T:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        draft.problems += _faults(kind, error, place)
        return _salvage(kind, fields)


def _faults(kind: type[BaseModel], error: ValidationError, place: ItemPath) -> Iterator[Problem]:
    """Give the faults that pydantic found in what stands at a place, in words of the file."""
    for fault in error.errors(include_url=False, include_input=False):
        where = fault["loc"]
        message = fault["msg"].removeprefix("Value error, ")
        if not where:
            known = ", ".join(kind.model_fields)
            message = (
                f"must be a label, or a mapping with {known}" if "label" in known else f"is a mapping with {known}"
            )
        elif where[0] == "patterns" and len(where) > 1:
            where, message = where[:_PATTERN_DEPTH], "a pattern is a list of two labels: [source, target]"
        elif fault["type"] == "extra_forbidden":
            message = f"is not known; {', '.join(kind.model_fields)} are"
        elif fault["type"] == "missing":
            message = "is missing"
        elif fault["type"] == "enum":
            message = f"is none of {', '.join(ValueType)}"
        elif fault["type"] == "tuple_type":
            message = "must be a list"
        elif fault["type"] == "string_type":
            message = "must be text"
        yield (*place, *where), message


def _salvage[T: (EntityType, RelationType, PropertyType)](kind: type[T], fields: object) -> T:
    """Keep the sound parts of a faulty type: conflicts are looked for in these too."""
    given = fields if isinstance(fields, Mapping) else {}
    sound: dict[str, object] = {"synonyms": (), "parents": (), "properties": (), "patterns": ()}
    for name in ("label", "name"):
        sound[name] = value if isinstance(value := given.get(name), str) else ""
    # Something stands in for each faulty item, so that the others keep their positions.
    for name, stand_in in (("synonyms", sound["label"]), ("parents", "")):
        if isinstance(words := given.get(name), list | tuple):
            sound[name] = tuple(word if isinstance(word, str) else stand_in for word in words)
    if isinstance(patterns := given.get("patterns"), list | tuple):
        sound["patterns"] = tuple(tuple(pattern) if _is_pair(pattern) else () for pattern in patterns)
    return kind.model_construct(**{name: value for name, value in sound.items() if name in kind.model_fields})  # type: ignore[arg-type]


def _is_pair(pattern: object) -> bool:
    match pattern:
        case [str(), str()]:
            return True
        case _:
            return False


def finish(draft: Draft, name: str) -> Ontology:
    """Make the ontology of a draft without faults; else raises `OntologyError` that lists all of them by path."""
    faults = (*draft.faults(), *draft.gaps())
    raise_faults(name, (f"{spell_place(place)}{message}" for place, message in faults))
    return draft.ontology


def raise_faults(name: str, faults: Iterable[str]) -> None:
    """Raise `OntologyError` with all faults of what is so called, if there are any."""
    if listed := list(faults):
        more = [f"... and {len(listed) - _MOST_SHOWN:,} more"] if len(listed) > _MOST_SHOWN else []
        shown = "\n".join(f"  {fault}" for fault in (*listed[:_MOST_SHOWN], *more))
        raise OntologyError(f"{name} is not a usable ontology:\n{shown}")


def spell_place(place: ItemPath) -> str:
    """Spell a place as in `entity_types[2].label: `."""
    spelled = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{spelled.lstrip('.')}: " if place else ""
