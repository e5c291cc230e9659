"""What is exported is valid in its format, the same every time, and says what the ontology says."""

import json

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rdflib.compare import isomorphic

from pipeline.adapters.turtle import read_turtle
from pipeline.errors import OntologyError
from pipeline.ontology import EntityType, Ontology, ontology_of, preset, preset_names, read_addition, read_source
from pipeline.ontology.exports import FORMATS
from pipeline.ontology.files import parse_ontology

SH = rdflib.Namespace("http://www.w3.org/ns/shacl#")
ODD = ontology_of(
    {
        "entity_types": [
            {
                "label": "Größe 2_x-y",
                "description": 'A "quoted" \\ text:\n\twith\x01 # all',
                "synonyms": ["yes", "null", "1999", "it's"],
                "parents": ["हिन्दी", "Plain Label"],
                "properties": [
                    {"name": "shape", "type": "LIST", "description": "Not a shape."},
                    {"name": "größe", "type": "FLOAT"},
                    {"name": "on", "type": "BOOLEAN"},
                    {"name": "day", "type": "DATE"},
                ],
            },
            "हिन्दी",
            "No",
        ],
        "relation_types": [
            {"label": "No", "description": "- a", "patterns": [["No", "No"], ["Größe 2_x-y", "No"], ["No", "हिन्दी"]]},
            {"label": "one way", "patterns": [["No", "Größe 2_x-y"]]},
            "ANY",
        ],
    }
)
ALL = [*(preset(name) for name in preset_names()), ODD]
IDS = [*preset_names(), "odd"]


def parse(text, form="turtle"):
    return rdflib.Graph().parse(data=text, format=form)


@pytest.mark.parametrize("ontology", ALL, ids=IDS)
def test_yaml_json_and_owl_read_back_give_the_same_ontology(tmp_path, ontology):
    for form, suffix in (("yaml", "yaml"), ("json", "json"), ("owl", "owl.ttl")):
        file = tmp_path / f"o.{suffix}"
        file.write_text(FORMATS[form](ontology), encoding="utf-8")
        assert read_source(file, read_turtle) == ontology, form


@pytest.mark.parametrize("form", ["yaml", "json"])
@settings(deadline=None)  # it measures the machine
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_description_survives_a_file(form, text):
    ontology = Ontology(entity_types=(EntityType(label="A", description=text, synonyms=(f"b{text}",)),))
    assert parse_ontology(FORMATS[form](ontology).encode(), f"o.{form}") == ontology


@pytest.mark.parametrize("ontology", ALL, ids=IDS)
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")
def test_jsonld_and_owl_are_the_same_graph(ontology):
    assert isomorphic(parse(FORMATS["json-ld"](ontology), "json-ld"), parse(FORMATS["owl"](ontology)))


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_ontology_always_gives_the_same_text(form):
    copy = Ontology.model_validate_json(ODD.model_dump_json())
    assert FORMATS[form](copy) == FORMATS[form](ODD)


@pytest.mark.parametrize("ontology", ALL, ids=IDS)
def test_shacl_has_a_shape_for_each_type_and_a_datatype_for_each_property(ontology):
    graph = parse(FORMATS["shacl"](ontology))
    assert len(list(graph.subjects(SH.targetClass))) == len(ontology.entity_types)
    assert len(list(graph.subjects(SH.targetSubjectsOf))) == sum(bool(one.patterns) for one in ontology.relation_types)
    assert len(list(graph.subjects(SH.datatype))) == sum(len(one.properties) for one in ontology.entity_types)
    owl = parse(FORMATS["owl"](ontology))
    named = {*graph.objects(None, SH["class"]), *graph.objects(None, SH.targetClass)}
    assert named <= set(owl.subjects(rdflib.RDF.type, rdflib.OWL.Class))
    paths = {*graph.objects(None, SH.path), *graph.objects(None, SH.targetSubjectsOf)}
    assert paths <= {*owl.subjects(rdflib.RDF.type, rdflib.OWL.DatatypeProperty)} | {
        *owl.subjects(rdflib.RDF.type, rdflib.OWL.ObjectProperty)
    }


@pytest.mark.parametrize("ontology", ALL, ids=IDS)
def test_the_json_schema_is_one_and_takes_and_refuses_what_the_ontology_does(ontology):
    schema = json.loads(FORMATS["json-schema"](ontology))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    kinds = [one.label for one in ontology.relation_types] or ["ANYTHING"]
    pairs = [(a, b) for a in ontology.labels for b in ontology.labels]
    for kind, (a, b) in [(kind, pair) for kind in kinds for pair in pairs][::29]:
        relation = {"type": kind, "source": "x", "source_type": a, "target": "y", "target_type": b}
        assert validator.is_valid({"relations": [relation]}) == ontology.allows(kind, a, b), (kind, a, b)


def test_the_json_schema_knows_own_and_inherited_properties():
    validator = Draft202012Validator(json.loads(FORMATS["json-schema"](preset("business"))))

    def takes(**properties):
        return validator.is_valid({"entities": [{"type": "Company", "name": "X", "properties": properties}]})

    assert takes(ticker="X", employees=5, founded="1999-05")
    assert not takes(employees="five")
    assert not takes(founded="in May")
    assert not takes(colour="red")
    assert not validator.is_valid({"entities": [{"type": "Ship", "name": "X"}]})


def test_presets_are_described_and_their_relations_have_patterns():
    for name in preset_names()[1:]:
        ontology = preset(name)
        assert all(one.description for one in (*ontology.entity_types, *ontology.relation_types))
        assert all(one.patterns for one in ontology.relation_types)
        assert all(one.description for declared in ontology.entity_types for one in declared.properties)


def test_a_name_stands_for_a_preset_or_for_a_file_by_its_ending(tmp_path):
    assert read_source("preset:science", read_turtle) == preset("science")
    assert read_addition("preset:default", read_turtle) == preset("default")
    with pytest.raises(
        OntologyError, match=r"There is no preset 'sience'\. The presets are default, business, science"
    ):
        read_source("preset:sience", read_turtle)
    with pytest.raises(OntologyError, match=r"no preset '\.\./files'"):
        read_source("preset:../files", read_turtle)
    (tmp_path / "o.TTL").write_text(FORMATS["owl"](ODD), encoding="utf-8")
    assert read_addition(str(tmp_path / "o.TTL"), read_turtle) == ODD
    (tmp_path / "part.yml").write_text("relation_types: [{label: R, patterns: [[A, B]]}]", encoding="utf-8")
    assert read_addition(tmp_path / "part.yml", read_turtle).relation_types[0].label == "R"
