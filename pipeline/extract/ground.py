"""Grounding: what an extractor says of a passage, held to the passage's text and to the ontology."""

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pipeline.extract.drops import UNDECLARED, Drop
from pipeline.extract.names import MAX_NAME_CHARS, Span, clean, is_name, locate
from pipeline.extract.relations import ground_relations
from pipeline.extract.values import coerce_properties, read_properties
from pipeline.ids import normalise_name
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import UNKNOWN, Ontology
from pipeline.ontology.labels import fold_label


@dataclass(slots=True)
class _Found:
    """A grounded mention; `raw` is the same with the type and properties that the extractor gave."""

    mention: Mention
    raw: Mention

    @property
    def is_undeclared(self) -> bool:
        """Whether the extractor means a type that the ontology lacks."""
        return self.mention.type == UNKNOWN and fold_label(self.raw.type) not in _NO_TYPE


_NO_TYPE = frozenset({"", fold_label(UNKNOWN)})


def ground(text: str, extraction: Extraction, ontology: Ontology) -> Extraction:
    """Keep what the passage and the ontology bear out, in the passage's order and spelling.

    Names are looked up where their offsets do not fit, types, relation types and properties become declared
    ones. What cannot be kept is counted in `dropped`, on top of what the extractor dropped; what the passage bears
    out and the ontology does not stays in `undeclared_mentions`, beside its mention of type Unknown, and in
    `undeclared_relations`.
    """
    dropped: Counter[str] = Counter(extraction.dropped)
    found = _ground_mentions(text, extraction.mentions, ontology, dropped)
    mentions = tuple(one.mention for one in found)
    undeclared = tuple(_cut_type(one.raw) for one in found if one.is_undeclared)
    relations, candidates = ground_relations(text, extraction.relations, mentions, undeclared, ontology, dropped)
    counts = dict(sorted(dropped.items()))
    return Extraction(mentions, relations, counts, undeclared, candidates, extraction.usage)


def reground(text: str, extraction: Extraction, ontology: Ontology) -> Extraction:
    """Ground what `ground` gave once more, under an ontology that has grown: what it declares now is kept."""
    raw = {(mention.start, mention.end): mention for mention in extraction.undeclared_mentions}
    raw_types: dict[str, str] = {}
    for mention in extraction.undeclared_mentions:
        raw_types.setdefault(normalise_name(mention.name), mention.type)

    def restore(relation: Relation) -> Relation:
        source, target = normalise_name(relation.source), normalise_name(relation.target)
        return replace(
            relation,
            source_type=raw_types.get(source, UNKNOWN) if relation.source_type == UNKNOWN else relation.source_type,
            target_type=raw_types.get(target, UNKNOWN) if relation.target_type == UNKNOWN else relation.target_type,
        )

    before = Extraction(
        mentions=tuple(raw.get((mention.start, mention.end), mention) for mention in extraction.mentions),
        relations=tuple(restore(r) for r in (*extraction.relations, *extraction.undeclared_relations)),
        dropped={reason: count for reason, count in extraction.dropped.items() if reason not in UNDECLARED},
        usage=extraction.usage,
    )
    return ground(text, before, ontology)


def _ground_mentions(text: str, mentions: Iterable[Mention], ontology: Ontology, dropped: Counter[str]) -> list[_Found]:
    """Ground mentions; of those with one span the best-scored one counts, with what others of its type add."""
    by_span: dict[Span, _Found] = {}
    for mention in mentions:
        name = clean(mention.name)
        if not is_name(name):
            dropped[Drop.INVALID_NAME] += 1
            continue
        span = locate(text, name, mention.start, mention.end)
        if span is None:
            dropped[Drop.NOT_IN_TEXT] += 1
            continue
        raw = Mention(
            name=clean(text[slice(*span)]),
            type=clean(mention.type),
            start=span[0],
            end=span[1],
            description=clean(mention.description),
            score=mention.score if 0.0 <= mention.score <= 1.0 else _bound_score(mention.score),
            properties=mention.properties,
        )
        by_span[span] = _choose(by_span[span], raw, ontology) if span in by_span else _declare(raw, ontology)
    return [by_span[span] for span in sorted(by_span)]


def _bound_score(score: float) -> float:
    return 0.0 if math.isnan(score) else min(max(score, 0.0), 1.0)


def _cut_type(raw: Mention) -> Mention:
    """Keep of a type that is none what can be read as one."""
    return replace(raw, type=raw.type[:MAX_NAME_CHARS].rstrip())


def _declare(raw: Mention, ontology: Ontology) -> _Found:
    label = ontology.resolve_label(raw.type)
    properties = coerce_properties(raw.properties, label, ontology)
    if (label, properties) == (raw.type, raw.properties):
        return _Found(raw, raw)
    return _Found(replace(raw, type=label, properties=properties), raw)


def _choose(before: _Found, raw: Mention, ontology: Ontology) -> _Found:
    """Choose between two mentions of one span; those of one type become one, with the longer description."""
    found = _declare(raw, ontology)
    best, other = (found, before) if found.raw.score > before.raw.score else (before, found)
    if best.mention.type != other.mention.type or (best.mention.type == UNKNOWN and best.raw.type != other.raw.type):
        return best
    told = {**read_properties(other.raw.properties), **read_properties(best.raw.properties)}
    united = replace(
        best.raw,
        description=max(best.raw.description, other.raw.description, key=len),
        properties=json.dumps(told, sort_keys=True) if told else "",
    )
    return _declare(united, ontology)
