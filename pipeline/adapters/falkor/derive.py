"""Derives what an entity or relation says of itself from all that mentions or states it.

Names, descriptions, aliases, properties, facts and their chunks follow from a total order over the mentions and
supports, so they depend neither on the order of documents nor on redeliveries.
"""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.merged import merged_into
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.adapters.falkor.properties import derive_properties
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.adapters.falkor.stated import Ends, list_stated, resolve_ends
from pipeline.ids import KEY_SEPARATOR, key_of, relation_key, split_relation_key
from pipeline.resolve import canonical_key
from pipeline.write import pick_description, pick_name, spell_fact

# Who may say something else than its mentions do: most entities have one mention, say the same, and have no properties.
_DOUBTFUL = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})
OPTIONAL MATCH (e)-[m:MENTIONED_IN]->()
WITH e, count(m) AS mentions, min(m.name) AS name, min(m.description) AS description, count(m.properties) AS told
WITH e, told > 0 OR e.__properties__ IS NOT NULL AS described,
     coalesce(mentions <> 1 OR e.name <> name OR coalesce(e.description, '') <> coalesce(description, '')
              OR size(coalesce(e.aliases, [])) > 0 OR e.name IS NULL OR name IS NULL, false) AS doubtful
WHERE doubtful OR described
RETURN e.id, doubtful, described
"""
_ENTITIES = "UNWIND $rows AS id MATCH (e:__Entity__ {id: id}) RETURN id, e.name, e.description, e.aliases"
_NAMES = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[m:MENTIONED_IN]->() WHERE m.name <> ''
RETURN id, m.name, count(m), sum(CASE WHEN coalesce(m.as_id, id) = id THEN 1 ELSE 0 END)
"""
# By the judge of its merges.
_CHOSEN = "UNWIND $rows AS id MATCH (o:__Unmerged__ {id: id}) WHERE o.__chosen__ <> '' RETURN id, o.__chosen__"
# The longest by the engine, which then picks the smallest: descriptions of a hub's mentions stay there.
_DESCRIPTIONS = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})-[m:MENTIONED_IN]->()
WITH id, e, max(size(m.description)) AS longest
MATCH (e)-[m:MENTIONED_IN]->() WHERE size(m.description) = longest
RETURN id, min(m.description)
"""
_SET_ENTITIES = """
UNWIND $rows AS r MATCH (e:__Entity__ {id: r[0]})
SET e.name = r[1], e.description = r[2], e.aliases = r[3], e.canonical_key = r[4]
RETURN count(*)
"""
_DELETE_UNMENTIONED = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id}) WHERE outdegree(e, 'MENTIONED_IN') = 0
DELETE e RETURN count(*)
"""
_SUPPORTS = """
UNWIND $rows AS r MATCH (a:__Entity__ {id: r[0]}) MATCH (a)-[s:__SUPPORT__]->(c:Chunk) WHERE s.tgt IN r[1]
RETURN r[0], s.rel_type, s.tgt, c.id, s.description
"""
_ALL_SUPPORTS = """
UNWIND $rows AS id MATCH (a:__Entity__ {id: id}) MATCH (a)-[s:__SUPPORT__]->(c:Chunk)
RETURN id, s.rel_type, s.tgt, c.id, s.description
"""
_SEARCHED = 20
"""Targets that the engine looks for, one by one for each support; of more it gives all supports, in less time."""
_RELATIONS = """
UNWIND $rows AS r MATCH (a:__Entity__ {id: r[0]}) MATCH (b:__Entity__ {id: r[2]})
OPTIONAL MATCH (a)-[x:RELATES {rel_type: r[1]}]->(b)
RETURN r[0], r[1], r[2], a.name, b.name, [x.fact, x.description, x.src_name, x.tgt_name, x.source_chunk_ids]
"""
_SET_RELATIONS = """
UNWIND $rows AS r MATCH (a:__Entity__ {id: r[0]}) MATCH (b:__Entity__ {id: r[2]})
MERGE (a)-[x:RELATES {rel_type: r[1]}]->(b)
SET x.fact = r[3], x.description = r[4], x.src_name = r[5], x.tgt_name = r[6], x.source_chunk_ids = r[7]
RETURN count(*)
"""
# Asked again in the query that deletes: a writer may have stated it once more since it was read. Both ends are bound
# first, and no index is offered: the planner would go through all relations of a hub, or of a type, for each row.
_DELETE_UNSTATED = """
UNWIND $rows AS r MATCH (a:__Entity__ {id: r[1]})
OPTIONAL MATCH (a)-[s:__SUPPORT__]->()
WITH r, a, collect(DISTINCT s.rel_type + $separator + s.tgt) AS stated
UNWIND r[0] AS w
WITH a, w, stated WHERE none(one IN w[2] WHERE one IN stated)
MATCH (b:__Entity__ {id: w[1]})
WITH a, b, w MATCH (a)-[x:RELATES]->(b) WHERE coalesce(x.rel_type, '') = w[0]
DELETE x RETURN count(*)
"""
_DELETED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class _Statement:
    """What the supports of one relation say together."""

    description: str
    chunk_ids: tuple[str, ...]


def derive_entities(graph: FalkorGraph, ids: Sequence[str], epoch: int, *, settled: bool = False) -> int:
    """See `GraphCurator.derive_entities`; `settled` says that the engine has settled its labels just now."""
    found = graph.ro_query(_DOUBTFUL, list(dict.fromkeys(ids)))
    doubtful = [identity for identity, is_doubtful, _ in found if is_doubtful]
    stored = {row[0]: row[1:] for row in graph.ro_query(_ENTITIES, doubtful)}
    votes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    own: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for identity, name, count, own_count in graph.ro_query(_NAMES, list(stored)):
        votes[identity][name] = int(count)
        if own_count:
            own[identity][name] = int(own_count)
    descriptions = dict(graph.ro_query(_DESCRIPTIONS, list(stored)))
    chosen = dict(graph.ro_query(_CHOSEN, list(votes)))
    changed, renamed = [], []
    for identity, spellings in votes.items():
        names = _candidate_names(identity, spellings, own[identity])
        wanted = chosen.get(identity)
        name = wanted if wanted in names and not key_of(identity) else pick_name(names)
        derived = [name, descriptions.get(identity) or "", sorted(spellings.keys() - {name, key_of(identity)}) or None]
        before_name, before_description, before_aliases = stored[identity]
        if derived != [before_name, before_description or "", before_aliases or None]:
            changed.append([identity, *derived, canonical_key(name)])
        if name != before_name:
            renamed.append(identity)
    # Before the names change, so that a crash in between forgets no fact that spells an old one.
    stated = resolve_ends(graph, list_stated(graph, merged_into(graph, renamed)))
    touched = [("relation", relation_key(*ends)) for ends in sorted(stated)]
    mark_pending(graph, touched, secrets.token_hex(8), epoch)
    # A row's entity keeps no list of its properties, so it is always looked at.
    described = {identity for identity, _, is_described in found if is_described} | {one for one in ids if key_of(one)}
    total = _run_pages(graph, _SET_ENTITIES, changed, epoch) + derive_properties(graph, sorted(described), epoch)
    unmentioned = stored.keys() - votes.keys()
    if unmentioned and not settled:
        settle_labels(graph)
    return total + _run_pages(graph, _DELETE_UNMENTIONED, unmentioned, epoch)


def _candidate_names(identity: str, spellings: dict[str, int], own: dict[str, int]) -> dict[str, int]:
    """Give the spellings to choose among; a row keeps what tables call it, whatever was merged into it."""
    if not (key := key_of(identity)):
        return spellings
    # A table that only points at a row calls it by its key.
    told = ({name: n for name, n in some.items() if name != key} for some in (own, spellings))
    return next(filter(None, told), spellings)


def derive_relations(graph: FalkorGraph, ids: Sequence[str], epoch: int) -> int:
    """See `GraphCurator.derive_relations`; ids of entities that have been merged away are followed."""
    wanted = resolve_ends(graph, (split_relation_key(key) for key in ids))
    members = merged_into(graph, {target for _, _, target in wanted})
    statements = _read_statements(graph, wanted, members)
    changed: list[list[Any]] = []
    unstated: defaultdict[str, list[Any]] = defaultdict(list)
    for source, rel_type, target, source_name, target_name, stored in graph.ro_query(_RELATIONS, sorted(wanted)):
        said = statements.get((source, rel_type, target))
        if said is None:
            stating = [f"{rel_type}{KEY_SEPARATOR}{as_id}" for as_id in sorted(members[target])]
            unstated[source].append([rel_type, target, stating])
            continue
        fact = spell_fact(source_name, rel_type, target_name, said.description)
        derived = [fact, said.description, source_name, target_name, list(said.chunk_ids)]
        if derived != stored:
            changed.append([source, rel_type, target, *derived])
    rows = [[list(some), source] for source, gone in unstated.items() for some in batched(gone, _DELETED_AT_ONCE)]
    deleted = (run_fenced(graph, _DELETE_UNSTATED, epoch, page, separator=KEY_SEPARATOR) for page in fill_pages(rows))
    return _run_pages(graph, _SET_RELATIONS, changed, epoch) + sum(deleted)


def _read_statements(
    graph: FalkorGraph, wanted: Collection[Ends], members: dict[str, set[str]]
) -> dict[Ends, _Statement]:
    """Read the supports of relations, which name their target as it was extracted."""
    targets: defaultdict[str, set[str]] = defaultdict(set)
    target_of = {as_id: target for target, as_ids in members.items() for as_id in as_ids}
    for source, _, target in wanted:
        targets[source] |= members[target]
    rows = [[source, sorted(as_ids)] for source, as_ids in sorted(targets.items()) if len(as_ids) <= _SEARCHED]
    related = [source for source, as_ids in sorted(targets.items()) if len(as_ids) > _SEARCHED]
    chunks: defaultdict[Ends, set[str]] = defaultdict(set)
    descriptions: defaultdict[Ends, set[str]] = defaultdict(set)
    found = (
        *graph.ro_query(_SUPPORTS, rows),
        *(row for one in related for row in graph.ro_query(_ALL_SUPPORTS, [one])),
    )
    for source, rel_type, as_id, chunk, description in found:
        if as_id not in target_of:
            continue
        ends = (source, rel_type, target_of[as_id])
        chunks[ends].add(chunk)
        descriptions[ends].add(description or "")
    return {ends: _Statement(pick_description(descriptions[ends]), tuple(sorted(chunks[ends]))) for ends in chunks}


def _run_pages(graph: FalkorGraph, cypher: str, rows: Iterable[Any], epoch: int) -> int:
    return sum(run_fenced(graph, cypher, epoch, page) for page in fill_pages(rows))
