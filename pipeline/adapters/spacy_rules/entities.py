"""Gives the model's named entities, cut to names, and divided where one holds two dates."""

import re
from collections.abc import Iterator
from typing import Any

from pipeline.adapters.spacy_rules.kinds import Kind
from pipeline.adapters.spacy_rules.spans import trim

YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
"""What makes a date worth finding again."""

_KINDS = {kind.value: kind for kind in Kind}
_RANGE_WORDS = frozenset(("to", "and", "or", "until", "till", "through", "–", "—", "-"))


def entity_spans(doc: Any) -> list[tuple[int, int, Kind]]:
    """Give (start, end, kind) of the model's entities that name something, as token offsets."""
    return [span for entity in doc.ents for span in _spans_of(doc, entity)]


def unnamed_tokens(doc: Any) -> set[int]:
    """Give the tokens that the model calls an amount, a weekday or the like: no name may take them up."""
    return {token.i for entity in doc.ents if _kind_of(entity) is None for token in entity}


def _kind_of(entity: Any) -> Kind | None:
    """Give the kind of a model's entity; None for amounts, and for dates that no year makes findable."""
    kind = _KINDS.get(entity.label_)
    return None if kind is Kind.DATE and not YEAR.search(entity.text) else kind


def _spans_of(doc: Any, entity: Any) -> Iterator[tuple[int, int, Kind]]:
    """Give the model's entity without what does not belong to a name; nothing where no name is left."""
    kind = _kind_of(entity)
    if kind is Kind.DATE:
        yield from ((start, end, kind) for start, end in _dates(doc, entity))
    elif kind is not None:
        start, end = trim(doc, entity.start, entity.end)
        # "non-Islamic" speaks of what is Islamic.
        while kind is Kind.NORP and start < end and not doc[start].text[0].isupper():
            start += 1
        if start < end and any(char.isupper() for char in doc[start:end].text):
            yield start, end, kind


def _dates(doc: Any, entity: Any) -> Iterator[tuple[int, int]]:
    """Divide "1944 to 1958" into its ends, and cut words such as "early" and "between"."""
    start = entity.start
    for i in range(entity.start, entity.end + 1):
        if i < entity.end and doc[i].lower_ not in _RANGE_WORDS:
            continue
        first, last = trim(doc, start, i)
        while first < last and doc[first].is_lower and not any(char.isdigit() for char in doc[first].text):
            first += 1
        if first < last and YEAR.search(doc[first:last].text):
            yield first, last
            start = i + 1
