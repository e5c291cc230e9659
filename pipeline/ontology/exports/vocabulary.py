"""Writes an ontology as an OWL vocabulary, in JSON-LD or Turtle.

Types are classes, properties datatype properties of their class. A relation type is an object property; each of several
patterns is a subproperty of it with a domain and a range, as OWL would take several domains of one for all at once.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pipeline.ontology.declared import EntityType, RelationType
from pipeline.ontology.exports.turtle import DATATYPES, PREFIXES, document, iri_of, literal, reference, statement
from pipeline.ontology.types import Ontology

_PREFIXES = ("owl", "rdf", "rdfs", "skos", "xsd")


class _Resource(NamedTuple):
    """A class or property; `links` name other resources, `texts` are said of it."""

    iri: str
    kind: str
    links: list[tuple[str, str]]
    texts: list[tuple[str, str]]


def describe_jsonld(ontology: Ontology) -> dict[str, Any]:
    """Give the vocabulary as a JSON-LD document: a context, and a graph of classes and properties."""
    return {
        "@context": {prefix: PREFIXES[prefix] for prefix in _PREFIXES},
        "@graph": [_node(resource) for resource in _resources(ontology)],
    }


def spell_owl(ontology: Ontology) -> str:
    """Write the vocabulary in Turtle."""
    return document(_PREFIXES, (_spell(resource) for resource in _resources(ontology)))


def _node(resource: _Resource) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": resource.iri, "@type": resource.kind}
    for predicate, target in resource.links:
        node.setdefault(predicate, []).append({"@id": target})
    for predicate, text in resource.texts:
        node.setdefault(predicate, []).append(text)
    return node


def _spell(resource: _Resource) -> str:
    facts = [f"a {resource.kind}"]
    facts += [f"{predicate} {_spell_link(target)}" for predicate, target in resource.links]
    facts += [f"{predicate} {literal(text)}" for predicate, text in resource.texts]
    return statement(reference(resource.iri), facts)


def _spell_link(target: str) -> str:
    return target if target.partition(":")[0] in PREFIXES else reference(target)


def _resources(ontology: Ontology) -> Iterator[_Resource]:
    for declared in ontology.entity_types:
        yield from _of_entity(declared, ontology)
    for relation in ontology.relation_types:
        yield from _of_relation(relation, ontology)


def _of_entity(declared: EntityType, ontology: Ontology) -> Iterator[_Resource]:
    iri = iri_of("entity", declared.label)
    # The nearest ones: each as it is spelled where it is declared.
    above = ontology.ancestors(declared.label)[: len(declared.parents)]
    texts = _texts(declared.label, declared.description)
    texts += [("skos:altLabel", synonym) for synonym in declared.synonyms]
    yield _Resource(iri, "owl:Class", [("rdfs:subClassOf", iri_of("entity", parent)) for parent in above], texts)
    for one in declared.properties:
        links = [("rdfs:domain", iri), ("rdfs:range", DATATYPES[one.type])]
        yield _Resource(
            iri_of("entity", declared.label, one.name), "owl:DatatypeProperty", links, _texts(one.name, one.description)
        )


def _of_relation(relation: RelationType, ontology: Ontology) -> Iterator[_Resource]:
    iri = iri_of("relation", relation.label)
    ends = [_ends(pattern, ontology) for pattern in relation.patterns]
    single = ends[0] if len(ends) == 1 else []
    yield _Resource(iri, "owl:ObjectProperty", single, _texts(relation.label, relation.description))
    for nth, links in enumerate(ends if not single else [], start=1):
        above = ("rdfs:subPropertyOf", iri)
        yield _Resource(
            iri_of("relation", relation.label, nth), "owl:ObjectProperty", [above, *links], _texts(relation.label, "")
        )


def _ends(pattern: tuple[str, str], ontology: Ontology) -> list[tuple[str, str]]:
    source, target = (iri_of("entity", ontology.resolve_label(end)) for end in pattern)
    return [("rdfs:domain", source), ("rdfs:range", target)]


def _texts(label: str, description: str) -> list[tuple[str, str]]:
    return [("rdfs:label", label), *([("rdfs:comment", description)] if description else [])]
