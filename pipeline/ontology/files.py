"""Reads an ontology from a YAML or JSON file and reports every fault of it at once.

    entity_types:
      - Person
      - label: Company
        description: A business.
        synonyms: [firm, enterprise]
    relation_types:
      - label: WORKS_FOR
        patterns: [[Person, Company]]

`entities` and `relations`, the words of the GraphRAG SDK's `set_ontology`, are read as well.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pipeline.errors import OntologyError
from pipeline.ontology.types import EntityType, ItemPath, Ontology, RelationType, find_conflicts

type _Problem = tuple[ItemPath, str]

_SECTIONS = {
    "entity_types": "entity_types",
    "entities": "entity_types",
    "relation_types": "relation_types",
    "relations": "relation_types",
}

_MAX_DEPTH = 10


def load_ontology(path: Path) -> Ontology:
    """Read an ontology file.

    Raises `OntologyError` whose message lists all faults of the file, each with its line.
    """
    tree = _parse(path)
    lines: dict[ItemPath, int] = {}
    problems: list[_Problem] = []
    data = _plain(tree, (), lines, problems)
    sections = dict(_sections(data, lines, problems))
    entity_types = tuple(_items(EntityType, "entity_types", sections, problems))
    relation_types = tuple(_items(RelationType, "relation_types", sections, problems))
    problems += find_conflicts(entity_types, relation_types)
    if problems:
        listed = sorted((_line(place, lines), _spell(place), message) for place, message in problems)
        shown = "\n".join(f"  line {line}: {place}{message}" for line, place, message in listed)
        raise OntologyError(f"{path.name} is not a usable ontology:\n{shown}")
    return Ontology(entity_types=entity_types, relation_types=relation_types)


def _parse(path: Path) -> yaml.Node:
    """Parse the file to a tree that knows its lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OntologyError(f"{path.name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OntologyError(f"{path.name} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    if path.suffix.lower() == ".json":
        # JSON is YAML but for tabs between tokens; inside strings JSON has none.
        text = text.replace("\t", " ")
    try:
        _refuse_odd_shapes(path, text)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        where = _where(error.problem_mark or error.context_mark)
        raise OntologyError(f"{path.name} {where}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise OntologyError(f"{path.name} cannot be parsed: {error}") from error
    if tree is None:
        raise OntologyError(f"{path.name} declares nothing")
    return tree


def _refuse_odd_shapes(path: Path, text: str) -> None:
    """Refuse what would let a short file take for ever: aliases, which multiply, and deep nesting."""
    depth = 0
    for event in yaml.parse(text):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > _MAX_DEPTH:
            odd = (
                "lists and mappings are nested too deeply" if depth > _MAX_DEPTH else "aliases are not read; repeat it"
            )
            raise OntologyError(f"{path.name} {_where(event.start_mark)}: {odd}")


def _where(mark: Any) -> str:
    return f"line {mark.line + 1}" if mark is not None else "line 1"


def _plain(node: yaml.Node, place: ItemPath, lines: dict[ItemPath, int], problems: list[_Problem]) -> object:
    """Turn a tree into lists, dicts and strings: a label `No` or `1999` is meant as written."""
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*place, nth), lines, problems) for nth, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        result: dict[str, object] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in result:
                problems.append(((*place, name), f"key {name!r} is given twice"))
            result[name] = _plain(value, (*place, name), lines, problems)
            lines[*place, name] = key.start_mark.line + 1
        return result
    return "" if node.tag == "tag:yaml.org,2002:null" else node.value


def _sections(data: object, lines: dict[ItemPath, int], problems: list[_Problem]) -> Iterator[tuple[str, list[object]]]:
    """Give the lists of types under their proper names."""
    if not isinstance(data, dict):
        problems.append(((), "an ontology is a mapping with entity_types and relation_types"))
        return
    given: set[str] = set()
    for key, value in data.items():
        section = _SECTIONS.get(key)
        if section is None:
            problems.append(((key,), "is not known; entity_types and relation_types are"))
        elif section in given:
            problems.append(((key,), f"{section} is given twice"))
        elif not isinstance(value, list):
            problems.append(((key,), "must be a list"))
        else:
            given.add(section)
            for place, line in list(lines.items()):
                if place[:1] == (key,):
                    lines[section, *place[1:]] = line
            yield section, value


def _items[T: (EntityType, RelationType)](
    kind: type[T], section: str, sections: dict[str, list[object]], problems: list[_Problem]
) -> Iterator[T]:
    """Validate each type on its own, so that the faults of all are found."""
    for nth, item in enumerate(sections.get(section, [])):
        fields = {"label": item} if isinstance(item, str) else item
        try:
            yield kind.model_validate(fields)
        except ValidationError as error:
            problems += _faults(error, (section, nth))
            yield _salvage(kind, fields)


def _faults(error: ValidationError, place: ItemPath) -> Iterator[_Problem]:
    """Give the faults that pydantic found in the type at a place."""
    for fault in error.errors():
        yield (*place, *fault["loc"]), fault["msg"].removeprefix("Value error, ")


def _salvage[T: (EntityType, RelationType)](kind: type[T], fields: object) -> T:
    """Keep the sound parts of a faulty type: conflicts are looked for in these too."""
    given = fields if isinstance(fields, dict) else {}
    sound: dict[str, Any] = {"label": "", "synonyms": (), "patterns": ()}
    if isinstance(label := given.get("label"), str):
        sound["label"] = label
    # Something stands in for each faulty item, so that the others keep their positions.
    if isinstance(synonyms := given.get("synonyms"), list):
        sound["synonyms"] = tuple(word if isinstance(word, str) else sound["label"] for word in synonyms)
    if isinstance(patterns := given.get("patterns"), list):
        sound["patterns"] = tuple(pattern if _is_pair(pattern) else () for pattern in patterns)
    return kind.model_construct(**{name: sound[name] for name in kind.model_fields if name in sound})


def _is_pair(pattern: object) -> bool:
    match pattern:
        case [str(), str()]:
            return True
        case _:
            return False


def _line(place: ItemPath, lines: dict[ItemPath, int]) -> int:
    """Find the line of a place, or of what should hold it."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def _spell(place: ItemPath) -> str:
    """Spell a place as in `entity_types[2].label: `."""
    spelled = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{spelled.lstrip('.')}: " if place else ""
