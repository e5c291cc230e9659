"""The properties of entities, derived from what their mentions tell: rows of tables, and what texts say.

A mention keeps what it tells as JSON, so a value goes with the passage that gave it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from orjson import loads

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.told import pick_told
from pipeline.ids import key_of
from pipeline.tables import OWN_PROPERTIES

LISTED = "__properties__"
"""Lists, on an entity, the properties that its mentions tell: others have written the rest, and it stays."""
_OWN = OWN_PROPERTIES | {LISTED, "merged_labels"}
_DIGITS = 15
"""Digits of a float that the engine's answers have; it stores them all."""
_TOLD = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})
OPTIONAL MATCH (e)-[m:MENTIONED_IN]->() WHERE m.properties <> ''
WITH id, e, m.properties AS told, coalesce(m.as_id, id) AS member, count(m) AS times
WITH id, e, collect([told, times, member]) AS told
OPTIONAL MATCH (o:__Unmerged__ {id: id})
RETURN id, told, e.__properties__, [k IN keys(e) WHERE NOT k IN $own | [k, e[k]]], coalesce(o.__keep__, '{}')
"""
_SET = "UNWIND $rows AS r MATCH (e:__Entity__ {{id: r[0]}}) SET {assignments} RETURN count(*)"


def derive_properties(graph: FalkorGraph, ids: Iterable[str], epoch: int) -> int:
    """Give entities the properties that their mentions tell; gives how many changed.

    Where mentions disagree, the same value wins whatever came first. What nothing tells any more goes, if a mention
    told it before; a row's entity has no other properties.
    """
    changes: defaultdict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
    for identity, told, listed, stored, keep in graph.ro_query(_TOLD, list(ids), own=sorted(_OWN)) if ids else ():
        before = dict(stored)
        picked = pick_told(((row, int(times), member) for row, times, member in told if row), identity, loads(keep))
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
    assignments = [f"e.{quote_label(n)} = r[{i}]" for i, n in enumerate(names, start=1)]
    # Where one query's clause removes several properties of an element, the engine (4.16.3) removes wrong ones.
    removing = any(value is None for row in rows for value in row)
    cypher = _SET.format(assignments=(" WITH e, r SET " if removing else ", ").join(assignments))
    return sum(run_fenced(graph, cypher, epoch, page) for page in fill_pages(rows))


def _spell(value: Any) -> str:
    """Spell a value with its type, 1 is neither 1.0 nor true, and as exactly as the engine gives it back."""
    return f"float {value:.{_DIGITS}g}" if isinstance(value, float) else repr(value)
