"""What merges have left: which entity an id that is gone now stands for, and the way back.

A merge writes `(:__Merged__ {id, into})`; the one merged into may be merged later, so both ways are
followed to the end. Merges need the exclusive lease, so the map is stable under any other.
"""

from collections.abc import Collection

from pipeline.adapters.falkor.client import FalkorGraph

_FEW = 500
"""Merges that are read all at once for `_MANY` ids: that takes no longer than to look for the ids among them."""
_MANY = 100
_SOME = "MATCH (m:__Merged__) RETURN m.id, m.into LIMIT $few"
_FORWARD = "UNWIND $rows AS id MATCH (m:__Merged__ {id: id}) RETURN m.id, m.into"
_BACKWARD = "UNWIND $rows AS id MATCH (m:__Merged__ {into: id}) RETURN m.id, m.into"


def resolve_merged(graph: FalkorGraph, ids: Collection[str]) -> dict[str, str]:
    """Map the ids that have been merged away to the entities they now belong to; others are left out."""
    links = _follow(graph, _FORWARD, ids, found=1)
    return {identity: _end(identity, links) for identity in ids if identity in links}


def merged_into(graph: FalkorGraph, ids: Collection[str]) -> dict[str, set[str]]:
    """Map each id to itself and everything that has been merged into it, over any number of steps."""
    links = _follow(graph, _BACKWARD, ids, found=0)
    members = {identity: {identity} for identity in ids}
    wanted = set(ids)
    for identity in links:
        for step in _steps(identity, links):
            if step in wanted:
                members[step].add(identity)
    return members


def _follow(graph: FalkorGraph, cypher: str, ids: Collection[str], *, found: int) -> dict[str, str]:
    """Collect the links that lead on from ids, and maybe others; the next step starts from the column `found`."""
    if len(ids) >= _MANY:
        some = graph.ro_query(_SOME, few=_FEW)
        if len(some) < _FEW:
            return dict(some)  # all there are
    links: dict[str, str] = {}
    seen: set[str] = set()
    frontier = set(ids)
    while frontier:
        seen |= frontier
        rows = graph.ro_query(cypher, sorted(frontier))
        links.update((identity, into) for identity, into in rows)
        frontier = {row[found] for row in rows} - seen
    return links


def _end(identity: str, links: dict[str, str]) -> str:
    return _steps(identity, links)[-1]


def _steps(identity: str, links: dict[str, str]) -> list[str]:
    """Walk from an id to the end of its links; a circle, which no merge makes, ends where it closes."""
    steps = {identity: None}
    while (identity := links.get(identity, identity)) not in steps:
        steps[identity] = None
    return list(steps)
