"""Reads an ontology from a YAML or JSON file and reports every fault of it at once, with its line.

`pipeline.ontology.reading` shows the shape of one.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from pipeline.errors import OntologyError
from pipeline.ontology.conflicts import Problem
from pipeline.ontology.declared import DeclaredTypes, ItemPath
from pipeline.ontology.reading import Draft, raise_faults, read_types, spell_place
from pipeline.ontology.types import Ontology

LARGEST_FILE = 2_000_000
"""Bytes; all of an ontology stands in every prompt."""
_MAX_DEPTH = 10
_HALVES = re.compile("[\ud800-\udfff]")
_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
# libyaml's, where the build has it, is ten times faster.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_ontology(path: Path) -> Ontology:
    """Read an ontology file.

    Raises `OntologyError` whose message lists all faults of the file, each with its line.
    """
    return parse_ontology(read_bytes(path, LARGEST_FILE), path.name)


def parse_ontology(data: bytes, name: str) -> Ontology:
    """Read the content of an ontology file that is so called; raises as `load_ontology`."""
    draft, lines = _read(data, name)
    _raise_all(name, [*draft.faults(), *draft.gaps()], lines)
    return draft.ontology


def load_addition(path: Path) -> DeclaredTypes:
    """Read a file that adds to an ontology: its patterns may name types that are declared there.

    Raises as `load_ontology`.
    """
    draft, lines = _read(read_bytes(path, LARGEST_FILE), path.name)
    _raise_all(path.name, list(draft.faults()), lines)
    return draft.part


def read_bytes(path: Path, largest: int) -> bytes:
    """Give what a file holds; raises `OntologyError` where it is no file, cannot be read, or is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise OntologyError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > largest:
        raise OntologyError(f"{path.name} is larger than {largest:,} bytes, too large for an ontology")
    return data


def _read(data: bytes, name: str) -> tuple[Draft, dict[ItemPath, int]]:
    tree = _parse(data, name)
    lines: dict[ItemPath, int] = {}
    problems: list[Problem] = []
    return read_types(_plain(tree, (), lines, problems), problems), lines


def _raise_all(name: str, faults: list[Problem], lines: dict[ItemPath, int]) -> None:
    listed = sorted((_line(place, lines), spell_place(place), message) for place, message in faults)
    raise_faults(name, (f"line {line}: {place}{message}" for line, place, message in listed))


def _parse(data: bytes, name: str) -> yaml.Node:
    """Parse a file's content to a tree that knows its lines."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OntologyError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    if name.lower().endswith(".json"):
        text = _as_yaml(text)
    try:
        _refuse_odd_shapes(name, text)
        tree = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        where = _where(error.problem_mark or error.context_mark)
        raise OntologyError(f"{name} {where}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise OntologyError(f"{name} cannot be parsed: {error}") from error
    if tree is None:
        raise OntologyError(f"{name} declares nothing")
    return tree


def _refuse_odd_shapes(name: str, text: str) -> None:
    """Refuse what would let a short file take for ever: aliases, which multiply, and deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > _MAX_DEPTH:
            odd = (
                "lists and mappings are nested too deeply" if depth > _MAX_DEPTH else "aliases are not read; repeat it"
            )
            raise OntologyError(f"{name} {_where(event.start_mark)}: {odd}")


def _where(mark: Any) -> str:
    return f"line {mark.line + 1}" if mark is not None else "line 1"


def _plain(node: yaml.Node, place: ItemPath, lines: dict[ItemPath, int], problems: list[Problem]) -> object:
    """Turn a tree into lists, dicts and strings: a label `No` or `1999` is meant as written."""
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*place, nth), lines, problems) for nth, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        result: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problems.append((place, "holds a key that is no word"))
                continue
            name = str(key.value)
            if name in result:
                problems.append(((*place, name), f"key {name!r} is given twice"))
            result[name] = _plain(value, (*place, name), lines, problems)
            lines[*place, name] = key.start_mark.line + 1
        return result
    if _HALVES.search(node.value):
        problems.append((place, "holds half of a character (an escape \\ud800 to \\udfff without its other half)"))
        return ""
    return "" if node.tag == "tag:yaml.org,2002:null" else node.value


def _as_yaml(text: str) -> str:
    """Make JSON YAML: but for tabs between tokens, escapes that belong together, and odd characters in texts, it is."""
    return _PAIR.sub(_join_halves, _ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\t", " ")))


def _join_halves(match: re.Match[str]) -> str:
    """Make one character of the two escapes that JSON spells it by."""
    return match[1] + bytes.fromhex(match[2] + match[3]).decode("utf-16-be")


def _line(place: ItemPath, lines: dict[ItemPath, int]) -> int:
    """Find the line of a place, or of what should hold it."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)
