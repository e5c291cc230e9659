"""Retrieval's side of a graph: searches by vector, by word and along mentions, all by GRAPH.RO_QUERY."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.adapters.falkor import read_statements as statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.merged import merged_into
from pipeline.adapters.falkor.schema import IndexState, index_states
from pipeline.errors import GraphRejected
from pipeline.ids import relation_key
from pipeline.models import Evidence, FoundFact, GraphRecord, WordMatch, WordMatches
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
_COMMON_MATCHES = 5_000
"""Where a word is in so many elements, the rest of them is not counted (5 ms a thousand)."""
_AS_WRITTEN = ("{}", "“{}", "{}”", "“{}”", "‘{}", "{}’", "‘{}’", "{}’s")
"""How a word may stand in typeset text."""
_WIDEN_FACTOR, _WIDEST = 4, 4_096
"""Nearest neighbours that are of unwritten documents are made up for by asking for more, within limits."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something stands: the source document's path, page, heading, and offsets into its text."""

    source: str
    page: int | None
    start: int | None
    end: int | None
    heading: str

    def narrow(self, span: Sequence[int | None]) -> "_Place":
        """Give the place of a span of the passage that stands here."""
        if self.start is None or len(span) != 2 or span[0] is None or span[1] is None:  # noqa: PLR2004 - start, end
            return self
        return _Place(self.source, self.page, self.start + span[0], self.start + span[1], self.heading)


class FalkorReader:
    """Implements `pipeline.ports.GraphReader` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

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

    def nearest_passages(self, vector: Vectors, k: int) -> list[str]:
        """See `GraphReader.nearest_passages`."""

        def ask(size: int) -> tuple[int, list[str]]:
            rows = self._search("Chunk", _VECTOR, statements.NEAREST_PASSAGES, vector=vector, k=size)
            ranked = sorted(rows, key=lambda row: (row[1], row[0]))
            return len(rows), [identity for identity, _, written in ranked if written]

        return _widen(ask, k)

    def match_passages(self, words: Sequence[str], k: int) -> WordMatches:
        """See `GraphReader.match_passages`."""
        total = int(self._graph.ro_query(statements.PASSAGE_COUNT)[0][0])
        rows = self._match("Chunk", statements.MATCH_PASSAGES, words, k, total)
        found = tuple(WordMatch(identity, text, tuple(words[i] for i, _ in hits)) for identity, text, hits, _ in rows)
        frequencies = {words[i]: int(frequency) for *_, hits, _ in rows for i, frequency in hits}
        return WordMatches(total, frequencies, found)

    def nearest_facts(self, vector: Vectors, k: int) -> list[FoundFact]:
        """See `GraphReader.nearest_facts`."""

        def ask(size: int) -> tuple[int, list[FoundFact]]:
            rows = self._search("RELATES", _VECTOR, statements.NEAREST_FACTS, vector=vector, k=size)
            rows.sort(key=lambda row: (-row[4], *row[:3]))
            places = self._places_of_facts(rows)
            return len(rows), [_fact(row, places[i]) for i, row in enumerate(rows) if i in places]

        return _widen(ask, k)

    def nearest_entities(self, vector: Vectors, k: int) -> list[str]:
        """See `GraphReader.nearest_entities`."""
        rows = self._search("__Entity__", _VECTOR, statements.NEAREST_ENTITIES, vector=vector, k=k)
        return [identity for identity, _ in sorted(rows, key=lambda row: (row[1], row[0]))]

    def match_entities(self, words: Sequence[str], k: int) -> list[str]:
        """See `GraphReader.match_entities`."""
        total = self._graph.ro_query(statements.ENTITY_COUNT)[0][0]
        rows = self._match("__Entity__", statements.MATCH_ENTITIES, words, k, total)
        return [identity for (identity,) in rows]

    def entities_named(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """See `GraphReader.entities_named`."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for key, identity in self._graph.ro_query(statements.ENTITIES_NAMED, list(keys)):
            found[key].append(identity)
        return dict(found)

    def passages_naming(self, entity_ids: Sequence[str], vector: Vectors, k: int) -> list[str]:
        """See `GraphReader.passages_naming`; of an entity with very many mentions only where it opens."""
        return self._follow(statements.PASSAGES_NAMING, entity_ids, vector, k)

    def linked_passages(self, passage_ids: Sequence[str], vector: Vectors, k: int) -> list[str]:
        """See `GraphReader.linked_passages`; entities with very many mentions do not link."""
        return self._follow(statements.LINKED_PASSAGES, passage_ids, vector, k)

    def passages(self, ids: Sequence[str], vector: Vectors) -> list[Evidence]:
        """See `GraphReader.passages`."""
        found = {
            identity: _evidence("passage", identity, text, score, _place(*place))
            for identity, text, score, *place in self._graph.ro_query(statements.PASSAGES, list(ids), vector=vector)
        }
        return [found[identity] for identity in ids if identity in found]

    def entities(self, ids: Sequence[str], vector: Vectors) -> list[Evidence]:
        """See `GraphReader.entities`."""
        rows = self._graph.ro_query(statements.ENTITIES, list(ids), vector=vector)
        found = {row[0]: _entity(row) for row in rows}
        return [found[identity] for identity in ids if identity in found]

    def _search(self, label: str, kind: str, cypher: str, **parameters: Any) -> list[list[Any]]:
        """Search an index; one that is missing or being built finds nothing."""
        try:
            return self._graph.ro_query(cypher, **parameters)
        except GraphRejected:
            if _gap(index_states(self._graph), label, kind):
                return []
            # Either it has been completed since, or the query is at fault and is refused again.
            return self._graph.ro_query(cypher, **parameters)

    def _match(self, label: str, cypher: str, words: Sequence[str], k: int, total: int) -> list[list[Any]]:
        rows = [_spell_word(word, label) for word in words]
        return self._search(label, _FULLTEXT, cypher, rows=rows, k=k, total=total, most=_COMMON_MATCHES)

    def _follow(self, cypher: str, ids: Sequence[str], vector: Vectors, k: int) -> list[str]:
        rows = self._graph.ro_query(cypher, list(ids), vector=vector, k=k, hub=_HUB_MENTIONS, opening=_OPENING_CHARS)
        return [identity for (identity,) in rows]

    def _places_of_facts(self, rows: Sequence[Sequence[Any]]) -> Mapping[int, dict[str, _Place]]:
        """Find where facts are stated, by their position and the passage's id; unstated ones are left out."""
        members = merged_into(self._graph, {row[2] for row in rows})
        supports = [[i, row[0], row[1], sorted(members[row[2]])] for i, row in enumerate(rows)]
        places = self._ask_places(statements.SUPPORTS, supports)
        derived = [[i, row[5]] for i, row in enumerate(rows) if i not in places]
        return places | self._ask_places(statements.STATING_PASSAGES, derived)

    def _ask_places(self, cypher: str, rows: list[list[Any]]) -> dict[int, dict[str, _Place]]:
        places: defaultdict[int, dict[str, _Place]] = defaultdict(dict)
        for position, passage, start, end, *place in self._graph.ro_query(cypher, rows) if rows else ():
            places[position][passage] = _place(*place).narrow((start, end))
        return dict(places)


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


def _widen[T](ask: Callable[[int], tuple[int, list[T]]], k: int) -> list[T]:
    """Ask for more neighbours until k of them can be shown, or there are no more."""
    size = k
    while True:
        count, shown = ask(size)
        if len(shown) >= k or count < size or size >= _WIDEST:
            return shown[:k]
        size *= _WIDEN_FACTOR


def _spell_word(word: str, label: str) -> str:
    """Spell a word for the engine, which folds the case of ASCII only and takes curly quotes for letters."""
    forms = [word] if word.isascii() else list(dict.fromkeys((word, word.capitalize(), word.upper())))
    spelled = "|".join(pattern.format(form) for form in forms for pattern in _AS_WRITTEN)
    return f"@name:({spelled})" if label == "__Entity__" else spelled


def _place(source: str | None, page: int | None, start: int | None, end: int | None, heading: Any) -> _Place:
    path = " > ".join(map(str, heading)) if isinstance(heading, list) else heading or ""
    return _Place(source or "", page, start, end, path)


def _evidence(kind: str, identity: str, text: str, score: float, place: _Place) -> Evidence:
    return Evidence(
        kind=kind,
        id=identity,
        text=text,
        score=score,
        source=place.source,
        page=place.page,
        start=place.start,
        end=place.end,
        heading=place.heading,
    )


def _entity(row: Sequence[Any]) -> Evidence:
    identity, name, label, description, score, spans, *place = row
    text = f"{name} ({label})" if label else name
    if description:
        text = f"{text}: {description}"
    first = next(iter(orjson.loads(spans)), ()) if spans else ()
    return _evidence("entity", identity, text, score, _place(*place).narrow(first))


def _fact(row: Sequence[Any], places: Mapping[str, _Place]) -> FoundFact:
    source, rel_type, target, text, score, _ = row
    first = places[min(places)]
    return FoundFact(
        _evidence("fact", relation_key(source, rel_type, target), text, score, first), tuple(sorted(places))
    )
