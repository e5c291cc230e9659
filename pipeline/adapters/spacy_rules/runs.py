"""Finds runs of proper nouns, which the model's entities miss or cut short."""

from collections.abc import Iterator
from typing import Any

# Small words inside names, of all tongues that English text names people and places in.
_INNER = frozenset(
    # As one text, because a list would be twenty lines long.
    """
    of the de la le du des del della di da dos von van der den zu y e al el bin ibn &
    """.split()  # noqa: SIM905
)
_INNER_LIMIT = 2
_PROPER_TAGS = frozenset(("NNP", "NNPS"))
_CAPITAL_PARTS = frozenset(("NOUN", "ADJ", "VERB"))
_YEAR_DIGITS = 4


def proper_runs(doc: Any, blocked: set[int]) -> Iterator[tuple[int, int]]:
    """Find runs of proper nouns with the small words inside them, as token offsets."""
    i = 0
    while i < len(doc):
        if i in blocked or not _is_proper(doc[i]):
            i += 1
            continue
        end = i + 1
        while (after := _next_part(doc, end, blocked)) is not None:
            end = after
        yield i, end
        i = end


def head_of(doc: Any, start: int, end: int) -> int:
    """Find the word that says what a name is of: the last one before "of" and the like."""
    inner = (i for i in range(start + 1, end) if doc[i].lower_ in _INNER)
    return next(inner, end) - 1


def _is_proper(token: Any) -> bool:
    return token.tag_ in _PROPER_TAGS and (token.text[0].isupper() or token.text[0].isdigit())


def _next_part(doc: Any, end: int, blocked: set[int]) -> int | None:
    """Give where the run ends with its next part, or None where it ends here."""
    i = end
    inner = 0
    while i < len(doc) and i not in blocked and inner <= _INNER_LIMIT:
        if doc[i].lower_ in _INNER or _is_tight_hyphen(doc, i):
            inner += 1
        elif not _is_line_break(doc[i]):
            break
        i += 1
    if i >= len(doc) or i in blocked or doc[i].is_sent_start:
        return None
    # "Apollo 11", but no year; and the nouns and adjectives of a name, which are capitals in mid-sentence.
    counts = doc[i].text.isdigit() and len(doc[i].text) < _YEAR_DIGITS
    capital = doc[i].text[0].isupper() and doc[i].is_alpha and doc[i].pos_ in _CAPITAL_PARTS
    return i + 1 if _is_proper(doc[i]) or (inner == 0 and (counts or capital)) else None


def _is_line_break(token: Any) -> bool:
    return bool(token.is_space) and token.text.count("\n") <= 1


def _is_tight_hyphen(doc: Any, i: int) -> bool:
    return doc[i].text in {"-", "–"} and not doc[i].whitespace_ and not doc[i - 1].whitespace_
