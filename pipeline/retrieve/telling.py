"""Evidence as it is told: what a reply leaves out when it is too long, and its text for a language model.

The limits and the order of sections are the GraphRAG SDK's. Nothing that is told here is stored anywhere.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.extract.unseen import UNSEEN
from pipeline.models import Evidence, Retrieval

MOST_REPLY_CHARS = 40_000
"""Most characters of JSON that a reply's evidence takes."""
MOST_TEXT_CHARS = 8_000
"""Length of the text for a model, unless another is asked for."""
LEAST_TEXT_CHARS = 200
"""Room for a line of each section; in less nothing can be told."""

_TITLES = {"row": "Rows", "entity": "Entities", "relation": "Relations", "fact": "Facts", "passage": "Passages"}
"""Kinds of evidence in the order of their sections."""
_PASSAGE_WEIGHT = 2
_PASSAGE_CHARS = 1_200
_LINE_CHARS = 400
_SCRAP = 200
"""A text that would have to be cut shorter than this is left out."""
_FIRST_SCRAP = 40
"""As `_SCRAP`, for the first of a section: where there is little room, some of it is better than none."""

_NUMBER = 999_999_999
"""Stands for a number that is not given yet: none is longer."""
_NOTE_CHARS = 250
_FEW = 5
"""Items of a kind that are given up only after those which take too much."""
_TOO_MUCH = 0.25
"""Of a reply, for one item, where not all find room."""

_GAP = f"[{UNSEEN}]*+"
# Possessive, and without a bracket inside: each character is looked at a few times only.
_FORGED = re.compile(
    rf"[\[\uff3b](?={_GAP}(?:\d[\d,;–\-{UNSEEN}]*+[\]\uff3d]|{_GAP.join('source')}{_GAP}[:\uff1a]))", re.IGNORECASE
)
_BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_TITLE = "|".join(_GAP.join(title) for title in (*_TITLES.values(), "Hint"))
_FORGED_TITLE = re.compile(rf"(?:\A|(?<![{UNSEEN}])[{UNSEEN}]++)(?=(?:{_TITLE}){_GAP}[:\uff1a])", re.IGNORECASE)
_ROUND = str.maketrans("[]\uff3b\uff3d", "()\uff08\uff09")
_HARMLESS = "[^"
"""Opens a footnote, in which neither a reader nor the citation check sees a number of ours."""


def spell(number: int, item: Evidence) -> dict[str, Any]:
    """Spell numbered evidence as a reply carries it, in plain JSON values."""
    return {
        "n": number,
        "kind": item.kind,
        "text": item.text,
        "score": round(item.score, 4),
        "source": item.source,
        "page": item.page,
        "start": item.start,
        "end": item.end,
        "heading": item.heading,
        "paths": list(item.paths),
        "document": item.document,
        "version": item.version,
        "hop": item.hop,
    }


def shape(retrieval: Retrieval, max_chars: int = MOST_REPLY_CHARS) -> Retrieval:
    """Leave out what makes a reply's evidence longer than `max_chars` of JSON, before anything is numbered.

    The longest lists lose their last items first, then items go that are very long. No text is cut, since what is
    shown in part only could not be cited. `incomplete` says what is left out.
    """
    items = [item for item in retrieval.evidence if item.text.strip()]
    beside = [*retrieval.incomplete, retrieval.hint, retrieval.cypher]
    room = max_chars - sum(map(_json_chars, beside))
    sizes = [_json_chars(spell(_NUMBER, item)) for item in items]
    if sum(sizes) <= room:
        return replace(retrieval, evidence=tuple(items))
    kept = _choose(items, sizes, max(0, room - _NOTE_CHARS))
    left_out = defaultdict[str, int](int)
    for i in set(range(len(items))) - kept:
        left_out[items[i].kind] += 1
    counts = ", ".join(f"{left_out[kind]} of the {title.lower()}" for kind, title in _TITLES.items() if left_out[kind])
    note = f"Left out of the reply, which would be too long: {counts}. Ask for fewer items, or a narrower question."
    return replace(
        retrieval,
        evidence=tuple(items[i] for i in sorted(kept)),
        incomplete=(*retrieval.incomplete, note),
    )


def _choose(items: Sequence[Evidence], sizes: Sequence[int], room: int) -> set[int]:
    """Choose positions of items that fit into the room together."""
    total = sum(sizes)
    lists: dict[str, list[int]] = {kind: [] for kind in reversed(_TITLES)}
    for i, item in enumerate(items):
        lists[item.kind].append(i)
    while total > room:
        longest = max(reversed(lists.values()), key=len)
        largest = max((i for kept in lists.values() for i in kept), key=lambda i: sizes[i])
        if len(longest) <= _FEW and sizes[largest] > _TOO_MUCH * room:
            lists[items[largest].kind].remove(largest)
            total -= sizes[largest]
        else:
            total -= sizes[longest.pop()]
    return {i for kept in lists.values() for i in kept}


def _json_chars(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) + len(", ")


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item as it is told: its number, and what stands before its text, harmless and no longer than may be shown."""

    number: int
    lead: str
    text: str

    @property
    def chars(self) -> int:
        return len("\n") + len(self.lead) + len(self.text)


def tell(retrieval: Retrieval, numbers: Sequence[int], max_chars: int = MOST_TEXT_CHARS) -> tuple[str, tuple[int, ...]]:
    """Write evidence as a text for a language model, each item behind its `[n]`; gives it with the numbers in it.

    Sections share the room, passages count twice; what one does not need goes to the others. A passage shows up to
    1,200 characters behind `[Source: path, page N, chars a-b]`. What an item says itself can be mistaken for
    neither: brackets around numbers, and tags of a source, are made footnotes there (`[^3]`), lines that begin like a
    section are quoted (`> Facts:`), and brackets in a path are round. An item for which no room is left is not told;
    its number is missing.

    Args:
        retrieval: What is told.
        numbers: Parallel to its evidence.
        max_chars: Most characters of the text, from `LEAST_TEXT_CHARS` on.
    """
    sections: dict[str, list[_Entry]] = {kind: [] for kind in _TITLES}
    for number, item in zip(numbers, retrieval.evidence, strict=True):
        sections[item.kind].append(_entry(number, item))
    wanted = {kind: entries for kind, entries in sections.items() if entries}
    parts = [_cut(f"Hint: kind of answer: {retrieval.hint}", max_chars // 4)] if retrieval.hint else []
    if not wanted:
        return "\n\n".join([*parts, "Nothing was found."]), ()
    room = max_chars - sum(len(part) + 2 for part in parts) - 2 * len(wanted)
    needs = [_need(kind, entries) for kind, entries in wanted.items()]
    shares = _share(needs, [_PASSAGE_WEIGHT if kind == "passage" else 1 for kind in wanted], room)
    spare = 0
    told: list[int] = []
    for (kind, entries), share in zip(wanted.items(), shares, strict=True):
        section, written = _render(kind, entries, share + spare)
        spare += share - len(section)
        parts.append(section)
        told += [entry.number for entry in entries[:written]]
    return "\n\n".join(filter(None, parts)), tuple(sorted(told))


def _entry(number: int, item: Evidence) -> _Entry:
    if item.kind == "passage":
        return _Entry(
            number, f"[{number}] {_tag(item)}\n", _cut(_quote_titles(_disarm(item.text.strip())), _PASSAGE_CHARS)
        )
    return _Entry(number, f"[{number}] ", _cut(_disarm(" ".join(item.text.split())), _LINE_CHARS))


def _tag(item: Evidence) -> str:
    """Say where a passage stands."""
    # A bracket would end the tag before its time.
    place = [_disarm(" ".join(item.source.splitlines()).translate(_ROUND))]
    if item.page is not None:
        place.append(f"page {item.page}")
    if item.start is not None and item.end is not None:
        place.append(f"chars {item.start}-{item.end}")
    return f"[Source: {', '.join(filter(None, place))}]"


def _disarm(text: str) -> str:
    return _FORGED.sub(_HARMLESS, text)


def _quote_titles(text: str) -> str:
    """Quote lines that begin like a section of ours."""
    return _FORGED_TITLE.sub(lambda gap: f"{gap[0]}> " if not gap.start() or set(gap[0]) & _BREAKS else gap[0], text)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def _need(kind: str, entries: Iterable[_Entry]) -> int:
    return len(_TITLES[kind]) + len(":") + sum(entry.chars for entry in entries)


def _share(needs: Sequence[int], weights: Sequence[int], room: int) -> list[int]:
    """Share the room by weight; those that need less than their share leave the rest to the others."""
    shares = [0] * len(needs)
    open_ones = list(range(len(needs)))
    while open_ones:
        unit = room / sum(weights[i] for i in open_ones)
        modest = [i for i in open_ones if needs[i] <= unit * weights[i]]
        for i in modest or open_ones:
            shares[i] = needs[i] if modest else int(unit * weights[i])
            room -= shares[i]
        open_ones = [i for i in open_ones if i not in modest] if modest else []
    return shares


def _render(kind: str, entries: Sequence[_Entry], room: int) -> tuple[str, int]:
    """Write a section in no more than its room, empty where not even its title has room; tells how many are in it."""
    lines = [f"{_TITLES[kind]}:"]
    free = room - len(lines[0])
    to_come = sum(entry.chars for entry in entries)
    written = 0
    for entry in entries:
        rest = len(entries) - written - 1
        space = free - len("\n") - len(entry.lead)
        if to_come > free:
            if rest:
                space -= len("\n") + len(_tail(rest))
            if len(entry.text) > space and space < (_SCRAP if written else _FIRST_SCRAP):
                lines.append(_tail(rest + 1))
                break
        lines.append(entry.lead + _cut(entry.text, space))
        free -= len("\n") + len(lines[-1])
        to_come -= entry.chars
        written += 1
    section = "\n".join(lines)
    return (section, written) if len(section) <= room else ("", 0)


def _tail(omitted: int) -> str:
    return f"…({omitted} more omitted)"
