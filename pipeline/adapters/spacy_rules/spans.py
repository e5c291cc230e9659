"""Cuts spans of a text to what belongs to a name."""

from typing import Any

_ARTICLES = frozenset(("the", "a", "an"))
_QUOTES = frozenset("\"'`“”‘’«»")
_BRACKETS = {"(": ")", "[": "]"}
_LEADING_TAGS = frozenset(("PRP$", "IN"))
_TRAILING_TAGS = frozenset(("POS", "CC", "IN"))


def trim(doc: Any, start: int, end: int) -> tuple[int, int]:
    """Cut articles, possessives, quotes and punctuation off a span's ends, and what follows a blank line."""
    for i in range(start, end):
        if doc[i].is_space and doc[i].text.count("\n") > 1:
            end = i
            break
    while start < end and (doc[start].lower_ in _ARTICLES or _is_edge(doc[start]) or doc[start].tag_ in _LEADING_TAGS):
        start += 1
    while start < end and (doc[end - 1].tag_ in _TRAILING_TAGS or _is_edge(doc[end - 1])):
        # A closing bracket belongs to a name that opens it.
        if doc[end - 1].text in _BRACKETS.values() and any(t.text in _BRACKETS for t in doc[start:end]):
            break
        end -= 1
    return start, end


def _is_edge(token: Any) -> bool:
    return token.is_space or token.is_punct or token.text in _QUOTES or token.lower_ in {"'s", "’s"}
