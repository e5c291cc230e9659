"""Makes an extraction of a model's answer: names get their places in the passage, relations those of their quotes."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.extract import Drop, clean, is_name
from pipeline.extract.names import Span, locate, locate_quote
from pipeline.ids import normalise_name
from pipeline.llm.answers import EntityItem, RelationItem, Said
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import UNKNOWN
from pipeline.ontology.labels import fold_label

_NOWHERE: Span = (-1, -1)


def tell_found(text: str, said: Said, min_confidence: float) -> list[Mention]:
    """Give the entities of a first step; those that the model is less sure of have no type."""
    return [
        _mention(
            item, _place(text, item.name), item.confidence, item.type if item.confidence >= min_confidence else UNKNOWN
        )
        for item in said.entities
    ]


def tell_extraction(text: str, said: Said, found: Sequence[Mention] = ()) -> Extraction:
    """Give what an answer says of a passage.

    The spans and scores of entities that were `found` before are kept, each of their mentions; those that the
    answer leaves out are dropped. Others have the first place where their name stands.
    """
    dropped = Counter(said.dropped)
    by_name: defaultdict[str, list[EntityItem]] = defaultdict(list)
    for item in said.entities:
        by_name[_fold(item.name)].append(item)
    mentions: list[Mention] = []
    placed: set[int] = set()
    for before in found:
        items = by_name.get(_fold(before.name))
        if items is None:
            dropped[Drop.UNVERIFIED] += 1
            continue
        item = next((one for one in items if _has_type(one, before.type)), items[0])
        placed.add(id(item))
        mentions.append(_mention(item, (before.start, before.end), before.score, item.raw_type or before.type))
    mentions += [
        _mention(item, _place(text, item.name), 1.0, item.raw_type) for item in said.entities if id(item) not in placed
    ]
    types = {name: items[0].raw_type for name, items in by_name.items()}
    return Extraction(tuple(mentions), tuple(_relations(text, said.relations, types)), dict(dropped))


def _has_type(item: EntityItem, label: str) -> bool:
    return fold_label(label) in (fold_label(item.type), fold_label(item.raw_type))


def _mention(item: EntityItem, span: Span, score: float, label: str) -> Mention:
    told = json.dumps(item.attributes, sort_keys=True) if item.attributes else ""
    return Mention(item.name, label, *span, item.description, score, properties=told)


def _relations(text: str, items: Iterable[RelationItem], types: Mapping[str, str]) -> Iterable[Relation]:
    for item in items:
        start, end = locate_quote(text, item.quote) or _NOWHERE
        yield Relation(
            source=item.source,
            source_type=types.get(_fold(item.source), ""),
            target=item.target,
            target_type=types.get(_fold(item.target), ""),
            type=item.type,
            description=item.description,
            start=start,
            end=end,
        )


def _place(text: str, raw: str) -> Span:
    name = clean(raw)
    return (locate(text, name) if is_name(name) else None) or _NOWHERE


def _fold(name: str) -> str:
    return normalise_name(clean(name))
