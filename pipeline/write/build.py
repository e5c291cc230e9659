"""Turns documents into the rows that a graph stores: identities, folded mentions, supports. Pure.

Rules: the architecture's "Identity". What a row says of an entity or relation beyond its identity is
provisional: the first writer's word holds until finalize derives it from all mentions.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import orjson

from pipeline import ids
from pipeline.candidates import Find, find_undeclared
from pipeline.models import Document, Extraction, Mention, Relation
from pipeline.resolve import canonical_key
from pipeline.write.choose import pick_description, pick_name, pick_properties, rank_description
from pipeline.write.rows import (
    CandidateRow,
    ChunkRow,
    EntityRow,
    FindRow,
    GraphRows,
    MentionRow,
    RelationRow,
    StoredCounts,
    SupportRow,
)

MAX_ID_BYTES = 4096
"""Longest id that the graph's index finds again; a longer one would be stored twice."""
MAX_NESTED = 200
"""Most mentions or supports that travel in one row; a hub's are spread over several."""

_REMEMBERED_NAMES = 50_000

# What a graph cannot keep in a string, or an index takes for a separator.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def is_storable(identity: str) -> bool:
    """Tell whether an index finds the id again: not empty, not too long, no space at its ends."""
    return bool(identity) and identity == identity.strip() and len(identity.encode()) <= MAX_ID_BYTES


def extracted_ids(documents: Iterable[Document]) -> set[str]:
    """Collect the ids of all mentioned entities, as extracted: what merges may have renamed."""
    said = (mention for document in documents for one in document.extractions for mention in one.mentions)
    return {_extracted_id(mention.name, mention.type, mention.key) for mention in said} - {""}


def make_rows(documents: Sequence[Document], merged: Mapping[str, str], suffix: str = "") -> GraphRows:
    """Make the rows of documents; `merged` maps extracted ids to the entities they now belong to.

    `suffix` ends the chunks' ids, where passages of the same text are stored already.

    Mentions without a storable name, relations of an entity with itself and relations between
    entities that their chunk does not mention say nothing that could be stored, and are left out;
    `pipeline.extract.ground` has counted them.
    """
    rows = _RowBuilder(merged, suffix)
    expected = {document.id: rows.add(document) for document in documents}
    entities = list(rows.entity_rows())
    return GraphRows(
        chunks=tuple(rows.chunks),
        neighbours=tuple(rows.neighbours),
        entities=tuple(pieces[0] for pieces in entities),
        more_mentions=tuple(piece for pieces in entities for piece in pieces[1:]),
        relations=tuple(rows.relation_rows()),
        candidates=tuple(rows.candidate_rows()),
        labels=_collect_labels(documents),
        expected=expected,
    )


def _collect_labels(documents: Iterable[Document]) -> dict[str, tuple[str, ...]]:
    """Collect the labels that entities bear beside their own, over all documents."""
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for document in documents:
        for label, more in document.labels.items():
            labels[label].update(set(more) - {label})
    return {label: tuple(sorted(more)) for label, more in labels.items() if more}


class _RowBuilder:
    """Collects the mentions and supports of documents by the entity and relation they belong to."""

    def __init__(self, merged: Mapping[str, str], suffix: str) -> None:
        self._merged = merged
        self._suffix = suffix
        self.chunks: list[ChunkRow] = []
        self.neighbours: list[tuple[str, str]] = []
        self._labels: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._mentions: defaultdict[str, list[MentionRow]] = defaultdict(list)
        self._supports: defaultdict[tuple[str, str, str], list[SupportRow]] = defaultdict(list)
        self._undeclared: dict[str, Find] = {}
        self._finds: defaultdict[str, list[FindRow]] = defaultdict(list)

    def add(self, document: Document) -> StoredCounts:
        """Add a document; gives how much of it the graph must then hold."""
        before = ""
        added: set[str] = set()
        mentions = supports = 0
        for chunk, extraction in zip(document.chunks, document.extractions, strict=True):
            chunk_id = ids.chunk_id(document.id, chunk.text, chunk.occurrence) + self._suffix
            if chunk_id in added:
                continue
            added.add(chunk_id)
            self.chunks.append(ChunkRow(document.id, chunk_id, chunk))
            if before:
                self.neighbours.append((before, chunk_id))
            before = chunk_id
            named = self._add_mentions(chunk_id, extraction)
            mentions += len(named)
            supports += self._add_supports(chunk_id, extraction, named)
            self._add_finds(chunk_id, extraction)
        return StoredCounts(len(added), mentions, supports)

    def _add_mentions(self, chunk_id: str, extraction: Extraction) -> set[str]:
        groups: defaultdict[str, list[Mention]] = defaultdict(list)
        for mention in extraction.mentions:
            if as_id := _extracted_id(mention.name, mention.type, mention.key):
                groups[as_id].append(mention)
        for as_id, group in groups.items():
            entity = self._resolve(as_id)
            # An entity's own mention knows its type; one merged into it may have been of another.
            if as_id == entity or entity not in self._labels:
                self._labels[entity] = group[0].type
            self._mentions[entity].append(_fold_mentions(chunk_id, as_id, group))
        return set(groups)

    def _add_supports(self, chunk_id: str, extraction: Extraction, named: set[str]) -> int:
        groups: defaultdict[tuple[str, str, str], list[Relation]] = defaultdict(list)
        for relation in extraction.relations:
            source = _extracted_id(relation.source, relation.source_type, relation.source_key)
            target = _extracted_id(relation.target, relation.target_type, relation.target_key)
            rel_type = _clean(relation.type).strip()
            known = source in named and target in named and source != target
            if known and rel_type and is_storable(ids.relation_key(source, rel_type, target)):
                groups[source, rel_type, target].append(relation)
        for (source, rel_type, target), group in groups.items():
            key = (self._resolve(source), rel_type, self._resolve(target))
            self._supports[key].append(_fold_supports(chunk_id, source, target, group))
        return len(groups)

    def _add_finds(self, chunk_id: str, extraction: Extraction) -> None:
        for find in find_undeclared(extraction):
            self._undeclared.setdefault(find.id, find)
            examples = tuple(map(_clean, find.examples))
            self._finds[find.id].append(FindRow(chunk_id, find.count, examples))

    def entity_rows(self) -> Iterator[list[EntityRow]]:
        """Give the entities with their mentions, a hub's in several rows."""
        for entity, mentions in self._mentions.items():
            name = self._name(entity)
            yield [EntityRow(entity, self._labels[entity], name, _key(name), piece) for piece in _pieces(mentions)]

    def relation_rows(self) -> Iterator[RelationRow]:
        """Give the relations with their supports, a hub's in several rows."""
        for (source, rel_type, target), supports in self._supports.items():
            for piece in _pieces(supports):
                yield RelationRow(source, rel_type, target, self._name(source), self._name(target), piece)

    def candidate_rows(self) -> Iterator[CandidateRow]:
        """Give what the ontology does not declare with the chunks that say it, in several rows where these are many."""
        for identity, find in self._undeclared.items():
            finds = self._finds[identity]
            for start in range(0, len(finds), MAX_NESTED):
                piece = tuple(finds[start : start + MAX_NESTED])
                yield CandidateRow(identity, find.kind, find.type, find.source, find.target, piece)

    def _resolve(self, as_id: str) -> str:
        return self._merged.get(as_id, as_id)

    def _name(self, entity: str) -> str:
        if entity not in self._names:
            self._names[entity] = _choose_name(self._mentions[entity])
        return self._names[entity]


# A corpus names the same things again and again.
@lru_cache(maxsize=_REMEMBERED_NAMES)
def _extracted_id(name: str, entity_type: str, key: str) -> str:
    """Name what is mentioned; '' where that could not be stored."""
    found = ids.keyed_entity_id(_clean(key), entity_type) if key else ids.entity_id(_clean(name), entity_type)
    return found if is_storable(found) else ""


_key = lru_cache(maxsize=_REMEMBERED_NAMES)(canonical_key)


def _clean(text: str) -> str:
    # What is printable holds none of these characters, and is told several times faster.
    return text if text.isprintable() else _UNSTORABLE.sub("", text)


def _choose_name(named: Sequence[Mention] | Sequence[MentionRow]) -> str:
    names = [one.name for one in named]
    return names[0] if names.count(names[0]) == len(names) else pick_name(Counter(names))


def _choose_description(group: Sequence[Mention] | Sequence[Relation]) -> str:
    if len(group) == 1:
        return _clean(group[0].description)
    return pick_description(_clean(one.description) for one in group)


def _fold_mentions(chunk_id: str, as_id: str, group: Sequence[Mention]) -> MentionRow:
    told = _clean(_choose_name(group)), _choose_description(group), _spell_spans(group)
    return MentionRow(chunk_id, as_id, *told, _fold_properties(group))


def _spell_spans(group: Sequence[Mention]) -> str:
    if len(group) == 1:
        return f"[[{group[0].start},{group[0].end}]]"
    return orjson.dumps(sorted({(mention.start, mention.end) for mention in group})).decode()


def _fold_properties(group: Sequence[Mention]) -> str:
    if len(group) == 1:
        return group[0].properties
    told = Counter(mention.properties for mention in group if mention.properties)
    return next(iter(told), "") if len(told) <= 1 else orjson.dumps(pick_properties(told)).decode()


def _fold_supports(chunk_id: str, source: str, target: str, group: Sequence[Relation]) -> SupportRow:
    start, end = min([(relation.start, relation.end) for relation in group])
    description = _choose_description(group)
    return SupportRow(chunk_id, source, target, start, end, description)


def _pieces[T: (MentionRow, SupportRow)](items: list[T]) -> list[tuple[T, ...]]:
    """Cut a list into tuples of bounded length, best described first."""
    if len(items) == 1:
        return [(items[0],)]
    items.sort(key=lambda one: rank_description(one.description))
    return [tuple(items[start : start + MAX_NESTED]) for start in range(0, len(items), MAX_NESTED)]
