"""Writes an ontology as SHACL shapes in Turtle: what data of the OWL export's classes may look like.

A type's shape holds for its subtypes, too, as these are subclasses. A relation's shape says what it may lead to from
each type, by all patterns of the type and of those above it.
"""

from collections.abc import Iterator

from pipeline.ontology.declared import EntityType, PropertyType, RelationType, ValueType
from pipeline.ontology.exports.turtle import DATATYPES, document, iri_of, literal, reference, statement
from pipeline.ontology.types import Ontology


def spell_shacl(ontology: Ontology) -> str:
    """Write a node shape for each entity type, and one for each relation type that has patterns."""
    shapes = [_shape_of_entity(declared) for declared in ontology.entity_types]
    shapes += [_shape_of_relation(one, ontology) for one in ontology.relation_types if one.patterns]
    return document(("rdf", "rdfs", "sh", "xsd"), shapes)


def _shape_of_entity(declared: EntityType) -> str:
    facts = ["a sh:NodeShape", f"sh:targetClass {_class(declared.label)}", f"rdfs:label {literal(declared.label)}"]
    if declared.description:
        facts.append(f"rdfs:comment {literal(declared.description)}")
    facts += [f"sh:property [\n        {_property(declared, one)}\n    ]" for one in declared.properties]
    return statement(reference(iri_of("shape", "entity", declared.label)), facts)


def _property(owner: EntityType, declared: PropertyType) -> str:
    facts = [f"sh:path {reference(iri_of('entity', owner.label, declared.name))}", f"sh:name {literal(declared.name)}"]
    if declared.description:
        facts.append(f"sh:description {literal(declared.description)}")
    # A list is a value for each of its items.
    many = declared.type is ValueType.LIST
    facts += ["sh:datatype xsd:string"] if many else [f"sh:datatype {DATATYPES[declared.type]}", "sh:maxCount 1"]
    return " ;\n        ".join(facts)


def _shape_of_relation(relation: RelationType, ontology: Ontology) -> str:
    path = reference(iri_of("relation", relation.label))
    allowed = " ".join(
        f"[\n        sh:class {_class(source)} ;\n        "
        f"sh:property [ sh:path {path} ; sh:or ( {' '.join(f'[ sh:class {_class(target)} ]' for target in targets)} ) ]"
        "\n    ]"
        for source, targets in _targets(relation, ontology)
    )
    facts = ["a sh:NodeShape", f"sh:targetSubjectsOf {path}", f"rdfs:label {literal(relation.label)}"]
    if relation.description:
        facts.append(f"rdfs:comment {literal(relation.description)}")
    return statement(reference(iri_of("shape", "relation", relation.label)), [*facts, f"sh:or ( {allowed} )"])


def _targets(relation: RelationType, ontology: Ontology) -> Iterator[tuple[str, list[str]]]:
    """Give what a relation may lead to from each type that it may come from."""
    patterns = [
        (ontology.resolve_label(source), ontology.resolve_label(target)) for source, target in relation.patterns
    ]
    for declared in ontology.entity_types:
        line = (declared.label, *ontology.ancestors(declared.label))
        if targets := [target for source, target in patterns if source in line]:
            yield declared.label, list(dict.fromkeys(targets))


def _class(label: str) -> str:
    return reference(iri_of("entity", label))
