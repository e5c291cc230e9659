"""Properties that cannot differ where two entities are one."""

import re
from collections.abc import Mapping
from typing import Any

from pipeline.resolve.names import canonical_key
from pipeline.resolve.wordlists import IDENTIFIERS, UNCHANGING

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[\W_]+")


def find_contradiction(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Name what two entities contradict each other in, a fact that never changes; '' where there is none.

    A value that only one of them has contradicts nothing, nor does one that only says more (1960, 1 May 1960).
    """
    ours, theirs = _read(one), _read(other)
    for about in sorted(ours.keys() & theirs.keys()):
        agree = _identical if about in IDENTIFIERS else _compatible
        if not any(agree(value, against) for value in ours[about] for against in theirs[about]):
            return about
    return ""


def _read(properties: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in properties.items():
        plain = _BREAKS.sub("_", _CAMEL.sub("_", name)).strip("_").casefold()
        about = plain if plain in IDENTIFIERS else UNCHANGING.get(plain, "")
        values = [
            str(one).strip() for one in (value if isinstance(value, list | tuple) else (value,)) if one is not None
        ]
        if about and any(values):
            found.setdefault(about, []).extend(one for one in values if one)
    return found


def _identical(one: str, other: str) -> bool:
    return _BREAKS.sub("", one).casefold() == _BREAKS.sub("", other).casefold()


def _compatible(one: str, other: str) -> bool:
    """Say whether one value is the other, or says more of the same."""
    ours, theirs = (
        {part.lstrip("0") for part in _BREAKS.sub(" ", canonical_key(value)).split()} for value in (one, other)
    )
    return ours <= theirs or theirs <= ours or _dates_agree(ours, theirs)


def _dates_agree(ours: set[str], theirs: set[str]) -> bool:
    """Compare the numbers alone where the month is a word on one side: 12 May 1960, 1960-05-12."""
    numbers = [{part for part in parts if part.isdigit()} for parts in (ours, theirs)]
    if not all(numbers) or (all(numbers[0:2]) and len(ours) == len(numbers[0]) and len(theirs) == len(numbers[1])):
        return False
    return numbers[0] <= numbers[1] or numbers[1] <= numbers[0]
