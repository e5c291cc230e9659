"""Cells as properties of an entity: safe names, and values of the type that they are written in."""

import math
import re
from collections.abc import Iterable, Sequence

_NOT_WORD = re.compile(r"\W+")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,18})", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)", re.ASCII)
_BOOLEANS = {"true": True, "false": False}
_INT64 = 2**63
# What the graph keeps of an entity by itself.
OWN_PROPERTIES = frozenset(
    "id type name description canonical_key aliases embedding embedded_hash source_chunk_ids".split()  # noqa: SIM905 - a list of words is read as words
)

type Value = str | int | float | bool


def name_properties(columns: Sequence[str], used: Iterable[str]) -> dict[str, str]:
    """Name the property of each column of a table but those `used` otherwise; no two are the same.

    Other than letters, digits and `_` become `_`; a name that the graph uses itself gets a `_` at its end.
    """
    taken = set(OWN_PROPERTIES)
    names: dict[str, str] = {}
    for column in columns:
        if column in set(used):
            continue
        name = _NOT_WORD.sub("_", column).strip("_") or "column"
        if name[0].isdigit():
            name = f"_{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[column] = name
    return names


def read_value(cell: str) -> Value:
    """Give the number or truth that a cell spells, else its text: a 007 stays text, as does what is too large."""
    if _INTEGER.fullmatch(cell) and -_INT64 <= int(cell) < _INT64:
        return int(cell)
    if _NUMBER.fullmatch(cell) and math.isfinite(number := float(cell)):
        return number
    return _BOOLEANS.get(cell.casefold(), cell)
