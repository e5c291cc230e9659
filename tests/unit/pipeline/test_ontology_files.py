"""Ontology files with properties and parents, their faults with lines, and files that are meant to harm."""

import json

import pytest

from pipeline.errors import OntologyError
from pipeline.ontology import EntityType, Ontology, PropertyType, RelationType, load_addition, load_ontology
from pipeline.ontology.files import LARGEST_FILE

PEOPLE = Ontology(
    entity_types=(
        EntityType(
            label="Person",
            parents=("Agent",),
            properties=(
                PropertyType(name="born", type="DATE", description="Day of birth."),
                PropertyType(name="email"),
                PropertyType(name="age", type="INTEGER"),
            ),
        ),
    )
)


def write(tmp_path, text, name="o.yaml"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "properties",
    [
        "properties: [{name: born, type: date, description: Day of birth.}, email, {name: age, type: INTEGER}]",
        "properties: {born: {type: DATE, description: Day of birth.}, email: , age: Integer}",
        "attributes: [{name: born, type: DATE, description: Day of birth.}, {name: email}, {name: age, type: integer}]",
    ],
)
def test_properties_are_a_list_or_a_mapping_of_names_to_types(tmp_path, properties):
    text = f"entity_types:\n  - label: Person\n    parents: [Agent]\n    {properties}\n"
    assert load_ontology(write(tmp_path, text)) == PEOPLE


def test_all_faults_of_properties_and_parents_are_reported_with_their_lines(tmp_path):
    file = write(
        tmp_path,
        "entities:\n"
        "  - label: Person\n"
        "    parents:\n"
        "      - Person\n"
        "      - a|b\n"
        "    attributes:\n"
        "      born: DAY\n"
        "      two words: STRING\n"
        "      Name: STRING\n"
        "      age: {type: INTEGER, unit: years}\n"
        "  - label: Firm\n"
        "    properties:\n"
        "      - name: size\n"
        "      - name: SIZE\n"
        "      - type: DATE\n"
        "      - [x]\n"
        "  - label: Club\n"
        "    properties: 7\n"
        "  - label: Band\n"
        "    properties: {}\n"
        "    attributes: {}\n"
        "  - [Choir]\n",
    )
    with pytest.raises(OntologyError) as raised:
        load_ontology(file)
    lines = str(raised.value).splitlines()
    for fault in (
        "line 3: entities[0].parents: label 'a|b'",
        "line 7: entities[0].attributes.born.type: is none of STRING, INTEGER",
        "line 8: entities[0].attributes.two words.name: property name 'two words'",
        "line 9: entities[0].attributes.Name.name: property name 'Name' is reserved",
        "line 10: entities[0].attributes.age.unit: is not known; name, type, description are",
        "line 4: entities[0].parents[0]: 'Person' cannot be its own parent",
        "line 14: entities[1].properties[1].name: property 'SIZE' of 'Firm' repeats 'size'",
        "line 15: entities[1].properties[2].name: is missing",
        "line 16: entities[1].properties[3]: is a mapping with name, type, description",
        "line 18: entities[2].properties: must be a list of properties",
        "line 21: entities[3].attributes: properties is given twice",
        "line 22: entities[4]: must be a label, or a mapping with label",
    ):
        assert any(line.startswith(f"  {fault}") for line in lines), fault
    assert len(lines) == 13


def test_a_part_may_leave_types_to_the_ontology_that_it_is_for(tmp_path):
    file = write(tmp_path, "relation_types: [{label: KNOWS, patterns: [[Person, Firm]]}]")
    assert load_addition(file).relation_types == (RelationType(label="KNOWS", patterns=(("Person", "Firm"),)),)
    with pytest.raises(OntologyError, match="names 'Firm'"):
        load_ontology(file)
    with pytest.raises(OntologyError, match=r"line 1: .*'a:b'"):
        load_addition(write(tmp_path, "relation_types: ['a:b']"))


def test_json_escapes_of_characters_in_two_halves_are_joined(tmp_path):
    said = "\N{GRINNING FACE}\N{GRINNING FACE} \\ud83d \N{MUSICAL SYMBOL G CLEF}"
    smile = json.dumps({"entity_types": [{"label": "A", "description": said}]})
    assert "\\ud83d" in smile
    file = write(tmp_path, smile, "o.json")
    assert load_ontology(file).entity_types[0].description == said
    with pytest.raises(OntologyError, match=r"line 1: .*(half of a character|escape)"):
        load_ontology(write(tmp_path, smile.replace("\\ude00", ""), "o.json"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("? [a, b]\n: c\n", "holds a key that is no word"),
        ("{? {a: b} : c}", "holds a key that is no word"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("{" * 500, "nest"),
        ("\x00", "line|cannot"),
        ("entity_types: ['" + "a" * 500 + "']", "longer than 200"),
        ("entity_types:\n" + "  - a|b\n" * 500, "and 899 more"),
    ],
)
def test_hostile_files_are_refused_in_words(tmp_path, text, says):
    with pytest.raises(OntologyError, match=says):
        load_ontology(write(tmp_path, text))


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "large.yaml"
    with file.open("wb") as out:
        out.truncate(LARGEST_FILE * 100)
    with pytest.raises(OntologyError, match="larger than"):
        load_ontology(file)
