"""The questions that a language model is asked about sets of entities: as many whole sets as a prompt holds."""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from pipeline.chunk import estimate_tokens
from pipeline.ontology import Ontology
from pipeline.resolve.values import Named

MOST_TOKENS = 3_000
"""Of a prompt, instructions and all, by estimate."""
_NAME_CHARS = 80
_NOTE_TOKENS = 100
"""Kept free for what is said of an earlier answer."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of a member is told."""

    chars: int
    """Of a description or value."""
    aliases: int


# The first with which a set fits into a prompt; one that never does is asked about with the last.
_DETAILS = (_Detail(400, 5), _Detail(160, 5), _Detail(60, 3), _Detail(20, 1))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question about some sets, by their positions; `SET 1` is the first of them."""

    positions: tuple[int, ...]
    system: str
    user: str


def pack(sets: Sequence[Sequence[Named]], ontology: Ontology, note: str = "") -> Iterator[Prompt]:
    """Put whole sets into prompts, in order.

    Args:
        sets: Of two members or more.
        ontology: Whose attributes of their types are shown.
        note: What else the model is to know, at the end.
    """
    left = MOST_TOKENS - _NOTE_TOKENS - estimate_tokens(instructions() + _template("sets-v1").template)
    taken: list[int] = []
    texts: list[str] = []
    types: dict[str, int] = {}
    used = 0
    for position, members in enumerate(sets):
        own = {line: estimate_tokens(line) for line in _list_types(members, ontology)}
        text = _shorten(members, ontology, left - sum(own.values()))
        size = estimate_tokens(text)
        more = sum(tokens for line, tokens in own.items() if line not in types)
        if taken and used + more + size > left:
            yield _prompt(taken, texts, types, note)
            taken, texts, types, used = [], [], {}, 0
            more = sum(own.values())
        taken.append(position)
        texts.append(text)
        types |= own
        used += more + size
    if taken:
        yield _prompt(taken, texts, types, note)


def instructions() -> str:
    """Give what is said before all sets."""
    return _template("judge-v1").template


def flatten(text: str) -> str:
    """Put a text on one line, without characters that do not show."""
    plain = text if text.isprintable() else "".join(map(_show, text))
    return " ".join(plain.split())


def _show(char: str) -> str:
    if unicodedata.category(char) in {"Cf", "Cs"}:
        return ""
    return char if char.isprintable() else " "


def _prompt(positions: Sequence[int], texts: Sequence[str], types: Iterable[str], note: str) -> Prompt:
    sets = (f"SET {number}{text}" for number, text in enumerate(texts, 1))
    user = _template("sets-v1").substitute(types="\n".join(types), sets="\n".join(sets), note=note).rstrip()
    return Prompt(tuple(positions), instructions(), user)


def _shorten(members: Sequence[Named], ontology: Ontology, tokens: int) -> str:
    for detail in _DETAILS:
        lines = (_line(number, member, ontology, detail) for number, member in enumerate(members, 1))
        text = "\n".join(("", *lines, ""))
        if estimate_tokens(text) <= tokens:
            break
    return text


def _line(number: int, member: Named, ontology: Ontology, detail: _Detail) -> str:
    parts = [f"{number}. {_quote(member.name, _NAME_CHARS)}", f"labels: {', '.join(map(_label, labels_of(member)))}"]
    if aliases := [_quote(alias, _NAME_CHARS) for alias in member.aliases[: detail.aliases]]:
        parts.append(f"aliases: {', '.join(aliases)}")
    if member.description.strip():
        parts.append(f"description: {_quote(member.description, detail.chars)}")
    values = [
        f"{name}: {_value(member.properties[name], detail.chars)}"
        for name in attributes_of(member, ontology)
        if member.properties.get(name) is not None
    ]
    if values:
        parts.append("; ".join(values))
    return " | ".join(parts)


def labels_of(member: Named) -> tuple[str, ...]:
    """Give all labels of a member, each once."""
    return tuple(dict.fromkeys((member.label, *member.merged_labels)))


def attributes_of(member: Named, ontology: Ontology) -> tuple[str, ...]:
    """Name the attributes that are declared for any of a member's labels."""
    declared = (one.name for label in labels_of(member) for one in ontology.properties_of(label))
    return tuple(dict.fromkeys(declared))


def _list_types(members: Sequence[Named], ontology: Ontology) -> Iterator[str]:
    for label in dict.fromkeys(label for member in members for label in labels_of(member)):
        declared = ", ".join(f"{one.name} ({one.type})" for one in ontology.properties_of(label))
        yield f"- {_label(label)}: {declared}" if declared else f"- {_label(label)}"


def _label(label: str) -> str:
    plain = all(char.isalnum() or char in " -_" for char in label)
    return label if plain and len(label) <= _NAME_CHARS else _quote(label, _NAME_CHARS)


def _value(value: Any, chars: int) -> str:
    if isinstance(value, list | tuple):
        return _quote(", ".join(map(str, value)), chars)
    return json.dumps(value) if isinstance(value, bool | int | float) else _quote(str(value), chars)


def _quote(text: str, chars: int) -> str:
    flat = flatten(text)
    return json.dumps(flat if len(flat) <= chars else f"{flat[:chars]}…", ensure_ascii=False)


@cache
def _template(name: str) -> Template:
    return Template((files("pipeline.resolve") / "prompts" / f"{name}.txt").read_text("utf-8").rstrip("\n"))
