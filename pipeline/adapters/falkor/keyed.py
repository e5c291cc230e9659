"""The properties of keyed entities: what the rows of tables say of them, derived from their mentions.

A mention of a row keeps what the row says; an entity that no row tells of any more loses it again.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import orjson

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.schema import quote_label
from pipeline.ids import key_of
from pipeline.tables import OWN_PROPERTIES

_DIGITS = 15
"""Digits of a float that the engine's answers have; it stores them all."""
_TOLD = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})
OPTIONAL MATCH (e)-[m:MENTIONED_IN]->() WHERE m.properties <> ''
WITH id, e, collect(DISTINCT m.properties) AS told
RETURN id, told, [k IN keys(e) WHERE NOT k IN $own | [k, e[k]]]
"""
_SET = "UNWIND $rows AS r MATCH (e:__Entity__ {{id: r[0]}}) SET {assignments} RETURN count(*)"


def derive_properties(graph: FalkorGraph, ids: Iterable[str], epoch: int) -> int:
    """Give the keyed ones among some entities the properties that rows tell of them; gives how many changed.

    Where rows of two tables disagree, the same one wins whatever came first.
    """
    changes: defaultdict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
    keyed = [identity for identity in ids if key_of(identity)]
    for identity, told, stored in graph.ro_query(_TOLD, keyed, own=sorted(OWN_PROPERTIES)) if keyed else ():
        wanted: dict[str, Any] = {}
        for row in sorted(told):
            wanted = orjson.loads(row) | wanted
        before = dict(stored)
        if differing := sorted(n for n in wanted | before if _spell(wanted.get(n)) != _spell(before.get(n))):
            changes[tuple(differing)].append([identity, *(wanted.get(name) for name in differing)])
    return sum(_set(graph, names, rows, epoch) for names, rows in changes.items())


def _set(graph: FalkorGraph, names: Iterable[str], rows: list[list[Any]], epoch: int) -> int:
    cypher = _SET.format(assignments=", ".join(f"e.{quote_label(n)} = r[{i}]" for i, n in enumerate(names, start=1)))
    return sum(run_fenced(graph, cypher, epoch, page) for page in fill_pages(rows))


def _spell(value: Any) -> str:
    """Spell a value with its type, 1 is neither 1.0 nor true, and as exactly as the engine gives it back."""
    return f"float {value:.{_DIGITS}g}" if isinstance(value, float) else repr(value)
