"""How ontologies are compared, and how they grow."""

import pytest

from pipeline.errors import OntologyError
from pipeline.ontology import DEFAULT_ONTOLOGY, DeclaredTypes, diff, extend, ontology_of, preset, preset_names
from pipeline.ontology.reading import read_types
from pipeline.ontology.spelling import spelled_addition

FIRMS = ontology_of(
    {
        "entity_types": [
            {"label": "Person", "description": "A human.", "properties": {"born": "DATE"}},
            {"label": "Company", "synonyms": ["firm"], "parents": ["Agent"], "properties": {"staff": "INTEGER"}},
            {"label": "Bank", "parents": ["Company"]},
        ],
        "relation_types": [{"label": "WORKS_FOR", "patterns": [["Person", "Company"]]}, "KNOWS"],
    }
)


def part(**sections) -> DeclaredTypes:
    draft = read_types(sections)
    assert list(draft.faults()) == []
    return draft.part


def test_types_properties_patterns_synonyms_and_parents_may_be_added():
    grown = extend(
        FIRMS,
        part(
            entity_types=[
                {"label": "City"},
                {
                    "label": "company",
                    "description": "A business.",
                    "synonyms": ["Firm", "enterprise"],
                    "parents": ["agent", "Legal Person"],
                    "properties": {"STAFF": "INTEGER", "founded": "DATE"},
                },
            ],
            relation_types=[
                {"label": "works for", "patterns": [["person", "City"], ["PERSON", "company"]]},
                {"label": "SEATED_IN", "patterns": [["Company", "City"]]},
            ],
        ),
    )
    assert diff(FIRMS, grown).added == (
        "synonym 'enterprise' of Company",
        "parent Legal Person of Company",
        "property Company.founded:DATE",
        "entity type City",
        "pattern WORKS_FOR:Person->City",
        "relation type SEATED_IN",
        "pattern SEATED_IN:Company->City",
    )
    assert diff(FIRMS, grown).described == ("entity type Company",)
    assert diff(FIRMS, grown).only_adds
    assert [one.name for one in grown.entity_types[1].properties] == ["staff", "founded"]
    assert grown.entity_types[0].description == "A human."


@pytest.mark.parametrize("name", preset_names())
def test_what_is_declared_already_changes_nothing(name):
    ontology = preset(name)
    assert extend(ontology, ontology) == ontology
    assert extend(ontology, DeclaredTypes(entity_types=ontology.entity_types[:2])) == ontology
    assert diff(ontology, ontology).empty


def test_a_pattern_that_is_left_out_stays():
    assert extend(FIRMS, part(relation_types=["WORKS_FOR"])) == FIRMS


def test_all_contradictions_are_listed_at_once():
    with pytest.raises(OntologyError) as raised:
        extend(
            FIRMS,
            part(
                entity_types=[
                    {"label": "Person", "properties": {"born": "STRING"}},
                    {"label": "Firm"},
                    {"label": "Agent", "parents": ["Bank"]},
                ],
                relation_types=[
                    {"label": "KNOWS", "patterns": [["Person", "Person"]]},
                    {"label": "OWNS", "patterns": [["Person", "Yacht"]]},
                ],
            ),
        )
    assert str(raised.value).splitlines()[1:] == [
        "  relation type KNOWS may hold between any pair, and patterns would refuse the others",
        "  property Person.born:DATE cannot become STRING",
        "  pattern of 'OWNS' names 'Yacht', which is no declared entity label",
        "  synonym 'firm' of 'Company' already means 'Firm'",
        "  'Bank' cannot be below 'Company': that has 'Bank' above itself",
    ]


def test_an_inherited_property_keeps_its_type_too():
    for addition in (
        {"label": "Bank", "properties": {"staff": "STRING"}},
        {"label": "Bank", "parents": ["Person"], "properties": {"Staff": "FLOAT"}},
    ):
        with pytest.raises(OntologyError, match=r"property Bank\.staff:INTEGER cannot become"):
            extend(FIRMS, part(entity_types=[addition]))


def test_a_type_is_not_given_two_types_by_one_addition():
    addition = DeclaredTypes(
        entity_types=tuple(
            part(entity_types=[{"label": "Person", "properties": {"age": kind}}]).entity_types[0]
            for kind in ("INTEGER", "STRING")
        )
    )
    with pytest.raises(OntologyError, match="age:INTEGER cannot become STRING"):
        extend(FIRMS, addition)


def test_open_relations_are_not_narrowed_by_declaring_some():
    with pytest.raises(OntologyError, match="relations are open"):
        extend(DEFAULT_ONTOLOGY, part(relation_types=["KNOWS"]))
    assert extend(DEFAULT_ONTOLOGY, part(entity_types=["Animal"])).labels[-2] == "Animal"


def test_a_comparison_tells_what_is_gone_and_what_contradicts():
    new = ontology_of(
        {
            "entities": [
                {"label": "person", "description": "Somebody.", "properties": {"born": "STRING"}},
                {"label": "Company", "parents": ["Agent"], "properties": {"staff": "INTEGER"}},
                {"label": "Bank", "parents": ["Company"]},
            ],
            "relations": [{"label": "KNOWS", "patterns": [["person", "Bank"]]}, {"label": "WORKS_FOR"}],
        }
    )
    change = diff(FIRMS, new)
    assert change.added == ("pattern KNOWS:person->Bank",)
    assert change.described == ("entity type person",)
    assert change.removed == ("synonym 'firm' of Company", "pattern WORKS_FOR:Person->Company")
    assert change.contradictions == (
        "relation type KNOWS may hold between any pair, and patterns would refuse the others",
        "property Person.born:DATE cannot become STRING",
    )
    assert not change.only_adds


def test_a_pattern_of_a_supertype_stands_for_those_of_its_subtypes():
    narrow = ontology_of(
        {"entities": ["A", {"label": "B", "parents": ["A"]}], "relations": [{"label": "R", "patterns": [["B", "B"]]}]}
    )
    wide = ontology_of(
        {"entities": ["A", {"label": "B", "parents": ["A"]}], "relations": [{"label": "R", "patterns": [["A", "A"]]}]}
    )
    assert diff(narrow, wide).only_adds
    assert diff(wide, narrow).removed == ("pattern R:A->A",)


def test_options_spell_additions():
    addition = spelled_addition(
        FIRMS,
        ["City", " city ", "Legal Person"],
        ["SEATED_IN:Company->City", "SEATED_IN:Bank -> City", "NEAR", "A-B:Legal Person->City"],
        ["City.people:integer", "company.motto", "City.mayor:STRING"],
    )
    assert addition == part(
        entity_types=[
            {"label": "City", "properties": {"people": "INTEGER", "mayor": "STRING"}},
            "Legal Person",
            {"label": "Company", "properties": {"motto": "STRING"}},
        ],
        relation_types=[
            {"label": "SEATED_IN", "patterns": [["Company", "City"], ["Bank", "City"]]},
            "NEAR",
            {"label": "A-B", "patterns": [["Legal Person", "City"]]},
        ],
    )


def test_all_faults_of_options_are_listed_with_the_option():
    with pytest.raises(OntologyError) as raised:
        spelled_addition(
            FIRMS,
            ["a|b", ""],
            ["WORKS_FOR:Person", "OWNS:->Bank", "X:a->b->c", "__X__:Person->Bank"],
            ["Person", "Yacht.length", "Person.", "Person.born:DAY", "Person.two words"],
        )
    lines = str(raised.value).splitlines()[1:]
    for option, fault in (
        ("--entity a|b", "label 'a|b' holds"),
        ("--entity ", "label '' has no letter"),
        ("--relation WORKS_FOR:Person", "write it as TYPE:Source->Target"),
        ("--relation OWNS:->Bank", "write it as"),
        ("--relation X:a->b->c", "write it as"),
        ("--relation __X__:Person->Bank", "label '__X__' is of the form"),
        ("--property Person", "write it as Type.name:INTEGER"),
        ("--property Yacht.length", "'Yacht' is no declared entity label; add --entity 'Yacht'"),
        ("--property Person.", "write it as"),
        ("--property Person.born:DAY", "is none of STRING"),
        ("--property Person.two words", "property name 'two words'"),
    ):
        assert any(line.startswith(f"  {option}: {fault}") for line in lines), (option, lines)
    assert len(lines) == 11
