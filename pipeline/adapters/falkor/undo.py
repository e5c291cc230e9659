"""Takes what was merged away out again: one query that gives it back all that says it was extracted as it.

Mentions keep their extracted id, supports those of both ends, and `__Unmerged__` nodes what an entity was by
itself: so an undo needs no record of what a merge moved, and undoing merges in any order comes to the same.
"""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import batched
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.derive import derive_entities, derive_relations
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.returning import Returning, spell_returning
from pipeline.adapters.falkor.schema import quote_label
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.adapters.falkor.stated import list_stated
from pipeline.adapters.falkor.united import CHOSEN, KEPT, LABELS, MERGED_LABELS, select_foreign
from pipeline.adapters.falkor.unmerged import Changes, Family, differing, read_family
from pipeline.adapters.falkor.verdicts import put_verdicts
from pipeline.errors import LeaseLost
from pipeline.ids import relation_key
from pipeline.models.judging import PERSON, Judged, Verdict, pair_of

_DERIVED_AT_ONCE = 2_000
"""Relations derived between two signs of life: a second, as all supports of a hub are read each time."""
UNDONE = "undone"
"""The reason of the verdict that an undo leaves."""
_INTO = "MATCH (m:__Merged__ {id: $id}) RETURN m.into"
# A merge of former versions left no copies: what they held beside their mentions stays with the survivor.
_ASSUME = """
UNWIND $rows AS id MATCH (r:__Entity__ {id: $root})
MERGE (o:__Unmerged__ {id: id}) ON CREATE SET o.type = r.type, o.name = r.name, o.__labels__ = labels(r)
RETURN count(*)
"""
_NODE = "MATCH (e:__Entity__ {id: $id}) RETURN labels(e), properties(e)"
_UNDO = """
MATCH (m:__Merged__ {{id: $id}}) WHERE m.into = $into
MATCH (r:__Entity__ {{id: $root}})
MATCH (o:__Unmerged__ {{id: $id}})
OPTIONAL MATCH (y:__Entity__ {{id: $id}})
WITH m, r, o, y WHERE y IS NULL
CREATE (x:__Entity__{labels})
SET x = properties(o)
WITH m, r, x
{changes}
CALL {{ WITH r, x MATCH (r)-[a:MENTIONED_IN]->(c) WHERE a.as_id IN $members
       CREATE (x)-[b:MENTIONED_IN]->(c) SET b = properties(a) DELETE a
       RETURN count(*) AS mentions }}
CALL {{ WITH r, x MATCH (r)-[f:__SUPPORT__]->(c) WHERE f.src IN $members
       CREATE (x)-[g:__SUPPORT__]->(c) SET g = properties(f) DELETE f
       RETURN count(*) AS supports }}
{returning}
{removals}
WITH m, r
CALL {{ WITH m UNWIND $pending AS thing
       MERGE (p:__Pending__ {{id: thing[0]}}) ON CREATE SET p.kind = thing[1], p.mark = $mark
       ON MATCH SET p.mark = $mark
       RETURN count(*) AS marked }}
CALL {{ WITH m UNWIND $unneeded AS gone MATCH (q:__Unmerged__ {{id: gone}}) DELETE q RETURN count(*) AS forgotten }}
DELETE m
RETURN count(*)
"""
# What it went into is gone itself, with all that mentioned either.
_FORGET = """
MATCH (m:__Merged__ {id: $id}) WHERE m.into = $into
OPTIONAL MATCH (q:__Unmerged__) WHERE q.id IN $unneeded
DELETE m, q RETURN count(*)
"""


def undo_merge(
    graph: FalkorGraph, duplicate: str, epoch: int, progress: Callable[[], object], *, for_good: bool
) -> bool:
    """See `GraphMerges.undo`."""
    found = graph.ro_query(_INTO, id=duplicate)
    if not found:
        return False
    into = found[0][0]
    root = resolve_merged(graph, [duplicate])[duplicate]
    family = read_family(graph, root)
    node = graph.ro_query(_NODE, id=root)
    if for_good:
        # Before, so that a crash in between leaves no pair that the next finalize merges again.
        put_verdicts(graph, [Judged(pair_of(duplicate, into), Verdict.DIFFERENT, UNDONE, PERSON)], epoch)
    if not node:
        gone = run_fenced(graph, _FORGET, epoch, id=duplicate, into=into, unneeded=_unneeded(family, duplicate))
        return gone > 0
    if unknown := [one for one in family.members(root) if one not in family.own]:
        run_fenced(graph, _ASSUME, epoch, unknown, root=root)
        family = read_family(graph, root)
    progress()
    returning = spell_returning(graph, family, duplicate)
    relations = sorted({*_touched(graph, family, duplicate), *returning.relations})
    settle_labels(graph)
    progress()
    if not _take_out(graph, family, duplicate, into, node[0], returning, relations, epoch):
        return False
    # All of it is pending: this is for the readers until the next finalize, which ends what a crash leaves of it. So a
    # lease that is lost from here on is no failure: it is undone.
    with suppress(LeaseLost):
        progress()
        derive_entities(graph, [duplicate, root], epoch, settled=True)
        for page in batched(relations, _DERIVED_AT_ONCE):
            progress()
            derive_relations(graph, page, epoch)
    return True


def _take_out(
    graph: FalkorGraph,
    family: Family,
    duplicate: str,
    into: str,
    node: Sequence[Any],
    returning: Returning,
    relations: Sequence[str],
    epoch: int,
) -> bool:
    labels, properties = node
    remaining = family.without(duplicate)
    changes = Changes()
    for internal in (LABELS, CHOSEN, KEPT, "embedded_hash"):
        changes.set("x", internal, None)
    before, after = family.foreign(family.root), remaining.foreign(family.root)
    present = select_foreign(properties)
    # What others have changed since then is theirs.
    for name in sorted(differing(before, after) - differing(before, present)):
        changes.set("r", name, after.get(name))
    foreign = family.foreign(duplicate)
    for name in sorted(differing(family.own[duplicate].foreign, foreign)):
        changes.set("x", name, foreign.get(name))
    for variable, tree, identity in (("r", remaining, family.root), ("x", family, duplicate)):
        gained = sorted(tree.labels(identity) - tree.own[identity].labels)
        changes.set(variable, MERGED_LABELS, gained or None)
    lost = (family.labels(family.root) - remaining.labels(family.root)) & set(labels)
    members = family.members(duplicate)
    cypher = _UNDO.format(
        labels="".join(f":{quote_label(one)}" for one in sorted(family.labels(duplicate) - {"__Entity__"})),
        changes=changes.spell("m, r, x"),
        returning=returning.clauses,
        removals="".join(f"REMOVE r:{quote_label(one)} " for one in sorted(lost)),
    )
    pending = [(one, "entity") for one in (duplicate, family.root)] + [(one, "relation") for one in relations]
    return (
        run_fenced(
            graph,
            cypher,
            epoch,
            id=duplicate,
            into=into,
            root=family.root,
            members=members,
            pending=pending,
            unneeded=_unneeded(family, duplicate),
            mark=secrets.token_hex(8),
            **changes.values,
            **returning.values,
        )
        > 0
    )


def _unneeded(family: Family, duplicate: str) -> list[str]:
    """Name the copies of those that are no more part of any merge, once one is undone."""
    remaining = family.without(duplicate)
    return [one for one in (duplicate, family.root) if len(remaining.members(one)) == 1]


def _touched(graph: FalkorGraph, family: Family, duplicate: str) -> list[str]:
    """Name the relations that an undo changes: as they are, and as they will be."""
    found = list_stated(graph, {family.root: family.members(duplicate)})
    now = resolve_merged(graph, {end for source, _, target in found for end in (source, target)})
    leaving = set(family.members(duplicate))
    keys: set[str] = set()
    for source, kind, target in found:
        ends = now.get(source, source), now.get(target, target)
        then = [duplicate if one in leaving else end for one, end in zip((source, target), ends, strict=True)]
        keys.update(relation_key(a, kind, b) for a, b in (ends, then) if a != b)
    return sorted(keys)
