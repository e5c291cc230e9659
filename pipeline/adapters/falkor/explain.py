"""Tells of merges: which there are, and what went into an entity."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.unmerged import Family, read_family
from pipeline.ports.merges import Collision, Contribution, Explanation, MentionPlace, MergeReason, MergeRecord
from pipeline.write import pick_name, pick_properties

_RECORD = """
RETURN m.id, m.into, m.name, m.into_name, m.label, m.phase, m.reason, m.number, m.judge, m.at, m.collisions
"""
_LIST = f"MATCH (m:__Merged__) WHERE m.id > $after {_RECORD} ORDER BY m.id LIMIT $limit"
_LIST_OF_ONE = f"MATCH (m:__Merged__) WHERE m.id > $after AND m.number = $number {_RECORD} ORDER BY m.id LIMIT $limit"
_RECORDS = f"UNWIND $rows AS id MATCH (m:__Merged__ {{id: id}}) {_RECORD}"
_NAME = "MATCH (e:__Entity__ {id: $id}) RETURN e.name"
_TOLD = """
MATCH (e:__Entity__ {id: $id})-[m:MENTIONED_IN]->()
RETURN coalesce(m.as_id, e.id), m.name, m.properties, count(m)
"""
_FACTS = "MATCH (e:__Entity__ {id: $id})-[s:__SUPPORT__]->() RETURN s.src, count(s)"
_PLACES = """
MATCH (e:__Entity__ {id: $id})-[m:MENTIONED_IN]->(c:Chunk) WHERE coalesce(m.as_id, e.id) = $member
OPTIONAL MATCH (d:Document)-[:PART_OF]->(c) WHERE d.content_hash <> ''
WITH m, c, d ORDER BY d.id, c.index, c.id LIMIT $limit
RETURN d.id, d.path, c.id, c.start_char, m.spans, c.text
"""
_AROUND = 40
"""Characters shown on both sides of a name."""


def list_merges(graph: FalkorGraph, after: str, limit: int, number: int) -> list[MergeRecord]:
    """See `GraphMerges.merges`."""
    rows = graph.ro_query(_LIST_OF_ONE if number else _LIST, after=after, limit=limit, number=number)
    return [_record(row) for row in rows]


def explain_entity(graph: FalkorGraph, identity: str, places: int) -> Explanation | None:
    """See `GraphMerges.explain`."""
    root = resolve_merged(graph, [identity]).get(identity, identity)
    found = graph.ro_query(_NAME, id=root)
    if not found and root == identity:
        return None
    family = read_family(graph, root)
    members = family.members(root)
    records = [_record(row) for row in graph.ro_query(_RECORDS, members)]
    return Explanation(
        id=root,
        name=(found[0][0] or "") if found else "",
        merges=tuple(sorted(records, key=lambda one: (one.at, one.id))),
        members=tuple(_contributions(graph, family, places)),
    )


def _contributions(graph: FalkorGraph, family: Family, places: int) -> Iterable[Contribution]:
    names: defaultdict[str, dict[str, int]] = defaultdict(dict)
    told: defaultdict[str, dict[str, int]] = defaultdict(dict)
    mentions: defaultdict[str, int] = defaultdict(int)
    for member, name, properties, count in graph.ro_query(_TOLD, id=family.root):
        mentions[member] += int(count)
        names[member][name or ""] = names[member].get(name or "", 0) + int(count)
        if properties:
            told[member][properties] = told[member].get(properties, 0) + int(count)
    facts = {source: int(count) for source, count in graph.ro_query(_FACTS, id=family.root)}
    for member in (family.root, *sorted(set(family.members(family.root)) - {family.root})):
        own = family.own.get(member)
        foreign: Mapping[str, Any] = own.foreign if own else {}
        yield Contribution(
            id=member,
            name=pick_name(names[member]) if member in names else "",
            mentions=mentions[member],
            facts=facts.get(member, 0),
            properties=dict(sorted({**foreign, **pick_properties(told[member])}.items())),
            places=tuple(_read_places(graph, family.root, member, places)),
        )


def _read_places(graph: FalkorGraph, root: str, member: str, limit: int) -> Iterable[MentionPlace]:
    for document, path, chunk, begin, spans, text in graph.ro_query(_PLACES, id=root, member=member, limit=limit):
        start, end = next(iter(orjson.loads(spans or "[]")), (0, 0))
        quote = " ".join(text[max(0, start - _AROUND) : end + _AROUND].split())
        first, last = (None, None) if begin is None else (begin + start, begin + end)
        yield MentionPlace(document or "", path or "", chunk, first, last, quote)


def _record(row: list[Any]) -> MergeRecord:
    identity, into, name, into_name, label, phase, reason, number, judge, at, collisions = row
    return MergeRecord(
        identity,
        into,
        name or "",
        into_name or "",
        label or "",
        MergeReason(phase or "", reason or "", int(number or 0), judge or ""),
        int(at or 0),
        tuple(Collision(**one) for one in orjson.loads(collisions or "[]")),
    )
