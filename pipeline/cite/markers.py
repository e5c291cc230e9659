"""Citation markers in a draft: `[3]`, `[1, 4]`, `[1-3]`, outside of code, links and footnotes."""

import re
from collections.abc import Collection
from dataclasses import dataclass

MAX_RANGE = 100
"""Most numbers that one range may stand for; a wider one points at nothing in particular and is invalid."""

_PART = r"[0-9]{1,9}+(?:[ \t]*+[-–][ \t]*+[0-9]{1,9}+)?+"
# Possessive, and without a bracket inside: each character is looked at a bounded number of times.
# A marker before "(" is a Markdown link, one before ": https://" defines a link.
MARKER = re.compile(rf"\[[ \t]*+(?P<body>{_PART}(?:[ \t]*+[,;][ \t]*+{_PART})*+)[ \t]*+\](?!\(|:[ \t]*+https?://)")
_SEPARATOR = re.compile(r"[,;]")
_DASH = re.compile(r"[-–]")
_CODE = re.compile(
    r"^ {0,3}+(?P<fence>`{3,}|~{3,})[^\n]*+(?:\n(?! {0,3}(?P=fence))[^\n]*+)*+(?:\n[^\n]*+)?+"
    r"|(?<!`)`++[^`\n]++`++",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MarkedDraft:
    """A draft without its invalid numbers, and which numbers were valid and which not."""

    answer: str
    cited: frozenset[int]
    invalid: frozenset[int]


def mask_code(text: str) -> str:
    """Blank out code blocks and code spans with backticks, keeping every offset and line break."""
    return _CODE.sub(lambda code: re.sub(r"[^\n]", "`", code[0]), text)


def cited_numbers(draft: str) -> tuple[int, ...]:
    """List the numbers that a draft cites, sorted: the evidence to look up before a check."""
    return tuple(sorted(numbers_in(mask_code(draft))))


def numbers_in(masked: str) -> set[int]:
    """Collect the numbers of all markers in a text whose code is masked."""
    numbers: set[int] = set()
    for marker in MARKER.finditer(masked):
        numbers.update(*_read_parts(marker["body"])[0])
    return numbers


def strip_invalid(draft: str, known: Collection[int]) -> MarkedDraft:
    """Take out of the draft every cited number that is not known; the other text stays as it is."""
    kept: list[str] = []
    cited: set[int] = set()
    invalid: set[int] = set()
    position = 0
    for marker in MARKER.finditer(mask_code(draft)):
        ranges, hopeless = _read_parts(marker["body"])
        numbers = [number for part in ranges for number in part]
        valid = [number for number in numbers if number in known]
        wrong = [*hopeless, *(number for number in numbers if number not in known)]
        cited.update(valid)
        invalid.update(wrong)
        before = draft[position : marker.start()]
        position = marker.end()
        if not wrong:
            kept += (before, marker[0])
        elif valid:
            kept += (before, f"[{', '.join(map(str, dict.fromkeys(valid)))}]")
        else:
            before = before.rstrip(" \t")
            kept.append(before)
            if not before or before.endswith("\n"):
                position = _skip_blanks(draft, position)
    kept.append(draft[position:])
    return MarkedDraft("".join(kept), frozenset(cited), frozenset(invalid))


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1] in {" ", "\t"}:
        position += 1
    return position


def _read_parts(body: str) -> tuple[list[range], list[int]]:
    """Read a marker's body: the ranges it stands for, and the ends of those that are too wide."""
    ranges: list[range] = []
    hopeless: list[int] = []
    for part in _SEPARATOR.split(body):
        ends = sorted(int(end) for end in _DASH.split(part))
        if ends[-1] - ends[0] >= MAX_RANGE:
            hopeless += ends
        else:
            ranges.append(range(ends[0], ends[-1] + 1))
    return ranges, hopeless
