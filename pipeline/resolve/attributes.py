"""Properties that cannot differ where two entities are one."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pipeline.resolve.dates import Date, dates_agree, read_date
from pipeline.resolve.names import canonical_key
from pipeline.resolve.wordlists import IDENTIFIERS, UNCHANGING

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[\W_]+")
_PARTS = re.compile(r"[,;()/]+")
_PLACES = frozenset(("birthplace",))
_BEFORE_PLACES = frozenset("in near at the city town village of".split())  # noqa: SIM905 - a list of words is read as words


def find_contradiction(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Name what two entities contradict each other in, a fact that never changes; '' where there is none.

    A value that only one of them has contradicts nothing, nor does one that only says more (1960, 1 May 1960).
    """
    ours, theirs = facts_of(one), facts_of(other)
    for about in sorted(ours.keys() & theirs.keys()):
        agree = _identical if about in IDENTIFIERS else _lie_together if about in _PLACES else _compatible
        if not any(agree(value, against) for value in ours[about] for against in theirs[about]):
            return about
    return ""


def facts_of(properties: Mapping[str, Any]) -> dict[str, list[str]]:
    """Give the facts that never change among properties, by what they are about."""
    found: dict[str, list[str]] = {}
    for name, value in properties.items():
        about = _find_topic(name)
        if not about:
            continue
        values = [
            str(one).strip() for one in (value if isinstance(value, list | tuple) else (value,)) if one is not None
        ]
        if any(values):
            found.setdefault(about, []).extend(one for one in values if one)
    return found


@lru_cache(maxsize=10_000)
def _find_topic(name: str) -> str:
    """Say what a property of a name is about, if it is a fact that never changes."""
    plain = _BREAKS.sub("_", _CAMEL.sub("_", name)).strip("_").casefold()
    return plain if plain in IDENTIFIERS else UNCHANGING.get(plain, "")


def _identical(one: str, other: str) -> bool:
    return _BREAKS.sub("", one).casefold() == _BREAKS.sub("", other).casefold()


def _compatible(one: str, other: str) -> bool:
    """Say whether two values may be one date; other texts must have the words of one another."""
    ours, theirs = read_date(one), read_date(other)
    if isinstance(ours, Date) and isinstance(theirs, Date):
        return dates_agree(ours, theirs)
    words = [set(_BREAKS.sub(" ", canonical_key(value)).split()) for value in (one, other)]
    return words[0] <= words[1] or words[1] <= words[0]


def _lie_together(one: str, other: str) -> bool:
    """Say whether one place is named by the other, with what it lies in or without: York does not lie in New York."""
    ours, theirs = ([_read_place(part) for part in _PARTS.split(value) if part.strip()] for value in (one, other))
    parts = {*map(tuple, ours)}, {*map(tuple, theirs)}
    if parts[0] <= parts[1] or parts[1] <= parts[0]:
        return True
    flat = [[word for part in parts for word in part] for parts in (ours, theirs)]
    size = min(map(len, flat))
    return flat[0][:size] == flat[1][:size]


def _read_place(text: str) -> list[str]:
    words = _BREAKS.sub(" ", canonical_key(text)).split()
    while len(words) > 1 and words[0] in _BEFORE_PLACES:
        words = words[1:]
    return words
