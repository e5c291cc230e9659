import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.extract import ground, reground
from pipeline.models import Extraction, Mention, Relation, Usage
from pipeline.ontology import UNKNOWN, EntityType, Ontology, PropertyType, RelationType, ValueType

TEXT = "Ann cast Fireball at Bob. Merlin taught Ann in Camelot. Merlin owns Fireball."
PERSON = EntityType(label="Person")
WIZARD = EntityType(label="Wizard", properties=(PropertyType(name="age", type=ValueType.INTEGER),))
SPELL = EntityType(label="Magic Spell", synonyms=("spell",))
TAUGHT = RelationType(label="TAUGHT", patterns=(("Person", "Person"),))
SMALL = Ontology(entity_types=(PERSON,), relation_types=(TAUGHT,))
GROWN = Ontology(
    entity_types=(PERSON, WIZARD, SPELL),
    relation_types=(
        RelationType(label="TAUGHT", patterns=(("Person", "Person"), ("Wizard", "Person"))),
        RelationType(label="cast at"),
        RelationType(label="OWNS", patterns=(("Wizard", "Magic Spell"),)),
    ),
)


def relation(source, rel_type, target, **more):
    return Relation(source, "", target, "", rel_type, "", -1, -1, **more)


RAW = Extraction(
    mentions=(
        Mention("Ann", "Person", -1, -1),
        Mention("Bob", "", -1, -1),
        Mention("Merlin", " Wizard\n", -1, -1, "Old.", 0.5, properties='{"age": "900"}'),
        Mention("Fireball", "spell", -1, -1),
        Mention("Camelot", "unknown", -1, -1),
        Mention("Avalon", "Place", -1, -1),
    ),
    relations=(
        relation("Ann", "cast at", "Bob"),
        relation("ann", "Cast-At", "Bob"),
        relation("Merlin", "taught", "Ann"),
        relation("Merlin", "owns", "Fireball"),
        relation("Ann", "met", "Avalon"),
        relation("Ann", "--", "Bob"),
        relation("Ann", "TAUGHT", "Ann"),
    ),
    dropped={"invalid_item": 2},
    usage=Usage(1, 10, 5, 0.1),
)


def spelled(relations):
    return [(r.source, r.source_type, r.type, r.target, r.target_type) for r in relations]


def test_types_that_are_not_declared_stay_in_sight_beside_unknown():
    found = ground(TEXT, RAW, SMALL)
    assert [(m.name, m.type) for m in found.mentions] == [
        ("Ann", "Person"),
        ("Fireball", UNKNOWN),
        ("Bob", UNKNOWN),
        ("Merlin", UNKNOWN),
        ("Camelot", UNKNOWN),
    ]
    assert found.undeclared_mentions == (
        Mention("Fireball", "spell", 9, 17),
        Mention("Merlin", "Wizard", 26, 32, "Old.", 0.5, properties='{"age": "900"}'),
    )
    assert found.usage == RAW.usage


def test_relations_that_are_not_declared_stay_in_sight_with_the_types_that_were_given():
    found = ground(TEXT, RAW, SMALL)
    assert found.relations == ()
    assert spelled(found.undeclared_relations) == [
        ("Ann", "Person", "CAST_AT", "Bob", UNKNOWN),
        ("Merlin", "Wizard", "TAUGHT", "Ann", "Person"),
        ("Merlin", "Wizard", "OWNS", "Fireball", "spell"),
    ]
    assert all(TEXT[r.start : r.end] == r.description for r in found.undeclared_relations)
    assert found.dropped == {
        "invalid_item": 2,
        "not_in_text": 1,
        "unknown_end": 1,
        "invalid_relation": 1,
        "self_relation": 1,
        "undeclared_relation": 2,
        "untyped_end": 1,
    }


def test_patterns_that_are_not_declared_and_inverted_ones_stay_in_sight():
    ontology = Ontology(
        entity_types=(PERSON, WIZARD),
        relation_types=(RelationType(label="taught by", patterns=(("Person", "Wizard"),)),),
    )
    raw = Extraction(
        (*RAW.mentions[:1], Mention("Bob", "Person", -1, -1), RAW.mentions[2]),
        (relation("Merlin", "TAUGHT_BY", "Ann"), relation("Ann", "Taught By", "Bob")),
    )
    found = ground(TEXT, raw, ontology)
    assert found.dropped == {"inverted_pattern": 1, "undeclared_pattern": 1}
    assert spelled(found.undeclared_relations) == [
        ("Ann", "Person", "taught by", "Bob", "Person"),
        ("Merlin", "Wizard", "taught by", "Ann", "Person"),
    ]


def test_an_end_has_the_type_that_its_relation_says_where_a_name_has_two():
    raw = Extraction(
        (Mention("Merlin", "Wizard", 26, 32), Mention("Merlin", "Poet", 56, 62), RAW.mentions[0]),
        (Relation("Merlin", "Poet", "Ann", "", "SANG_TO", "", -1, -1),),
    )
    assert spelled(ground(TEXT, raw, SMALL).undeclared_relations) == [("Merlin", "Poet", "SANG_TO", "Ann", "Person")]


def test_long_types_are_cut():
    found = ground("Ann.", Extraction((Mention("Ann", "Very " * 40, -1, -1),)), SMALL)
    assert found.undeclared_mentions[0].type == ("Very " * 16).rstrip()


def test_declared_types_may_be_longer_than_those_that_are_not():
    label = "Very " * 20 + "Long"
    found = ground(
        "Ann.", Extraction((Mention("Ann", label.lower(), -1, -1),)), Ontology(entity_types=(EntityType(label=label),))
    )
    assert found.mentions[0].type == label


def test_a_grown_ontology_takes_in_what_fits_it_now():
    found = reground(TEXT, ground(TEXT, RAW, SMALL), GROWN)
    assert found == ground(TEXT, RAW, GROWN)
    assert [(m.name, m.type, m.properties) for m in found.mentions if m.type != UNKNOWN] == [
        ("Ann", "Person", ""),
        ("Fireball", "Magic Spell", ""),
        ("Merlin", "Wizard", '{"age":900}'),
    ]
    assert spelled(found.relations) == [
        ("Ann", "Person", "cast at", "Bob", UNKNOWN),
        ("Merlin", "Wizard", "TAUGHT", "Ann", "Person"),
        ("Merlin", "Wizard", "OWNS", "Fireball", "Magic Spell"),
    ]
    assert (found.undeclared_mentions, found.undeclared_relations) == ((), ())
    assert "undeclared_relation" not in found.dropped


def test_relations_kept_between_untyped_ends_get_their_types():
    open_ontology = Ontology(entity_types=(PERSON,))
    grown = Ontology(entity_types=(PERSON, WIZARD))
    before = ground(TEXT, RAW, open_ontology)
    assert ("Merlin", UNKNOWN, "TAUGHT", "Ann", "Person") in spelled(before.relations)
    after = reground(TEXT, before, grown)
    assert after == ground(TEXT, RAW, grown)
    assert ("Merlin", "Wizard", "TAUGHT", "Ann", "Person") in spelled(after.relations)


@pytest.mark.parametrize("ontology", [SMALL, GROWN])
def test_grounding_again_under_the_same_ontology_changes_nothing(ontology):
    found = ground(TEXT, RAW, ontology)
    assert reground(TEXT, found, ontology) == found


NAMES = st.sampled_from(["Ann", "Bob", "Merlin", "Fireball", "merlin", "Eve"])
TYPES = st.sampled_from(["Person", "wizard", "Spell", "Poet", "", "Unknown"])
OFFSETS = st.sampled_from([(-1, -1), (26, 32), (56, 62), (0, 3), (40, 43)])
MENTIONS = st.builds(
    lambda name, kind, at, score: Mention(name, kind, *at, score=score),
    NAMES,
    TYPES,
    OFFSETS,
    st.sampled_from([0.5, 1]),
)
RELATIONS = st.builds(
    lambda source, rel_type, target, at: Relation(source, "", target, "", rel_type, "", *at),
    NAMES,
    st.sampled_from(["taught", "OWNS", "cast at", "met", "-"]),
    NAMES,
    OFFSETS,
)


def named_once(mentions):
    """One type a name: where a name has several, which one a relation means is not always known again."""
    return list({mention.name.casefold(): mention for mention in mentions}.values())


@settings(max_examples=80)
@given(st.lists(MENTIONS, max_size=6), st.lists(RELATIONS, max_size=6))
def test_grounding_again_is_grounding_the_answer_under_the_grown_ontology(mentions, relations):
    raw = Extraction(tuple(mentions), tuple(relations), {"invalid_item": 1})
    before = ground(TEXT, raw, SMALL)
    assert reground(TEXT, before, SMALL) == before
    after = reground(TEXT, before, GROWN)
    assert reground(TEXT, after, GROWN) == after
    assert after.mentions == ground(TEXT, raw, GROWN).mentions
    single = Extraction(tuple(named_once(mentions)), tuple(relations))
    again, anew = reground(TEXT, ground(TEXT, single, SMALL), GROWN), ground(TEXT, single, GROWN)
    assert set(spelled(again.relations)) == set(spelled(anew.relations))
    assert set(spelled(again.undeclared_relations)) == set(spelled(anew.undeclared_relations))
    assert again.dropped == anew.dropped
