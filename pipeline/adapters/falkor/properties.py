"""The properties of entities, derived from what their mentions tell: rows of tables, and what texts say.

A mention keeps what it tells as JSON, so a value goes with the passage that gave it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.schema import quote_label
from pipeline.ids import key_of
from pipeline.tables import OWN_PROPERTIES
from pipeline.write import pick_properties

LISTED = "__properties__"
"""Lists, on an entity, the properties that its mentions tell: others have written the rest, and it stays."""
_OWN = OWN_PROPERTIES | {LISTED}
_DIGITS = 15
"""Digits of a float that the engine's answers have; it stores them all."""
_TOLD = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})
OPTIONAL MATCH (e)-[m:MENTIONED_IN]->() WHERE m.properties <> ''
WITH id, e, m.properties AS told, count(m) AS times
WITH id, e, collect([told, times]) AS told
RETURN id, told, e.__properties__, [k IN keys(e) WHERE NOT k IN $own | [k, e[k]]]
"""
_SET = "UNWIND $rows AS r MATCH (e:__Entity__ {{id: r[0]}}) SET {assignments} RETURN count(*)"


def derive_properties(graph: FalkorGraph, ids: Iterable[str], epoch: int) -> int:
    """Give entities the properties that their mentions tell; gives how many changed.

    Where mentions disagree, the same value wins whatever came first. What nothing tells any more goes, if a mention
    told it before; a row's entity has no other properties.
    """
    changes: defaultdict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
    for identity, told, listed, stored in graph.ro_query(_TOLD, list(ids), own=sorted(_OWN)) if ids else ():
        before = dict(stored)
        picked = pick_properties({row: int(times) for row, times in told if row})
        wanted = {name: value for name, value in picked.items() if name and name not in _OWN}
        names = before.keys() if key_of(identity) else set(listed or ())
        if not key_of(identity):
            before[LISTED], wanted[LISTED] = listed or None, sorted(wanted) or None
        differing = {name for name in {*wanted, *names} if _spell(wanted.get(name)) != _spell(before.get(name))}
        if differing:
            columns = tuple(sorted(differing))
            changes[columns].append([identity, *(wanted.get(name) for name in columns)])
    return sum(_set(graph, columns, rows, epoch) for columns, rows in changes.items())


def _set(graph: FalkorGraph, names: Iterable[str], rows: list[list[Any]], epoch: int) -> int:
    cypher = _SET.format(assignments=", ".join(f"e.{quote_label(n)} = r[{i}]" for i, n in enumerate(names, start=1)))
    return sum(run_fenced(graph, cypher, epoch, page) for page in fill_pages(rows))


def _spell(value: Any) -> str:
    """Spell a value with its type, 1 is neither 1.0 nor true, and as exactly as the engine gives it back."""
    return f"float {value:.{_DIGITS}g}" if isinstance(value, float) else repr(value)
