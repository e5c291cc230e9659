"""What texts bear out and the ontology does not declare: types, and patterns of relations, as candidates for it. Pure.

A candidate is named by its words folded, so that however an extractor spells a type it is one candidate.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.errors import OntologyError
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import UNKNOWN, DeclaredTypes, EntityType, Ontology, RelationType, extend
from pipeline.ontology.labels import check_label, fold_label
from pipeline.ports import TypeCandidate

ENTITY, RELATION = "entity", "relation"
"""The kinds of candidates."""
MAX_EXAMPLES = 3
MAX_LABEL_CHARS = 80
_MAX_EXAMPLE_CHARS = 200
_REMEMBERED_LABELS = 10_000
_SEPARATORS = re.compile(r"[\s_-]+")
_NOT_WORD = re.compile(r"[\W_]+")

type _Words = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Find:
    """Something that one passage says and the ontology does not declare, with how often, and short examples.

    `type`, `source` and `target` are labels that an ontology may declare; the ends are those of a relation.
    """

    id: str
    kind: str
    type: str
    source: str
    target: str
    count: int
    examples: tuple[str, ...]


def find_undeclared(extraction: Extraction) -> list[Find]:
    """Group what one passage says beyond the ontology by candidate.

    What could not be declared is left out: words that are no label, and relations with an end of no known type.
    """
    examples: defaultdict[str, list[str]] = defaultdict(list)
    spelled: dict[str, _Words] = {}
    for words, example in _spell(extraction):
        identity = ":".join((words[0], *(fold_label(word) for word in words[1:] if word)))
        spelled.setdefault(identity, words)
        examples[identity].append(example)
    return [
        Find(identity, kind, name, source, target, len(examples[identity]), pick_examples(examples[identity]))
        for identity, (kind, name, source, target) in spelled.items()
    ]


def propose_types(
    approved: Iterable[TypeCandidate], ontology: Ontology, parents: Sequence[str] = (), description: str = ""
) -> DeclaredTypes:
    """Make what an ontology lacks of approved candidates: the types themselves, and those at the ends of relations.

    New types get the description, new types of entities that were approved by name the parents, too. What is declared
    by now, in another spelling or as a synonym, is left out or used.
    Raises `OntologyError` where the ontology could not be extended so.
    """
    _check_parents(parents)
    entities: dict[str, EntityType] = {}
    patterns: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    candidates = list(approved)
    for one in candidates:
        if one.kind == ENTITY and ontology.resolve_label(one.type) == UNKNOWN:
            declared = EntityType(label=one.type, description=description, parents=tuple(parents))
            entities.setdefault(fold_label(one.type), declared)
    for one in candidates:
        if one.kind != RELATION:
            continue
        ends = []
        for label in (one.source, one.target):
            known = ontology.resolve_label(label)
            if known == UNKNOWN:
                known = entities.setdefault(fold_label(label), EntityType(label=label)).label
            ends.append(known)
        source, target = ends
        rel_type = ontology.resolve_relation(one.type)
        if rel_type is None or not ontology.allows(rel_type, source, target):
            patterns[rel_type or one.type].append((source, target))
    relations = (
        RelationType(
            label=label,
            description="" if ontology.resolve_relation(label) else description,
            patterns=tuple(dict.fromkeys(pairs)),
        )
        for label, pairs in patterns.items()
    )
    proposed = DeclaredTypes(entity_types=tuple(entities.values()), relation_types=tuple(relations))
    extend(ontology, proposed)
    return proposed


def _check_parents(parents: Sequence[str]) -> None:
    for parent in parents:
        try:
            check_label(parent)
        except ValueError as error:
            raise OntologyError(f"The parent {parent!r} cannot be one: {error}.") from error


def _spell(extraction: Extraction) -> Iterator[tuple[_Words, str]]:
    """Give kind, type, source and target of each undeclared thing, and an example."""
    for mention in extraction.undeclared_mentions:
        if label := spell_entity_label(mention.type):
            yield (ENTITY, label, "", ""), tell_mention(mention)
    for relation in extraction.undeclared_relations:
        rel_type = spell_relation_label(relation.type)
        source, target = spell_entity_label(relation.source_type), spell_entity_label(relation.target_type)
        if rel_type and source and target:
            yield (RELATION, rel_type, source, target), tell_relation(relation)


@lru_cache(maxsize=_REMEMBERED_LABELS)
def spell_entity_label(raw: str) -> str:
    """Spell an extractor's word for a type as a label, `clinical trial` as `Clinical Trial`; '' for what is none."""
    label = " ".join(raw.split())
    if label == label.lower():
        label = " ".join(word[:1].upper() + word[1:] for word in _SEPARATORS.split(label) if word)
    return _as_label(label)


@lru_cache(maxsize=_REMEMBERED_LABELS)
def spell_relation_label(raw: str) -> str:
    """Spell an extractor's word for a relation as a label, `works for` as `WORKS_FOR`; '' for what is none."""
    label = _NOT_WORD.sub("_", raw).strip("_").upper()
    return _as_label(label)


def _as_label(word: str) -> str:
    try:
        return check_label(word) if len(word) <= MAX_LABEL_CHARS else ""
    except ValueError:
        return ""


def tell_mention(mention: Mention) -> str:
    """Tell an example of an entity: its name."""
    return shorten(mention.name)


def tell_relation(relation: Relation) -> str:
    """Tell an example of a relation, as in `Ada TREATS flu`."""
    return shorten(f"{relation.source} {spell_relation_label(relation.type) or relation.type} {relation.target}")


def pick_examples(texts: Iterable[str]) -> tuple[str, ...]:
    """Pick the first few that differ."""
    return tuple(dict.fromkeys(texts))[:MAX_EXAMPLES]


def shorten(text: str) -> str:
    """Make text fit for an example: one line, not long."""
    words = " ".join(text.split())
    return words if len(words) <= _MAX_EXAMPLE_CHARS else f"{words[: _MAX_EXAMPLE_CHARS - 1]}…"
