"""Grounding of relations: each joins two mentions that were kept, by a type and pattern that the ontology declares."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pipeline.extract.drops import Drop
from pipeline.extract.names import Span, clean, spell_relation
from pipeline.ids import entity_id, normalise_name
from pipeline.models import Mention, Relation
from pipeline.ontology import UNKNOWN, Ontology

type Relations = tuple[Relation, ...]


class _End(NamedTuple):
    """The entity that a relation's end means."""

    name: str
    type: str
    raw_type: str
    """What the extractor calls its type, where that is not declared; else the type itself."""


class Ends:
    """Finds the kept entities that relations' ends mean."""

    def __init__(self, mentions: Sequence[Mention], undeclared: Sequence[Mention], ontology: Ontology) -> None:
        self._ontology = ontology
        self._types: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._raw_types: dict[str, list[str]] = {}
        for mention in mentions:
            name, label = mention.name, mention.type
            types = self._types.setdefault(normalise_name(name), [])
            if label not in types:
                types.append(label)
                self._names.setdefault(entity_id(name, label), name)
        for mention in undeclared:
            self._raw_types.setdefault(normalise_name(mention.name), []).append(mention.type)
        self.find = cache(self._find)

    def _find(self, name: str, raw_type: str) -> _End | None:
        name = clean(name)
        types = self._types.get(normalise_name(name))
        if not types:
            return None
        wanted = self._ontology.resolve_label(raw_type)
        found = wanted if wanted in types else types[0]
        kept = self._names[entity_id(name, found)]
        return _End(kept, found, self._raw_type(kept, clean(raw_type)) if found == UNKNOWN else found)

    def _raw_type(self, name: str, given: str) -> str:
        raw_types = self._raw_types.get(normalise_name(name), [UNKNOWN])
        return given if given in raw_types else raw_types[0]


def ground_relations(
    text: str,
    relations: Iterable[Relation],
    mentions: Sequence[Mention],
    undeclared: Sequence[Mention],
    ontology: Ontology,
    dropped: Counter[str],
) -> tuple[Relations, Relations]:
    """Ground relations, the first of each (source, type, target): those declared, and those that are not.

    `undeclared` are the mentions with types that the ontology lacks; such types stand at the ends of the second.
    """
    ends = Ends(mentions, undeclared, ontology)
    firsts: dict[str, Mention] = {}
    for mention in mentions:
        firsts.setdefault(mention.name, mention)
    kept: dict[tuple[str, str, str], Relation] = {}
    candidates: dict[tuple[str, str, str], Relation] = {}
    for relation in relations:
        source = ends.find(relation.source, relation.source_type)
        target = ends.find(relation.target, relation.target_type)
        if source is None or target is None:
            dropped[Drop.UNKNOWN_END] += 1
            continue
        if source[:2] == target[:2]:
            dropped[Drop.SELF_RELATION] += 1
            continue
        rel_type = ontology.resolve_relation(relation.type) or spell_relation(relation.type)
        if not rel_type:
            dropped[Drop.INVALID_RELATION] += 1
            continue
        start, end = _evidence(text, relation, firsts[source.name], firsts[target.name])
        grounded = Relation(
            source=source.name,
            source_type=source.type,
            target=target.name,
            target_type=target.type,
            type=rel_type,
            description=clean(relation.description) or clean(text[start:end]),
            start=start,
            end=end,
        )
        reason = _misfit(grounded, ontology)
        if reason is None:
            kept.setdefault(_key(grounded), grounded)
            continue
        candidate = replace(grounded, source_type=source.raw_type, target_type=target.raw_type)
        if candidates.setdefault(_key(candidate), candidate) is candidate:
            dropped[reason] += 1
    return _in_order(kept.values()), _in_order(candidates.values())


def _misfit(relation: Relation, ontology: Ontology) -> Drop | None:
    """Tell why the ontology does not take a relation; None where it does."""
    if ontology.allows(relation.type, relation.source_type, relation.target_type):
        return None
    if ontology.resolve_relation(relation.type) is None:
        return Drop.UNDECLARED_RELATION
    if UNKNOWN in (relation.source_type, relation.target_type):
        return Drop.UNTYPED_END
    inverted = ontology.allows(relation.type, relation.target_type, relation.source_type)
    return Drop.INVERTED_PATTERN if inverted else Drop.UNDECLARED_PATTERN


def _evidence(text: str, relation: Relation, source: Mention, target: Mention) -> Span:
    """Give the relation's span inside the text; where it has none, from one end's first mention to the other's."""
    start, end = max(0, relation.start), min(len(text), relation.end)
    if start < end:
        return start, end
    return min(source.start, target.start), max(source.end, target.end)


def _key(relation: Relation) -> tuple[str, str, str]:
    source, target = entity_id(relation.source, relation.source_type), entity_id(relation.target, relation.target_type)
    return source, relation.type, target


def _in_order(relations: Iterable[Relation]) -> Relations:
    return tuple(sorted(relations, key=lambda r: (r.start, r.end, r.source, r.type, r.target)))
