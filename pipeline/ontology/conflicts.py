"""What is wrong between the types of an ontology, though each of them is sound."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.ontology.declared import EntityType, ItemPath, RelationType
from pipeline.ontology.labels import fold_label, fold_property

type Problem = tuple[ItemPath, str]
"""Where something is wrong, and what."""


def find_conflicts(entity_types: Sequence[EntityType], relation_types: Sequence[RelationType]) -> Iterator[Problem]:
    """Find what no type of an ontology shows alone."""
    yield from find_gaps(entity_types, relation_types)
    yield from find_clashes(entity_types, relation_types)


def find_gaps(entity_types: Sequence[EntityType], relation_types: Sequence[RelationType]) -> Iterator[Problem]:
    """Find what is not declared, but has to be: a part of an ontology may leave it to another part."""
    if not entity_types:
        yield ("entity_types",), "declare at least one entity type"
    labels = {fold_label(entity.label) for entity in entity_types}
    for position, relation in enumerate(relation_types):
        for nth, pattern in enumerate(relation.patterns):
            for end in pattern:
                if fold_label(end) not in labels:
                    yield (
                        ("relation_types", position, "patterns", nth),
                        f"pattern of {relation.label!r} names {end!r}, which is no declared entity label",
                    )


def find_clashes(entity_types: Sequence[EntityType], relation_types: Sequence[RelationType]) -> Iterator[Problem]:
    """Find words that mean two types, parents that are none or in a circle, properties that are declared twice."""
    yield from _repeated_labels("entity_types", entity_types)
    yield from _repeated_labels("relation_types", relation_types)
    labels = {fold_label(entity.label): entity.label for entity in entity_types}
    meanings = dict(labels)
    yield from _ambiguous_synonyms(entity_types, meanings)
    yield from _odd_parents(entity_types, labels, meanings)
    yield from _circles(entity_types)
    yield from _repeated_properties(entity_types)


def _repeated_labels(section: str, declared: Iterable[EntityType | RelationType]) -> Iterator[Problem]:
    """Find labels that differ from an earlier one in nothing that counts."""
    seen: dict[str, str] = {}
    for position, item in enumerate(declared):
        word = fold_label(item.label)
        if word and word in seen:
            yield (section, position, "label"), f"label {item.label!r} repeats {seen[word]!r}"
        seen.setdefault(word, item.label)


def _ambiguous_synonyms(entity_types: Sequence[EntityType], meanings: dict[str, str]) -> Iterator[Problem]:
    """Find synonyms that mean another type already; fills `meanings` with all words."""
    for position, entity in enumerate(entity_types):
        for nth, synonym in enumerate(entity.synonyms):
            place: ItemPath = ("entity_types", position, "synonyms", nth)
            if not (word := fold_label(synonym)):
                yield place, f"synonym {synonym!r} of {entity.label!r} has no letter or digit"
            elif (owner := meanings.setdefault(word, entity.label)) != entity.label:
                yield place, f"synonym {synonym!r} of {entity.label!r} already means {owner!r}"


def _odd_parents(
    entity_types: Sequence[EntityType], labels: Mapping[str, str], meanings: Mapping[str, str]
) -> Iterator[Problem]:
    """Find parents that are given twice, or are mere synonyms."""
    for position, entity in enumerate(entity_types):
        seen = set[str]()
        for nth, parent in enumerate(entity.parents):
            place: ItemPath = ("entity_types", position, "parents", nth)
            word = fold_label(parent)
            if word and word in seen:
                yield place, f"parent {parent!r} of {entity.label!r} is given twice"
            elif word not in labels and word in meanings:
                yield place, f"parent {parent!r} is a synonym of {meanings[word]!r}; name that"
            seen.add(word)


def _circles(entity_types: Sequence[EntityType]) -> Iterator[Problem]:
    """Find each parent that closes a circle, walking up from every type once, without recursion."""
    positions: dict[str, int] = {}
    for position, entity in enumerate(entity_types):
        positions.setdefault(fold_label(entity.label), position)
    below, done = set[int](), set[int]()
    for start in positions.values():
        path = [] if start in done else [(start, iter(enumerate(entity_types[start].parents)))]
        below.update(position for position, _ in path)
        while path:
            child, parents = path[-1]
            nth, parent = next(parents, (0, ""))
            above = positions.get(fold_label(parent)) if parent else None
            if above is None:
                if not parent:
                    path.pop()
                    below.discard(child)
                    done.add(child)
            elif above in below:
                label = entity_types[child].label
                circle = "its own parent" if above == child else f"below {parent!r}: that has {label!r} above itself"
                yield ("entity_types", child, "parents", nth), f"{label!r} cannot be {circle}"
            elif above not in done:
                path.append((above, iter(enumerate(entity_types[above].parents))))
                below.add(above)


def _repeated_properties(entity_types: Sequence[EntityType]) -> Iterator[Problem]:
    for position, entity in enumerate(entity_types):
        seen: dict[str, str] = {}
        for nth, declared in enumerate(entity.properties):
            word = fold_property(declared.name)
            if word and word in seen:
                place: ItemPath = ("entity_types", position, "properties", nth, "name")
                yield place, f"property {declared.name!r} of {entity.label!r} repeats {seen[word]!r}"
            seen.setdefault(word, declared.name)
