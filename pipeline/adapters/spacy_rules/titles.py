"""Finds titles of works that the text marks by quotation marks."""

from collections.abc import Iterator
from typing import Any

_CLOSING = {'"': '"', "“": "”", "«": "»", "‘": "’"}
_LONGEST = 10
# Words that titles of works spell small.
_SMALL = frozenset(
    # As one text, because a list would be thirty lines long.
    """
    a an the and or nor but of in on at to for from by with into over as is are n ' 's ’s , : ! ? - – & . ; ( )
    """.split()  # noqa: SIM905
)


def quoted_titles(doc: Any) -> Iterator[tuple[int, int]]:
    """Find quoted spans in title case, as token offsets without the quotation marks.

    A nickname inside a name is none: there, capitals stand right before and after the marks.
    """
    i = 0
    while i < len(doc):
        end = _closing(doc, i)
        if end is None:
            i += 1
            continue
        if _is_title(doc, i + 1, end) and not _in_a_name(doc, i, end):
            yield i + 1, end
        i = end + 1


def _closing(doc: Any, start: int) -> int | None:
    """Find the mark that closes the one at `start`, if it is near and in the same paragraph."""
    mark = _CLOSING.get(doc[start].text)
    if mark is None:
        return None
    for i in range(start + 1, min(len(doc), start + _LONGEST + 2)):
        if doc[i].text == mark:
            return i
        if "\n\n" in doc[i].text:
            return None
    return None


def _is_title(doc: Any, start: int, end: int) -> bool:
    while start < end and doc[end - 1].text in {",", "."}:
        end -= 1
    words = doc[start:end]
    return (
        len(words) > 0
        and all(t.text[0].isupper() or t.text[0].isdigit() or t.lower_ in _SMALL for t in words)
        and words[0].text[0].isupper()
        and any(t.is_alpha and len(t) > 2 for t in words)  # noqa: PLR2004 - initials are no title
    )


def _in_a_name(doc: Any, opening: int, closing: int) -> bool:
    if opening == 0 or closing + 1 >= len(doc):
        return False
    before, after = doc[opening - 1], doc[closing + 1]
    return bool(before.text[0].isupper() and after.text[0].isupper() and not after.is_sent_start)
