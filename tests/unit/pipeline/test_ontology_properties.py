"""Properties and parents of types: what may be declared, and what follows for subtypes."""

import pytest
from pydantic import ValidationError

from pipeline.ontology import EntityType, Ontology, PropertyType, RelationType, ValueType
from pipeline.ontology.labels import OWN_PROPERTIES
from pipeline.tables import OWN_PROPERTIES as TABLE_PROPERTIES


def entity(label, *parents, **properties):
    declared = tuple(PropertyType(name=name, type=kind) for name, kind in properties.items())
    return EntityType(label=label, parents=parents, properties=declared)


ORGANIZATIONS = Ontology(
    entity_types=(
        entity("Start-up", "company", "Tech Firm", founders="INTEGER"),
        entity("Company", "Organization", "Legal Person", founded="INTEGER", ticker="STRING"),
        entity("Organization", "Agent", founded="DATE", staff="INTEGER"),
        entity("Person", "agent"),
    ),
    relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Organization"),)),),
)


def test_ancestors_come_nearest_first_as_they_are_declared_or_spelled_first():
    assert ORGANIZATIONS.ancestors("start up") == ("Company", "Tech Firm", "Organization", "Legal Person", "Agent")
    assert ORGANIZATIONS.ancestors("Person") == ("Agent",)
    assert ORGANIZATIONS.ancestors("Nobody") == ()


def test_a_label_that_is_reached_twice_stands_once():
    diamond = Ontology(entity_types=(entity("A", "B", "C"), entity("B", "D"), entity("C", "D", "E"), entity("D", "E")))
    assert diamond.ancestors("A") == ("B", "C", "D", "E")


def test_own_properties_come_first_and_win_over_inherited_ones():
    declared = [(one.name, one.type) for one in ORGANIZATIONS.properties_of("Start-up")]
    assert declared == [
        ("founders", ValueType.INTEGER),
        ("founded", ValueType.INTEGER),
        ("ticker", ValueType.STRING),
        ("staff", ValueType.INTEGER),
    ]
    assert ORGANIZATIONS.properties_of("Nobody") == ()


def test_a_pattern_allows_subtypes_of_its_ends_but_not_supertypes():
    assert ORGANIZATIONS.allows("WORKS_FOR", "Person", "Start-up")
    narrow = Ontology(
        entity_types=ORGANIZATIONS.entity_types,
        relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Company"),)),),
    )
    assert not narrow.allows("WORKS_FOR", "Person", "Organization")
    assert not narrow.allows("WORKS_FOR", "Start-up", "Person")


@pytest.mark.parametrize("name", ["born", "Größe", "生年", "जन्म_वर्ष", "x2", "_x", "class"])
def test_property_names_are_words_of_any_script(name):
    assert PropertyType(name=name).name == name


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "two words", "2x", "a-b", "a.b", "a`b", "a:b", "a\nb", "__x__", "age__dropped", "x" * 201),
        *("Name", "ID", "description", "Embedding", "spans", "key"),
    ],
)
def test_names_that_a_graph_could_not_keep_or_uses_itself_are_refused(name):
    with pytest.raises(ValidationError):
        PropertyType(name=name)


def test_what_the_graph_keeps_of_an_entity_is_reserved():
    assert TABLE_PROPERTIES <= OWN_PROPERTIES


@pytest.mark.parametrize(
    ("types", "says"),
    [
        ((entity("A", "A"),), "cannot be its own parent"),
        ((entity("A", "B"), entity("B", "C"), entity("C", "a")), "cannot be below 'a'"),
        ((entity("A", "X", "x"),), "given twice"),
        ((entity("A", "Firm"), EntityType(label="Company", synonyms=("firm",))), "is a synonym of 'Company'"),
        ((entity("A", age="INTEGER", AGE="STRING"),), "property 'AGE' of 'A' repeats 'age'"),
    ],
)
def test_parents_in_a_circle_and_repeated_properties_are_refused(types, says):
    with pytest.raises(ValidationError, match=says):
        Ontology(entity_types=types)


@pytest.mark.parametrize("parent", ["a|b", "__X__", "Chunk", ""])
def test_parents_keep_the_rules_of_labels(parent):
    with pytest.raises(ValidationError):
        EntityType(label="A", parents=(parent,))


def test_each_circle_is_reported_once_and_a_long_chain_is_none():
    from pipeline.ontology.conflicts import find_conflicts

    chain = [entity(f"T{n}", f"T{n + 1}") for n in range(3000)]
    assert list(find_conflicts(chain, ())) == []
    circles = [*chain, entity("T3000", "T10"), entity("P", "Q"), entity("Q", "P")]
    assert [place for place, _ in find_conflicts(circles, ())] == [
        ("entity_types", 3000, "parents", 0),
        ("entity_types", 3002, "parents", 0),
    ]


def test_fingerprints_change_with_parents_and_properties():
    variants = [entity("A"), entity("A", "B"), entity("A", x="STRING"), entity("A", x="INTEGER")]
    assert len({Ontology(entity_types=(one,)).fingerprint for one in variants}) == 4
