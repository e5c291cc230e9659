"""Reads passages by their ids as they are stored: current ones, superseded ones that are kept, and neighbours."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pipeline import ids
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.read_places import spell_heading
from pipeline.adapters.falkor.read_statements import STANDS
from pipeline.models import ExactPassage, PassageStatus
from pipeline.ports.reading import MOST_AROUND

_MOST_RENAMES = 8
"""How often a document's change of name is followed; whoever renames to and fro makes circles."""
_PASSAGE = f"c.id, c.text, d.id, d.path, coalesce(part.index, c.index, 0), {', '.join(STANDS.values())}"
# Of a version that was replaced and is not cleared yet, the node tells by `kept_version` that its passages are kept.
_STORED = f"""
UNWIND $rows AS id MATCH (c:Chunk {{id: id}})
WITH c MATCH (d:Document)-[part:PART_OF]->(c) WHERE d.content_hash <> '' OR d.kept_version <> ''
RETURN {_PASSAGE}, coalesce(d.content_hash, ''), coalesce(d.kept_version, ''), coalesce(d.replaced_at, 0)
"""
_KEPT = """
UNWIND $rows AS id MATCH (p:__Past__ {id: id})
WITH p MATCH (d:Document {id: p.document_id}) WHERE d.content_hash <> ''
RETURN p.id, coalesce(p.moved_to, ''), p.text, p.document_id, p.path, coalesce(p.index, 0), p.page_first,
       p.start_char, p.end_char, p.heading_path, coalesce(p.version, ''), coalesce(p.replaced_at, 0)
"""
_AROUND = f"""
UNWIND $rows AS id MATCH (c:Chunk {{id: id}})
WITH c MATCH (d:Document)-[part:PART_OF]->(c) WHERE d.content_hash <> ''
WITH d, coalesce(part.index, c.index, 0) AS place, {STANDS["heading_path"]} AS heading ORDER BY d.id LIMIT 1
MATCH (d)-[part:PART_OF]->(c:Chunk)
WITH d, part, c, coalesce(part.index, c.index, 0) AS place, abs(coalesce(part.index, c.index, 0) - place) AS distance,
     heading
WHERE distance <= $reach OR size(heading) > 0 AND {STANDS["heading_path"]} = heading
RETURN {_PASSAGE}, d.content_hash, '', 0 ORDER BY distance, place, c.id LIMIT {MOST_AROUND}
"""


def read_exact(graph: FalkorGraph, identities: Sequence[str]) -> list[ExactPassage]:
    """See `GraphReader.exact`; the id of each is the one that it has now, where its document was renamed."""
    found: dict[str, ExactPassage] = {}
    # Under which id each is looked for.
    wanted = {identity: _base(identity) for identity in identities}
    for _ in range(_MOST_RENAMES):
        known = _read_stored(graph, wanted.values())
        missing = {identity: name for identity, name in wanted.items() if name not in known}
        kept, moved = _read_kept(graph, missing.values()) if missing else ({}, {})
        found |= {one: passage for one, name in wanted.items() if (passage := known.get(name) or kept.get(name))}
        wanted = {identity: moved[name] for identity, name in missing.items() if name in moved}
        if not wanted:
            break
    return [found.get(identity) or ExactPassage(identity, PassageStatus.GONE) for identity in identities]


def read_around(graph: FalkorGraph, identity: str, reach: int) -> list[ExactPassage]:
    """See `GraphReader.around`; where there are too many under the heading, the nearest are listed."""
    (asked,) = read_exact(graph, [identity])
    rows = graph.ro_query(_AROUND, _names(asked.id), reach=reach) if asked.status is PassageStatus.CURRENT else ()
    return sorted((_stored(*row) for row in rows), key=lambda one: (one.index, one.id))


def _base(identity: str) -> str:
    """Give the id that a passage has once its version is the only one."""
    return identity.removesuffix(ids.VERSION_SUFFIX)


def _names(base: str) -> list[str]:
    return [base, base + ids.VERSION_SUFFIX]


def _read_stored(graph: FalkorGraph, bases: Iterable[str]) -> dict[str, ExactPassage]:
    rows = graph.ro_query(_STORED, [name for base in dict.fromkeys(bases) for name in _names(base)])
    # A version that is current comes last, and so is taken.
    passages = sorted(
        (_stored(*row) for row in rows), key=lambda one: (one.status is PassageStatus.CURRENT, one.document)
    )
    return {one.id: one for one in passages}


def _read_kept(graph: FalkorGraph, bases: Iterable[str]) -> tuple[dict[str, ExactPassage], dict[str, str]]:
    """Read what is kept of superseded passages, and which are found under another id now."""
    kept: dict[str, ExactPassage] = {}
    moved: dict[str, str] = {}
    for identity, to, text, *place, version, replaced_at in graph.ro_query(_KEPT, list(dict.fromkeys(bases))):
        if to:
            moved[identity] = to
        else:
            kept[identity] = _passage(PassageStatus.SUPERSEDED, identity, text, place, version, replaced_at)
    return kept, moved


def _stored(*row: Any) -> ExactPassage:
    identity, text, *place, content_hash, kept_version, replaced_at = row
    if content_hash:
        return _passage(PassageStatus.CURRENT, identity, text, place, content_hash, 0)
    passage = _passage(PassageStatus.SUPERSEDED, identity, text, place, kept_version, replaced_at)
    return replace(passage, document=ids.document_of(passage.document))


def _passage(
    status: PassageStatus, identity: str, text: str | None, place: Sequence[Any], version: str, replaced_at: int
) -> ExactPassage:
    document, path, index, page, start, end, heading = place
    return ExactPassage(
        id=_base(identity),
        status=status,
        text=text or "",
        source=path or "",
        page=page,
        start=start,
        end=end,
        heading=spell_heading(heading),
        document=document,
        version=version,
        index=int(index),
        replaced_at=int(replaced_at),
    )
