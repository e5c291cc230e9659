"""Cuts rows into pages that one query may carry: enough to be cheap, few enough to let readers in."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from pipeline.adapters.falkor.client import spell_json

_MAX_ROWS = 500
"""Rows of a query, nested ones counted: more gains nothing and holds up readers."""
_MAX_BYTES = 1_000_000
"""Text of a query; a single row that is larger goes alone."""


def fill_pages(rows: Iterable[Any]) -> Iterator[list[orjson.Fragment]]:
    """Spell rows as JSON and group them into pages; a row's first field may be its nested rows.

    Raises `GraphRejected` where a row cannot be spelled.
    """
    page: list[orjson.Fragment] = []
    weight = size = 0
    for row in rows:
        text = spell_json(row)
        row_weight = len(row[0]) if isinstance(row[0], list) else 1
        if page and (weight + row_weight > _MAX_ROWS or size + len(text) > _MAX_BYTES):
            yield page
            page, weight, size = [], 0, 0
        page.append(orjson.Fragment(text))
        weight += row_weight
        size += len(text)
    if page:
        yield page
