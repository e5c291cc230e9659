import pytest

from pipeline.llm.answers import EntityItem, RelationItem, Said
from pipeline.llm.telling import tell_extraction, tell_found
from pipeline.models import Mention
from pipeline.ontology import UNKNOWN

TEXT = "Ada praised Apple. In Apple's garden an apple fell on Ada."


def said(*entities, relations=()):
    return Said(
        tuple(EntityItem(name=name, type=kind) for name, kind in entities),
        tuple(RelationItem(source=r[0], type=r[1], target=r[2], quote=r[3]) for r in relations),
    )


def places(extraction):
    return [(m.name, m.type, m.start) for m in extraction.mentions]


def test_an_entity_that_the_model_alone_names_has_its_first_place_in_any_case():
    found = tell_extraction(TEXT, said(("APPLE", "Company"), ("ada", "Person"), ("Eve", "Person"), ("it", "Person")))
    assert places(found) == [
        ("APPLE", "Company", 12),
        ("ada", "Person", 0),
        ("Eve", "Person", -1),
        ("it", "Person", -1),
    ]


def test_an_entity_that_was_found_before_keeps_all_its_places_and_scores():
    before = [Mention("Ada", "Person", 54, 57, score=0.4), Mention("Ada", "Unknown", 0, 3, score=0.6)]
    found = tell_extraction(TEXT, said(("ADA", "Person")), before)
    assert [(m.type, m.start, m.end, m.score) for m in found.mentions] == [
        ("Person", 54, 57, 0.4),
        ("Person", 0, 3, 0.6),
    ]


def test_the_model_puts_a_type_right_and_one_that_it_does_not_say_stays():
    before = [Mention("Ada", "Company", 0, 3), Mention("Apple", "Company", 12, 17)]
    assert places(tell_extraction(TEXT, said(("Ada", "Person"), ("Apple", "")), before)) == [
        ("Ada", "Person", 0),
        ("Apple", "Company", 12),
    ]


def test_two_entities_of_one_name_keep_the_places_of_their_types():
    before = [Mention("Apple", "Company", 12, 17), Mention("apple", "fruit", 40, 45)]
    for answer in (said(("Apple", "Company"), ("apple", "Fruit")), said(("apple", "Fruit"), ("Apple", "Company"))):
        assert sorted(places(tell_extraction(TEXT, answer, before))) == [
            ("Apple", "Company", 12),
            ("apple", "Fruit", 40),
        ]


def test_what_the_model_does_not_confirm_is_dropped_and_counted():
    found = tell_extraction(TEXT, said(("Ada", "Person")), [Mention("garden", "Place", 30, 36)])
    assert places(found) == [("Ada", "Person", 0)]
    assert found.dropped == {"unverified": 1}


@pytest.mark.parametrize(
    ("quote", "span"),
    [
        ("Ada praised Apple.", (0, 18)),
        ("ada  PRAISED\napple", (0, 17)),
        ("Ada liked Apple", (-1, -1)),
        ("", (-1, -1)),
        (f"{TEXT} And more.", (-1, -1)),
        ("(.*)", (-1, -1)),
    ],
)
def test_a_relation_stands_where_its_quote_does(quote, span):
    answer = said(("Ada", "Person"), ("Apple", "Company"), relations=[("ada", "PRAISED", "Apple", quote)])
    (relation,) = tell_extraction(TEXT, answer).relations
    assert (relation.start, relation.end) == span
    assert (relation.source_type, relation.target_type) == ("Person", "Company")


def test_entities_that_a_first_step_is_less_sure_of_have_no_type():
    answer = Said(
        (
            EntityItem(name="Ada", type="Person", confidence=0.75),
            EntityItem(name="Apple", type="Company", confidence=0.74),
        ),
        (),
    )
    found = tell_found(TEXT, answer, min_confidence=0.75)
    assert [(m.name, m.type, m.start, m.score) for m in found] == [
        ("Ada", "Person", 0, 0.75),
        ("Apple", UNKNOWN, 12, 0.74),
    ]
