"""Retrieval's side of a graph: searches by vector, by word and along mentions, all by GRAPH.RO_QUERY."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from pipeline.adapters.falkor import read_links
from pipeline.adapters.falkor import read_statements as statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.read_exact import read_around, read_exact
from pipeline.adapters.falkor.read_links_statements import NEAREST_FACTS
from pipeline.adapters.falkor.read_places import WIDEST, WIDEST_IN_SCOPE, evidence_at, read_place, widen
from pipeline.adapters.falkor.read_scope import within
from pipeline.adapters.falkor.run_cypher import Vocabulary, run_checked
from pipeline.adapters.falkor.schema import IndexState, index_states
from pipeline.errors import GraphRejected
from pipeline.models import (
    Evidence,
    ExactPassage,
    FoundFact,
    FoundRelation,
    GraphRecord,
    Scope,
    WordMatch,
    WordMatches,
)
from pipeline.ports import Vectors

_VECTOR, _FULLTEXT = "VECTOR", "FULLTEXT"
_SEARCH_INDEXES = {
    ("Chunk", _VECTOR): "passages by meaning",
    ("Chunk", _FULLTEXT): "passages by word",
    ("__Entity__", _VECTOR): "entities by meaning",
    ("__Entity__", _FULLTEXT): "entities by word",
    ("RELATES", _VECTOR): "facts",
}

_OPENING_CHARS = 8
"""An entity named this early opens its passage; leaves room for an article, a heading's marks, a quotation mark."""
_HUB_MENTIONS = 1_000
"""An entity mentioned oftener links nothing in particular, and would cost seconds to follow."""
_NARROW_PASSAGES = 500
"""To compare all that so many passages state costs less than to look for it in an index of everything (a tenth of a
second on a busy core)."""
_COMMON_MATCHES = 5_000
"""Where a word is in so many elements, the rest of them is not counted (5 ms a thousand)."""
_AS_WRITTEN = ("{}", "“{}", "{}”", "“{}”", "‘{}", "{}’", "‘{}’", "{}’s")
"""How a word may stand in typeset text."""
_DESCRIPTION_FACTOR = 0.3
"""What a word of an entity's description counts beside one of its name."""


class FalkorReader:
    """Implements `pipeline.ports.GraphReader` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph
        self._vocabulary = Vocabulary(graph)

    def gaps(self) -> list[str]:
        """See `GraphReader.gaps`."""
        states = index_states(self._graph)
        found = [gap for label, kind in _SEARCH_INDEXES if (gap := _gap(states, label, kind))]
        pending = int(self._graph.ro_query(statements.PENDING)[0][0])
        if pending:
            found.append(f"{pending} elements are not finalized yet: some have no vector, or are not merged.")
        return found

    def record(self) -> GraphRecord | None:
        """See `GraphReader.record`."""
        found = self._graph.ro_query(statements.RECORD)
        return GraphRecord(*found[0]) if found else None

    def has_documents(self, scope: Scope) -> bool:
        """See `GraphReader.has_documents`."""
        return bool(self._within(statements.HAS_DOCUMENTS, scope))

    def nearest_passages(self, vector: Vectors, k: int, scope: Scope) -> list[str]:
        """See `GraphReader.nearest_passages`."""
        if scope:
            rows = self._within(statements.NEAREST_PASSAGES_WITHIN, scope, vector=vector, k=k)
            return [identity for (identity,) in rows]

        def ask(size: int) -> list[tuple[float, str | None]]:
            rows = self._search("Chunk", _VECTOR, statements.NEAREST_PASSAGES, vector=vector, k=size)
            ranked = sorted((distance, identity, written) for identity, distance, written in rows)
            return [(-distance, identity if written else None) for distance, identity, written in ranked]

        return widen(ask, k)

    def match_passages(self, words: Sequence[str], k: int, scope: Scope) -> WordMatches:
        """See `GraphReader.match_passages`."""
        total = self._count_passages(scope)
        cypher, parameters = within(statements.MATCH_PASSAGES_WITHIN if scope else statements.MATCH_PASSAGES, scope)
        spelled = [_spell_word(word) for word in words]
        rows = self._match("Chunk", cypher, rows=spelled, k=k, total=total, **parameters)
        found = tuple(WordMatch(identity, text, tuple(words[i] for i, _ in hits)) for identity, text, hits, _ in rows)
        frequencies = {words[i]: int(frequency) for *_, hits, _ in rows for i, frequency in hits}
        return WordMatches(total, frequencies, found)

    def nearest_facts(self, vector: Vectors, k: int, scope: Scope) -> list[FoundFact]:
        """See `GraphReader.nearest_facts`."""

        def ask_index(size: int) -> list[list[Any]]:
            return self._search("RELATES", _VECTOR, NEAREST_FACTS, vector=vector, k=size)

        narrow = self._is_narrow(scope)
        return read_links.nearest_facts(self._graph, ask_index, vector, k, scope, narrow=narrow)

    def nearest_entities(self, vector: Vectors, k: int, scope: Scope) -> list[str]:
        """See `GraphReader.nearest_entities`.

        Within a narrow scope all are compared, and within another one if the index does not come to enough of them.
        """

        def ask(size: int) -> list[tuple[float, str | None]]:
            rows = self._search("__Entity__", _VECTOR, statements.NEAREST_ENTITIES, vector=vector, k=size)
            ranked = sorted((distance, identity) for identity, distance in rows)
            shown = {identity for _, identity in ranked}
            if scope:
                mentioned = self._within(statements.MENTIONED_WITHIN, scope, sorted(shown))
                shown = {identity for (identity,) in mentioned}
            return [(-distance, identity if identity in shown else None) for distance, identity in ranked]

        widest = WIDEST_IN_SCOPE if scope else WIDEST
        found = [] if self._is_narrow(scope) else widen(ask, k, widest)
        if scope and len(found) < k:
            rows = self._within(statements.NEAREST_ENTITIES_WITHIN, scope, vector=vector, k=k)
            return [identity for (identity,) in rows]
        return found

    def match_entities(self, words: Sequence[str], k: int, scope: Scope) -> list[str]:
        """See `GraphReader.match_entities`; words of descriptions count as well, but less.

        Not within a scope: a description is told of all documents.
        """
        total = int(self._graph.ro_query(statements.ENTITY_COUNT)[0][0])
        cypher, parameters = within(statements.MATCH_ENTITIES_WITHIN if scope else statements.MATCH_ENTITIES, scope)
        fields = {"name": 1.0} if scope else {"name": 1.0, "description": _DESCRIPTION_FACTOR}
        spelled = [f"@{field}:({_spell_word(word)})" for field in fields for word in words]
        factors = [factor for factor in fields.values() for _ in words]
        rows = self._match("__Entity__", cypher, rows=spelled, factors=factors, k=k, total=total, **parameters)
        return [identity for (identity,) in rows]

    def entities_named(self, keys: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """See `GraphReader.entities_named`."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        statement = statements.ENTITIES_NAMED_WITHIN if scope else statements.ENTITIES_NAMED
        for key, identity in self._within(statement, scope, list(keys)):
            found[key].append(identity)
        return dict(found)

    def passages_naming(self, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[str]:
        """See `GraphReader.passages_naming`; of an entity with very many mentions only where it opens."""
        return self._follow(statements.PASSAGES_NAMING, entity_ids, vector, k, scope)

    def linked_passages(self, passage_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[str]:
        """See `GraphReader.linked_passages`; entities with very many mentions do not link."""
        return self._follow(statements.LINKED_PASSAGES, passage_ids, vector, k, scope)

    def relations_of(self, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[FoundRelation]:
        """See `GraphReader.relations_of`."""
        return read_links.relations_of(self._graph, entity_ids, vector, k, scope)

    def siblings(self, entity_ids: Sequence[str], k: int, scope: Scope) -> list[str]:
        """See `GraphReader.siblings`; entities with very many relations join nothing."""
        return read_links.siblings(self._graph, entity_ids, k, scope)

    def passages(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        """See `GraphReader.passages`."""
        rows = self._within(statements.PASSAGES, scope, list(ids), vector=vector)
        stored = ((text, score, read_place(columns)) for text, score, *columns in rows)
        found = {
            place.passage: evidence_at(place, "passage", place.passage, text, score) for text, score, place in stored
        }
        return [found[identity] for identity in ids if identity in found]

    def entities(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        """See `GraphReader.entities`."""
        rows = self._within(statements.ENTITIES, scope, list(ids), vector=vector)
        found = {row[0]: _entity(row, scope) for row in rows}
        return [found[identity] for identity in ids if identity in found]

    def exact(self, ids: Sequence[str]) -> list[ExactPassage]:
        """See `GraphReader.exact`."""
        return read_exact(self._graph, ids)

    def around(self, identity: str, reach: int) -> list[ExactPassage]:
        """See `GraphReader.around`."""
        return read_around(self._graph, identity, reach)

    def vocabulary(self) -> tuple[list[str], list[str]]:
        """See `GraphReader.vocabulary`."""
        return self._vocabulary.tell()

    def run(self, cypher: str, timeout_ms: int) -> tuple[list[str], list[list[Any]]]:
        """See `GraphReader.run`."""
        return run_checked(self._graph, cypher, timeout_ms)

    def _within(
        self, statement: str, scope: Scope, rows: Sequence[Any] | None = None, **parameters: Any
    ) -> list[list[Any]]:
        cypher, conditions = within(statement, scope)
        return self._graph.ro_query(cypher, rows, **parameters, **conditions)

    def _count_passages(self, scope: Scope) -> int:
        count = self._within(statements.PASSAGE_COUNT_WITHIN if scope else statements.PASSAGE_COUNT, scope)
        return int(count[0][0])

    def _is_narrow(self, scope: Scope) -> bool:
        return bool(scope) and self._count_passages(scope) <= _NARROW_PASSAGES

    def _search(self, label: str, kind: str, cypher: str, **parameters: Any) -> list[list[Any]]:
        """Search an index; one that is missing or being built finds nothing."""
        try:
            return self._graph.ro_query(cypher, **parameters)
        except GraphRejected:
            if _gap(index_states(self._graph), label, kind):
                return []
            # Either it has been completed since, or the query is at fault and is refused again.
            return self._graph.ro_query(cypher, **parameters)

    def _match(self, label: str, cypher: str, **parameters: Any) -> list[list[Any]]:
        return self._search(label, _FULLTEXT, cypher, most=_COMMON_MATCHES, **parameters)

    def _follow(self, cypher: str, ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[str]:
        limits = {"k": k, "hub": _HUB_MENTIONS, "opening": _OPENING_CHARS}
        return [identity for (identity,) in self._within(cypher, scope, list(ids), vector=vector, **limits)]


def _gap(states: Iterable[IndexState], label: str, kind: str) -> str:
    """Say what is wrong with a search index, or nothing."""
    # While one is being built, the label's former indexes are listed beside it, as operational.
    own = [state for state in states if state.label == label and kind in state.kinds]
    what = f"The index that finds {_SEARCH_INDEXES[label, kind]}"
    if not own:
        return f"{what} is missing ({kind.lower()} on {label}): finalize the graph."
    if not all(state.operational for state in own):
        return f"{what} is being built ({kind.lower()} on {label}): ask again later."
    return ""


def _spell_word(word: str) -> str:
    """Spell a word for the engine, which folds the case of ASCII only and takes curly quotes for letters."""
    forms = [word] if word.isascii() else list(dict.fromkeys((word, word.capitalize(), word.upper())))
    return "|".join(pattern.format(form) for form in forms for pattern in _AS_WRITTEN)


def _entity(row: Sequence[Any], scope: Scope) -> Evidence:
    identity, name, label, description, score, spans, own_name, own_description, *columns = row
    if scope:
        # What is stored is told of all documents.
        name, description = own_name or name, own_description
    text = f"{name} ({label})" if label else name
    if description:
        text = f"{text}: {description}"
    first = next(iter(orjson.loads(spans)), ()) if spans else ()
    return evidence_at(read_place(columns).narrow(first), "entity", identity, text, score)
