"""Which relations of entities passages state: those of ours, which follow from their supports.

Any other relation was written by others. It is none of ours to derive, or to delete as nothing states it.
"""

from collections.abc import Collection, Iterable, Mapping

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pages import fill_pages

# Wherever an entity is an end of a support, the passage mentions it: so only its own passages are looked at.
_STATED = """
UNWIND $rows AS r MATCH (e:__Entity__ {id: r[1]})-[m:MENTIONED_IN]->(c) WHERE coalesce(m.as_id, r[1]) IN r[0]
WITH DISTINCT r, c MATCH (c)<-[s:__SUPPORT__]-() WHERE s.src IN r[0] OR s.tgt IN r[0]
RETURN DISTINCT s.src, s.rel_type, s.tgt
"""

type Ends = tuple[str, str, str]


def list_stated(graph: FalkorGraph, members: Mapping[str, Collection[str]]) -> set[Ends]:
    """List the relations that passages state of entities, by the ids that they were extracted with.

    `members` gives of each entity whose mentions count: itself, and what was merged into it.
    """
    rows = [[sorted(as_ids), identity] for identity, as_ids in sorted(members.items())]
    return {(row[0], row[1], row[2]) for page in fill_pages(rows) for row in graph.ro_query(_STATED, page)}


def resolve_ends(graph: FalkorGraph, stated: Iterable[Ends]) -> set[Ends]:
    """Give the relations that extracted ones are now; what merges have closed to a loop is none."""
    found = set(stated)
    merged = resolve_merged(graph, {end for source, _, target in found for end in (source, target)})
    resolved = ((merged.get(source, source), kind, merged.get(target, target)) for source, kind, target in found)
    return {(source, kind, target) for source, kind, target in resolved if source != target}
