"""What a question is kept within, as flags spell it."""

import re
from collections.abc import Sequence
from typing import Any

from workers.cli.exits import UsageMistake

_CONDITION = re.compile(r"(\w+)\s*(>=|<(?!=)|\^=|=)\s*(.*)", re.DOTALL)
_OPS = {"^=": "starts_with", "=": "=", "<": "<", ">=": ">="}
_NUMBERS = frozenset({"page_count"})


def read_scope(documents: Sequence[str], where: Sequence[str]) -> dict[str, Any]:
    """Make a scope of `--document` and `--where`; raises `UsageMistake` for a condition that cannot be read."""
    # As they are shown, by path, or by their ids.
    ids = [identity for one in documents for identity in (one, f"file:{one}")]
    return {"documents": ids if documents else None, "where": [_read_condition(one) for one in where]}


def _read_condition(text: str) -> dict[str, Any]:
    found = _CONDITION.fullmatch(text.strip())
    if not found:
        raise UsageMistake(
            f"--where {text!r} is no condition. It is NAME=VALUE, NAME=ONE,OTHER, NAME^=BEGINNING, NAME<VALUE or "
            "NAME>=VALUE, as in --where path^=handbook/ or --where 'page_count>=10'."
        )
    name, sign, value = found.groups()
    if sign == "=" and "," in value:
        return {"name": name, "op": "in", "value": [_read_value(name, one.strip()) for one in value.split(",")]}
    return {"name": name, "op": _OPS[sign], "value": _read_value(name, value)}


def _read_value(name: str, value: str) -> str | int:
    if name not in _NUMBERS:
        return value
    try:
        return int(value)
    except ValueError:
        raise UsageMistake(f"--where: {name} is a number, not {value!r}.") from None
