"""Ontologies in OWL and RDFS: what becomes of each construct, and all faults with their IRIs."""

import sys

import pytest

from pipeline.adapters.turtle import read_turtle
from pipeline.errors import OntologyError
from pipeline.ontology.exports.plain import as_mapping

PREFIXES = """@prefix : <http://x.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        file = tmp_path / "o.ttl"
        file.write_text(PREFIXES + text, encoding="utf-8")
        return read_turtle(file)

    return read_text


def test_classes_are_types_and_datatype_properties_are_theirs(read):
    ontology = read(
        """
:Agent a owl:Class ; rdfs:label "Akteur"@de, "Agent"@en ; rdfs:subClassOf owl:Thing, <http://y.org/Living_Thing> .
:LegalPerson a rdfs:Class ; rdfs:label "Legal person (body)" ; skos:definition "A body." ; rdfs:subClassOf :Agent .
:Company a owl:Class ; rdfs:comment "Ein Geschäft."@de, "A business."@en ; skos:altLabel "firm" ;
    rdfs:subClassOf :LegalPerson, :Company, [ a owl:Restriction ; owl:onProperty :staff ; owl:maxCardinality 1 ] .
:staff a owl:DatatypeProperty, owl:FunctionalProperty ; rdfs:domain :LegalPerson ; rdfs:range xsd:nonNegativeInteger .
:since a owl:DatatypeProperty ; rdfs:domain [ owl:unionOf ( :Company :Agent ) ] ; rdfs:range xsd:dateTime .
:motto a rdf:Property ; rdfs:domain :Company ; rdfs:comment "What it says of itself." .
:brand-names a owl:DatatypeProperty ; rdfs:domain :Company ; rdfs:range rdf:List .
:name a owl:DatatypeProperty ; rdfs:domain :Agent ; rdfs:range xsd:string .
:note a owl:AnnotationProperty .
"""
    )
    assert as_mapping(ontology) == {
        "entity_types": [
            {"label": "Agent", "parents": ["Living_Thing"], "properties": [{"name": "since", "type": "DATE"}]},
            {
                "label": "Company",
                "description": "A business.",
                "synonyms": ["firm"],
                "parents": ["LegalPerson"],
                "properties": [
                    {"name": "since", "type": "DATE"},
                    {"name": "brand_names", "type": "LIST"},
                    {"name": "motto", "type": "STRING", "description": "What it says of itself."},
                ],
            },
            {
                "label": "LegalPerson",
                "description": "A body.",
                "parents": ["Agent"],
                "properties": [{"name": "staff", "type": "INTEGER"}],
            },
        ]
    }


def test_object_properties_are_relations_between_all_their_domains_and_ranges(read):
    ontology = read(
        """
:A a owl:Class . :B a owl:Class . :C a owl:Class .
:worksFor a owl:ObjectProperty ; rdfs:domain :A ; rdfs:range [ a owl:Class ; owl:unionOf ( :B :C ) ] ;
    rdfs:comment "Has a job." .
:leads a owl:ObjectProperty ; rdfs:subPropertyOf :worksFor ; rdfs:label "runs" ; rdfs:domain :A ; rdfs:range :B .
:leadsToo a owl:ObjectProperty ; rdfs:label "runs" ; rdfs:domain :A, :B ; rdfs:range :B .
:near a owl:ObjectProperty, owl:SymmetricProperty ; rdfs:domain owl:Thing .
:has a rdf:Property ; rdfs:domain :C ; rdfs:range :A .
"""
    )
    assert as_mapping(ontology)["relation_types"] == [
        {
            "label": "WORKS_FOR",
            "description": "Has a job.",
            "patterns": [["A", "B"], ["A", "C"]],
        },
        {"label": "runs", "patterns": [["A", "B"], ["B", "B"]]},
        {"label": "NEAR"},
        {"label": "HAS", "patterns": [["C", "A"]]},
    ]


def test_all_faults_are_reported_with_their_iris(read):
    with pytest.raises(OntologyError) as raised:
        read(
            """
:Document a owl:Class . :A a owl:Class ; rdfs:subClassOf :B . :B a owl:Class ; rdfs:subClassOf :A .
:a a owl:Class .
:free a owl:DatatypeProperty .
:alien a owl:DatatypeProperty ; rdfs:domain :Nobody .
:odd a owl:DatatypeProperty ; rdfs:domain :A ; rdfs:range xsd:Thing .
:both a owl:DatatypeProperty ; rdfs:domain :A ; rdfs:range xsd:int, xsd:string .
:id a owl:DatatypeProperty ; rdfs:domain :A .
:from a owl:ObjectProperty ; rdfs:domain :A .
:to a owl:ObjectProperty ; rdfs:domain :A ; rdfs:range :Nowhere .
:cut a owl:ObjectProperty ; rdfs:domain :A ; rdfs:range [ owl:complementOf :B ] .
"""
        )
    message = str(raised.value)
    for name, fault in (
        ("Document", ".label: label 'Document' is reserved"),
        ("A", ".label: label 'A' repeats 'a'"),
        ("free", ": is a property of no class"),
        ("alien", ": has the domain <http://x.org/o#Nobody>, which is no class"),
        ("odd", ": has the range <http://www.w3.org/2001/XMLSchema#Thing>, which is no type of values"),
        ("both", ": has values of several types: INTEGER, STRING"),
        ("id", ".name: property name 'id' is reserved"),
        ("from", ": lacks an rdfs:range"),
        ("to", ": has the range <http://x.org/o#Nowhere>, which is no class"),
        ("cut", ": has an rdfs:range that is neither a class"),
    ):
        swapped = f"<http://x.org/o#{name.lower()}>{fault.replace("'A' repeats 'a'", "'a' repeats 'A'")}"
        assert f"<http://x.org/o#{name}>{fault}" in message or swapped in message
    assert "cannot be below" in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one entity type"),
        (":A a owl:Class", r"line \d: "),
        (":A a nope:Class .", "line 7: .*nope"),
        ("\n\n:A a owl:Class ;; ] .", "line 9"),
        (":A a owl:Class ; rdfs:comment " + "[ :p " * 5000, "nested too deeply|line"),
        (
            ":A a owl:Class . :p a rdf:Property ; rdfs:range [ owl:unionOf _:l ] . _:l rdf:first :A ; rdf:rest _:l .",
            "union",
        ),
    ],
)
def test_files_that_are_no_turtle_or_no_ontology_are_refused(read, text, says):
    with pytest.raises(OntologyError, match=says):
        read(text)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(OntologyError, match=r"none\.ttl cannot be read"):
        read_turtle(tmp_path / "none.ttl")
    (tmp_path / "latin.ttl").write_bytes(":Größe a :B .".encode("latin-1"))
    with pytest.raises(OntologyError, match="not UTF-8"):
        read_turtle(tmp_path / "latin.ttl")


def test_where_rdflib_is_not_installed_the_message_says_how_to_install_it(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(OntologyError, match=r"pip install 'graphmill\[rdf\]'"):
        read(":A a owl:Class .")
