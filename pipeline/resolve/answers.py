"""What a language model answers about sets of entities, line by line; an answer that is not clean says nothing.

    SET 1 GROUP: 1, 4 | NAME: "Tim Cook" | KEEP: born=1
    SET 2 NONE
    END

Members that no line lists are different ones, so an answer that was cut off must not count: the last line says END.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_LINE = re.compile(r"SET\s+([0-9]{1,6})\b(.*)", re.IGNORECASE)
_NONE = re.compile(r"\s+NONE", re.IGNORECASE)
_GROUP = re.compile(
    r"\s+GROUP\s*:\s*([0-9]{1,6}(?:\s*,\s*[0-9]{1,6})*)\s*"
    r"(?:\|\s*NAME\s*:\s*(\"(?:[^\"\\]|\\.)*\"|.*?)\s*)?"
    r"(?:\|\s*KEEP\s*:\s*(.*?)\s*)?",
    re.IGNORECASE,
)
_KEPT = re.compile(r"\s*([^=]+?)\s*=\s*([0-9]{1,6})\s*")
_FENCE = re.compile(r"```\w*")
_END = "END"
_END_OR_SET = re.compile(r"EN?|SE?|SET|SET\s+[0-9]{1,6}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnsweredGroup:
    """Members of a set, by their numbers from 1, that are one and the same."""

    members: tuple[int, ...]
    name: str = ""
    """As it was written, perhaps in quotes."""
    keep: Mapping[str, int] = field(default_factory=dict)
    """By attribute, the member whose value is the right one."""


class _Unclean(Exception):
    """What is said of a set cannot be what was meant."""


def read_answer(text: str, sizes: Sequence[int]) -> dict[int, tuple[AnsweredGroup, ...]]:
    """Give the groups of each set, by position, for which there is a usable answer: () where nothing is the same.

    Unusable is what is said of a set with a member that it lacks or one in two groups, with a name or a kept value
    for a single member, or in other words than asked for; all of an answer that says anything else or speaks of
    a set that was not asked about; and the last group's set where END is missing.

    Args:
        text: The answer.
        sizes: How many members each set has, in the order of their numbers.
    """
    lines = [line for line in map(str.strip, text.splitlines()) if line and not _FENCE.fullmatch(line)]
    complete = bool(lines) and lines[-1].upper() == _END
    if complete:
        lines.pop()
    elif lines and _END_OR_SET.fullmatch(lines[-1]):
        # The beginning of a line, where the answer was cut off.
        lines.pop()
    said = [_LINE.fullmatch(line) for line in lines]
    heard: dict[int, _Heard] = defaultdict(_Heard)
    last = 0
    for match in said:
        if match is None or not 0 < int(match.group(1)) <= len(sizes):
            return {}
        number = int(match.group(1))
        heard[number].hear(match.group(2), sizes[number - 1])
        last = 0 if heard[number].none else number
    if last and not complete:
        del heard[last]
    return {number - 1: one.together for number, one in sorted(heard.items()) if one.is_clean}


class _Heard:
    """What is said of one set."""

    def __init__(self) -> None:
        self.none = self._said_none = False
        self._groups: list[AnsweredGroup] = []
        self._garbled = False

    def hear(self, rest: str, size: int) -> None:
        """Take one line, without its beginning."""
        self.none = _NONE.fullmatch(rest) is not None
        self._said_none |= self.none
        if not self.none:
            try:
                self._groups.append(_read_group(rest, size))
            except _Unclean:
                self._garbled = True

    @property
    def is_clean(self) -> bool:
        members = [member for group in self._groups for member in group.members]
        agrees = self._said_none is not bool(self._groups)
        return agrees and not self._garbled and len(members) == len(set(members))

    @property
    def together(self) -> tuple[AnsweredGroup, ...]:
        """The groups of two or more."""
        return tuple(group for group in self._groups if len(group.members) > 1)


def _read_group(rest: str, size: int) -> AnsweredGroup:
    match = _GROUP.fullmatch(rest)
    if match is None:
        raise _Unclean
    members = tuple(int(number) for number in match.group(1).split(","))
    name, keep = match.group(2) or "", _read_kept(match.group(3) or "")
    if not all(0 < member <= size for member in (*members, *keep.values())):
        raise _Unclean
    if len(members) == 1 and (name or keep):
        raise _Unclean
    return AnsweredGroup(members, name, keep)


def _read_kept(text: str) -> dict[str, int]:
    kept: dict[str, int] = {}
    for item in filter(str.strip, re.split("[,;]", text)):
        match = _KEPT.fullmatch(item)
        if match is None or match.group(1) in kept:
            raise _Unclean
        kept[match.group(1)] = int(match.group(2))
    return kept
