"""Runs a query that somebody else wrote and checked, and gives plain values."""

import math
import time
from collections.abc import Mapping
from typing import Any

from falkordb import Edge, Node, Path

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.errors import GraphRejected

_VECTOR = "embedding"
_OWN_LABELS = frozenset({"Chunk", "Document"})
_SCAN_MS = 5_000
"""How long the relations of a graph are looked through for their types."""
_FRESH_SECONDS = 60.0
_LABELS = "CALL db.labels() YIELD label RETURN label ORDER BY label"
_TYPES = "MATCH (:__Entity__)-[x:RELATES]->(:__Entity__) RETURN DISTINCT x.rel_type"


class Vocabulary:
    """The labels and relation types of one graph; for a minute it tells what it has read."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph
        self._read_at = -math.inf
        self._found: tuple[list[str], list[str]] = ([], [])

    def tell(self) -> tuple[list[str], list[str]]:
        """See `GraphReader.vocabulary`."""
        if time.monotonic() - self._read_at >= _FRESH_SECONDS:
            labels = [label for (label,) in self._graph.ro_query(_LABELS) if label not in _OWN_LABELS]
            _, rows = self._graph.ro_table(_TYPES, _SCAN_MS)
            shown = [label for label in labels if not label.startswith("__")]
            self._found = (shown, sorted(name for (name,) in rows if name))
            self._read_at = time.monotonic()
        return self._found


def run_checked(graph: FalkorGraph, cypher: str, timeout_ms: int) -> tuple[list[str], list[list[Any]]]:
    """See `GraphReader.run`."""
    try:
        columns, rows = graph.ro_table(cypher, timeout_ms)
    except (ValueError, OverflowError) as error:
        raise GraphRejected(f"the client cannot read what the query gives: {error}") from error
    return columns, [[_plain(value) for value in row] for row in rows]


def _plain(value: Any) -> Any:
    """Spell a value as JSON could: what it has no word for becomes text."""
    if isinstance(value, Node | Edge):
        return _plain(value.properties or {})
    if isinstance(value, Path):
        return [_plain(one) for one in (*value.nodes(), *value.edges())]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items() if name != _VECTOR}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
