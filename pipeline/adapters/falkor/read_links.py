"""Relations as evidence, with the passages that state them: those nearest to a question, and those of entities.

A merge moves an entity's supports to the one that is kept, but they name the other end by its former id. So which
passage states what is settled by the map of merges; a statement within a scope only narrows candidates down.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.falkor import read_links_statements as statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import merged_into
from pipeline.adapters.falkor.read_places import WIDEST, WIDEST_IN_SCOPE, Place, evidence_at, read_place, widen
from pipeline.adapters.falkor.read_scope import within
from pipeline.ids import relation_key
from pipeline.models import Evidence, FoundFact, FoundRelation, Scope
from pipeline.ports import Vectors

_HUB_RELATIONS = 1_000
"""An entity with more relations joins nothing in particular."""
_HUBS = 5

Row = Sequence[Any]
"""Source, type, target, text, similarity, ids of passages."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A relation that may be shown."""

    source: str
    type: str
    target: str
    text: str
    similarity: float
    places: Mapping[str, Place]
    """By passage; never empty."""

    def evidence(self, kind: str) -> Evidence:
        """Cite it where the first passage by id states it."""
        key = relation_key(self.source, self.type, self.target)
        return evidence_at(self.places[min(self.places)], kind, key, self.text, self.similarity)


def nearest_facts(
    graph: FalkorGraph,
    ask_index: Callable[[int], list[list[Any]]],
    vector: Vectors,
    k: int,
    scope: Scope,
    *,
    narrow: bool,
) -> list[FoundFact]:
    """See `GraphReader.nearest_facts`; `ask_index` gives so many rows of `NEAREST_FACTS`.

    Within a narrow scope all are compared, and within another one if the index does not come to enough of them.
    """

    def ask_all(size: int) -> list[list[Any]]:
        return sorted(ask_index(size), key=lambda row: (-row[4], *row[:3]))

    def ask_scope(size: int) -> list[list[Any]]:
        return _candidates(graph, statements.FACTS, scope, vector, size)

    widest = WIDEST_IN_SCOPE if scope else WIDEST
    found = [] if narrow else _widen_stated(graph, ask_all, k, scope, widest=widest)
    if scope and len(found) < k:
        found = _widen_stated(graph, ask_scope, k, scope)
    return [FoundFact(one.evidence("fact"), tuple(sorted(one.places))) for one in found]


def relations_of(
    graph: FalkorGraph, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope
) -> list[FoundRelation]:
    """See `GraphReader.relations_of`."""
    wanted = set(entity_ids)
    members = merged_into(graph, wanted) if scope else {}
    rows = [[identity, sorted(members[identity])] if scope else identity for identity in dict.fromkeys(entity_ids)]

    def ask(size: int) -> list[list[Any]]:
        if not scope:
            return graph.ro_query(statements.RELATIONS_OF, rows, vector=vector, k=size)
        return _candidates(graph, statements.RELATIONS, scope, vector, size, rows)

    found = _widen_stated(graph, ask, k, scope, wanted) if rows else []
    return [FoundRelation(one.evidence("relation"), one.source, one.target) for one in found]


def siblings(graph: FalkorGraph, entity_ids: Sequence[str], k: int, scope: Scope) -> list[str]:
    """See `GraphReader.siblings`; an entity with very many relations joins nothing."""
    given = set(entity_ids)
    hubs = graph.ro_query(statements.HUBS, sorted(given), hub=_HUB_RELATIONS, k=_HUBS)
    joined: defaultdict[str, dict[str, str]] = defaultdict(dict)
    rows = graph.ro_query(statements.RELATIONS_OF_HUBS, [hub for (hub,) in hubs]) if hubs else []
    names = dict(pair for row in rows for pair in ((row[0], row[6]), (row[2], row[7])))
    for one in _stated(graph, rows, scope):
        joined[one.source][one.target] = names[one.target]
        joined[one.target][one.source] = names[one.source]
    found = {
        (name, identity)
        for (hub,) in hubs
        if len((joined[hub].keys() - {hub}) & given) > 1
        for identity, name in joined[hub].items()
        if identity not in given and identity != hub
    }
    return [identity for _, identity in sorted(found)[:k]]


def _candidates(
    graph: FalkorGraph,
    of: statements.Within,
    scope: Scope,
    vector: Vectors,
    size: int,
    rows: Sequence[Any] | None = None,
) -> list[list[Any]]:
    """Ask for the relations of a scope, most similar first."""

    def ask(statement: str) -> list[list[Any]]:
        cypher, parameters = within(statement, scope)
        return graph.ro_query(cypher, rows, vector=vector, k=size, **parameters)

    found = ask(of.supported)
    if graph.ro_query(statements.MERGES)[0][0]:
        known = {tuple(row[:3]) for row in found}
        found += [row for row in ask(of.merged) if tuple(row[:3]) not in known]
        found.sort(key=lambda row: (-row[4], *row[:3]))
    return found[:size] or ask(of.derived)


def _widen_stated(
    graph: FalkorGraph,
    ask: Callable[[int], list[list[Any]]],
    k: int,
    scope: Scope,
    ends: set[str] | None = None,
    widest: int = WIDEST,
) -> list[Stated]:
    """Find the k first that a passage states, and that have one of the ends where such are given."""

    def ask_stated(size: int) -> list[tuple[float, Stated | None]]:
        rows = ask(size)
        stated = {(one.source, one.type, one.target): one for one in _stated(graph, rows, scope)}
        return [
            (row[4], None if ends is not None and not ends & {row[0], row[2]} else stated.get(tuple(row[:3])))
            for row in rows
        ]

    return widen(ask_stated, k, widest)


def _stated(graph: FalkorGraph, rows: Sequence[Row], scope: Scope) -> list[Stated]:
    """Find where relations are stated, in their order; unstated ones are left out."""
    members = merged_into(graph, {row[2] for row in rows})
    supports = [[i, row[0], row[1], sorted(members[row[2]])] for i, row in enumerate(rows)]
    places = _ask_places(graph, statements.SUPPORTS, supports, scope)
    derived = [[i, row[5]] for i, row in enumerate(rows) if i not in places]
    without = _ask_places(graph, statements.STATING_PASSAGES, derived, scope)
    places |= without
    bare = {i: f"({_name_in(row[0])}, {row[1]}, {_name_in(row[2])})" for i, row in enumerate(rows)}
    # What is stored is told of all documents.
    texts = bare if scope else {i: row[3] or bare[i] for i, row in enumerate(rows)}
    if scope:
        supported = [row for row in supports if row[0] in places.keys() - without]
        texts |= _texts_of(graph, [[*row, min(places[row[0]])] for row in supported])
    return [Stated(row[0], row[1], row[2], texts[i], row[4], places[i]) for i, row in enumerate(rows) if i in places]


def _ask_places(graph: FalkorGraph, statement: str, rows: list[list[Any]], scope: Scope) -> dict[int, dict[str, Place]]:
    places: defaultdict[int, dict[str, Place]] = defaultdict(dict)
    cypher, parameters = within(statement, scope)
    for position, start, end, *columns in graph.ro_query(cypher, rows, **parameters) if rows else ():
        place = read_place(columns)
        places[position][place.passage] = place.narrow((start, end))
    return dict(places)


def _texts_of(graph: FalkorGraph, rows: list[list[Any]]) -> dict[int, str]:
    """Tell relations as one passage does, by position."""
    texts: dict[int, str] = {}
    for position, rel_type, source, target, source_name, target_name, description in (
        graph.ro_query(statements.TEXTS_WITHIN, rows) if rows else ()
    ):
        ends = (source_name or _name_in(source), target_name or _name_in(target))
        texts.setdefault(position, f"({ends[0]}, {rel_type}, {ends[1]}): {description or ''}".removesuffix(": "))
    return texts


def _name_in(identity: str) -> str:
    """Read the name of which an entity's id was made."""
    return identity.rpartition("__")[0] or identity
