"""How an ontology may change: by adding only, so that what a graph holds stays as it was declared.

Types, synonyms, parents, properties and patterns may be added and descriptions rewritten. What is left out of an
addition stays. A property keeps its type, and a relation that may hold between any pair is never narrowed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.errors import OntologyError
from pipeline.ontology.conflicts import find_conflicts
from pipeline.ontology.declared import DeclaredTypes, EntityType, PropertyType, spell_pattern
from pipeline.ontology.labels import fold_label, fold_property
from pipeline.ontology.types import Ontology


@dataclass(frozen=True, slots=True)
class OntologyDiff:
    """What one ontology declares more, otherwise and less than another, a line each."""

    added: tuple[str, ...]
    described: tuple[str, ...]
    """Descriptions that differ."""
    removed: tuple[str, ...]
    contradictions: tuple[str, ...]

    @property
    def only_adds(self) -> bool:
        """Whether the graph of the older one may go on with the newer."""
        return not (self.removed or self.contradictions)

    @property
    def empty(self) -> bool:
        """Whether both declare the same."""
        return not (self.added or self.described or self.removed or self.contradictions)


def diff(old: Ontology, new: Ontology) -> OntologyDiff:
    """Compare two ontologies.

    The order of what they declare does not count, and a pattern for which a pattern of a supertype stands is not gone.
    """
    before, after = dict(_parts(old)), dict(_parts(new))
    covered = {_pattern_key(*ends) for ends in _patterns(old) if _still_allowed(new, *ends)}
    return OntologyDiff(
        added=tuple(line for key, line in after.items() if key not in before),
        described=tuple(_differing_descriptions(old, new)),
        removed=tuple(line for key, line in before.items() if key not in after.keys() | covered),
        contradictions=tuple(dict.fromkeys([*_narrowed(old, new), *_retyped(old, new)])),
    )


def extend(old: Ontology, addition: DeclaredTypes) -> Ontology:
    """Give an ontology that declares what `old` does and what is added to it.

    Labels and names that are declared already keep their spelling. Raises `OntologyError` that lists all that
    contradicts `old`, or does not fit together with it.
    """
    entities = {fold_label(declared.label): declared for declared in old.entity_types}
    relations = {fold_label(declared.label): declared for declared in old.relation_types}
    for added in addition.entity_types:
        word = fold_label(added.label)
        entities[word] = _join_entity(entities[word], added) if word in entities else added
    spelled = {word: declared.label for word, declared in entities.items()}
    for relation in addition.relation_types:
        word = fold_label(relation.label)
        patterns = tuple((spelled.get(fold_label(a), a), spelled.get(fold_label(b), b)) for a, b in relation.patterns)
        known = relations.get(word, relation.model_copy(update={"patterns": ()}))
        relations[word] = known.model_copy(
            update={
                "description": relation.description or known.description,
                "patterns": tuple(dict.fromkeys((*known.patterns, *patterns))),
            }
        )
    types, kinds = tuple(entities.values()), tuple(relations.values())
    faults = [*_narrowed(old, addition), *_retyped_within(old, addition)]
    faults += [message for _, message in find_conflicts(types, kinds)]
    _refuse(faults)
    joined = Ontology(entity_types=types, relation_types=kinds)
    _refuse(_retyped(old, joined))
    return joined


def _refuse(faults: Iterable[str]) -> None:
    if listed := list(dict.fromkeys(faults)):
        shown = "\n".join(f"  {fault}" for fault in listed)
        raise OntologyError(f"The ontology cannot be extended so:\n{shown}")


def _join_entity(known: EntityType, added: EntityType) -> EntityType:
    properties = {fold_property(one.name): one for one in known.properties}
    for one in added.properties:
        before = properties.setdefault(fold_property(one.name), one)
        described = one.description or before.description
        properties[fold_property(one.name)] = before.model_copy(update={"description": described})
    return known.model_copy(
        update={
            "description": added.description or known.description,
            "synonyms": _unite(known.synonyms, added.synonyms),
            "parents": _unite(known.parents, added.parents),
            "properties": tuple(properties.values()),
        }
    )


def _unite(known: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    words = {fold_label(word): word for word in reversed((*known, *added))}
    return tuple(words[word] for word in dict.fromkeys(fold_label(word) for word in (*known, *added)))


def _parts(ontology: DeclaredTypes) -> Iterator[tuple[tuple[str, ...], str]]:
    """List everything that is declared but descriptions, by what tells it apart."""
    for entity in ontology.entity_types:
        word = fold_label(entity.label)
        yield ("entity", word), f"entity type {entity.label}"
        for synonym in entity.synonyms:
            yield ("synonym", word, fold_label(synonym)), f"synonym {synonym!r} of {entity.label}"
        for parent in entity.parents:
            yield ("parent", word, fold_label(parent)), f"parent {parent} of {entity.label}"
        for one in entity.properties:
            yield ("property", word, fold_property(one.name)), f"property {_spell_property(entity, one)}"
    for relation in ontology.relation_types:
        yield ("relation", fold_label(relation.label)), f"relation type {relation.label}"
        for source, target in relation.patterns:
            ends = (relation.label, source, target)
            yield _pattern_key(*ends), f"pattern {spell_pattern(*ends)}"


def _pattern_key(*ends: str) -> tuple[str, ...]:
    return ("pattern", *map(fold_label, ends))


def _patterns(ontology: Ontology) -> Iterator[tuple[str, str, str]]:
    return ((one.label, source, target) for one in ontology.relation_types for source, target in one.patterns)


def _still_allowed(new: Ontology, label: str, source: str, target: str) -> bool:
    """Tell whether a pattern of a supertype stands for one that is left out."""
    has_patterns = {fold_label(one.label) for one in new.relation_types if one.patterns}
    return fold_label(label) in has_patterns and new.allows(label, source, target)


def _spell_property(entity: EntityType, one: PropertyType) -> str:
    return f"{entity.label}.{one.name}:{one.type}"


def _differing_descriptions(old: Ontology, new: Ontology) -> Iterator[str]:
    """Name what is described otherwise; a description that is left out changes none."""
    before = {key: said for key, _, said in _descriptions(old)}
    for key, name, said in _descriptions(new):
        if said and said != before.get(key, said):
            yield name


def _descriptions(ontology: Ontology) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """List what may be described: what tells it apart, its name, and its description."""
    for entity in ontology.entity_types:
        word = fold_label(entity.label)
        yield ("entity", word), f"entity type {entity.label}", entity.description
        for one in entity.properties:
            yield ("property", word, fold_property(one.name)), f"property {entity.label}.{one.name}", one.description
    for relation in ontology.relation_types:
        yield ("relation", fold_label(relation.label)), f"relation type {relation.label}", relation.description


def _narrowed(old: Ontology, new: DeclaredTypes) -> Iterator[str]:
    """Find relations that were free and would no longer be."""
    if new.relation_types and not old.relation_types:
        yield (
            "relations are open, and declaring a relation type would refuse all others; "
            "only a graph that keeps no ontology yet can begin with relation types"
        )
        return
    free = {fold_label(relation.label): relation.label for relation in old.relation_types if not relation.patterns}
    for relation in new.relation_types:
        if relation.patterns and (label := free.get(fold_label(relation.label))):
            yield f"relation type {label} may hold between any pair, and patterns would refuse the others"


def _retyped_within(old: Ontology, addition: DeclaredTypes) -> Iterator[str]:
    """Find properties whose types differ from what was declared, in `old` or earlier in the addition."""
    types: dict[tuple[str, str], PropertyType] = {}
    for entity in (*old.entity_types, *addition.entity_types):
        for one in entity.properties:
            known = types.setdefault((fold_label(entity.label), fold_property(one.name)), one)
            if known.type is not one.type:
                yield f"property {_spell_property(entity, known)} cannot become {one.type}"


def _retyped(old: Ontology, new: Ontology) -> Iterator[str]:
    """Find properties, own and inherited, that would get another type."""
    for entity in old.entity_types:
        after = {fold_property(one.name): one for one in new.properties_of(entity.label)}
        for one in old.properties_of(entity.label):
            now = after.get(fold_property(one.name), one)
            if now.type is not one.type:
                yield f"property {_spell_property(entity, one)} cannot become {now.type}"
