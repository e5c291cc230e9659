"""Rows of documents: identity, folding, merges, and what cannot be stored."""

import dataclasses
from collections.abc import Callable

import orjson
import pytest

from pipeline import ids
from pipeline.models import Document, Extraction, Mention, Relation
from pipeline.write import (
    MAX_NESTED,
    StoredCounts,
    extracted_ids,
    is_storable,
    make_rows,
    pick_description,
    pick_name,
    pick_properties,
    spell_fact,
)

Make = Callable[..., Document]

ADA, ACME = ("Ada", "Person"), ("Acme", "Organization")
SAID = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])


def with_extraction(document: Document, extraction: Extraction) -> Document:
    return dataclasses.replace(document, extractions=(extraction,) * len(document.chunks))


def test_rows_carry_every_chunk_entity_and_relation_of_a_batch_once(make_document: Make) -> None:
    documents = [make_document("a", SAID, SAID), make_document("b", SAID)]
    rows = make_rows(documents, {})

    assert len({row.id for row in rows.chunks}) == len(rows.chunks) == 3
    assert rows.neighbours == ((rows.chunks[0].id, rows.chunks[1].id),)
    assert sorted(row.id for row in rows.entities) == ["acme__organization", "ada__person"]
    assert [len(row.mentions) for row in rows.entities] == [3, 3]
    (relation,) = rows.relations
    assert (relation.source, relation.rel_type, relation.target) == ("ada__person", "FOUNDED", "acme__organization")
    assert len(relation.supports) == 3
    assert rows.expected == {"file:a": StoredCounts(2, 4, 2), "file:b": StoredCounts(1, 2, 1)}


def test_mentions_of_one_entity_in_a_chunk_are_folded_with_all_their_spans(make_document: Make) -> None:
    mentions = (
        Mention("ACME", "Organization", 9, 13, "short"),
        Mention("Acme", "Organization", 0, 4, "a longer description"),
        Mention("Acme", "Organization", 20, 24, "a longer description"),
    )
    rows = make_rows([with_extraction(make_document("a", SAID), Extraction(mentions))], {})
    (entity,) = rows.entities
    (mention,) = entity.mentions
    assert (entity.name, mention.name, mention.description) == ("Acme", "Acme", "a longer description")
    assert orjson.loads(mention.spans) == [[0, 4], [9, 13], [20, 24]]


def test_merged_ids_are_resolved_and_keep_what_they_were_extracted_as(make_document: Make) -> None:
    said = ("Ada L. and Ada founded Acme.", [("Ada L.", "Person"), ADA, ACME], [("Ada L.", "FOUNDED", "Acme")])
    rows = make_rows([make_document("a", said)], {"ada l.__person": "ada__person"})
    ada = next(row for row in rows.entities if row.id == "ada__person")
    assert sorted(mention.as_id for mention in ada.mentions) == ["ada l.__person", "ada__person"]
    (relation,) = rows.relations
    assert relation.source == "ada__person"
    assert relation.supports[0].source_as_id == "ada l.__person"


def test_an_entity_takes_the_type_of_its_own_mention_not_of_one_merged_into_it(make_document: Make) -> None:
    named = [("python", "Concept"), ("Python", "Technology")]
    rows = make_rows([make_document("a", ("Python is Python.", named, []))], {"python__concept": "python__technology"})
    (entity,) = rows.entities
    assert entity.label == "Technology"


def test_a_relation_whose_ends_were_merged_keeps_only_its_support(make_document: Make) -> None:
    rows = make_rows([make_document("a", SAID)], {"ada__person": "acme__organization"})
    (relation,) = rows.relations
    assert relation.is_loop
    assert rows.expected["file:a"].supports == 1


def test_nameless_mentions_and_relations_without_grounded_ends_are_left_out(make_document: Make) -> None:
    relations = (
        Relation("Ada", "Person", "Ada", "Person", "KNOWS", "", 0, 1),
        Relation("Ada", "Person", "Nobody", "Person", "KNOWS", "", 0, 1),
        Relation("Ada", "Person", "Acme", "Organization", " \x00", "", 0, 1),
    )
    mentions = (
        Mention("Ada", "Person", 0, 3),
        Mention("Acme", "Organization", 12, 16),
        Mention(" \x07", "Person", 0, 1),
        Mention("x" * 5000, "Person", 0, 1),
    )
    document = with_extraction(make_document("a", SAID), Extraction(mentions, relations))
    rows = make_rows([document], {})
    assert sorted(row.id for row in rows.entities) == ["acme__organization", "ada__person"]
    assert rows.relations == ()
    assert extracted_ids([document]) == {"acme__organization", "ada__person"}


def test_control_characters_and_lone_surrogates_do_not_reach_names_and_descriptions(make_document: Make) -> None:
    mentions = (Mention("A\x00d\ud800a", "Person", 0, 3, "line\none\x1b[0m"),)
    rows = make_rows([with_extraction(make_document("a", SAID), Extraction(mentions))], {})
    (entity,) = rows.entities
    assert (entity.id, entity.name, entity.mentions[0].description) == ("ada__person", "Ada", "line\none[0m")


def test_the_mentions_of_a_hub_are_spread_over_several_rows(make_document: Make) -> None:
    passages = [(f"Ada founded Acme, {number}.", *SAID[1:]) for number in range(2 * MAX_NESTED + 1)]
    rows = make_rows([make_document("a", *passages)], {})
    assert len(rows.entities) == 2
    assert [len(row.mentions) for row in rows.more_mentions] == [MAX_NESTED, 1] * 2
    assert [len(row.supports) for row in rows.relations] == [MAX_NESTED, MAX_NESTED, 1]


def test_the_chosen_name_and_description_do_not_depend_on_the_order() -> None:
    assert pick_name({"ACME": 1, "Acme": 2, "acme": 1}) == "Acme"
    assert pick_name({"Acme": 1, "ACME": 1}) == pick_name({"ACME": 1, "Acme": 1}) == "ACME"
    assert pick_description(["b", "a", "long"]) == "long"
    assert pick_description(["b", "a"]) == pick_description(["a", "b"]) == "a"
    assert pick_description([]) == ""


def test_a_fact_is_spelled_as_the_sdk_spells_it() -> None:
    assert spell_fact("Ada", "FOUNDED", "Acme", "Ada founded Acme.") == "(Ada, FOUNDED, Acme): Ada founded Acme."


@pytest.mark.parametrize(
    ("identity", "storable"),
    [("a", True), ("", False), (" a", False), ("a\t", False), ("é" * 2048, True), ("é" * 2049, False)],
)
def test_an_id_is_storable_where_an_index_finds_it_again(identity: str, storable: bool) -> None:  # noqa: FBT001 - a parameter
    assert is_storable(identity) is storable


def test_a_relation_key_gives_its_parts_back() -> None:
    assert ids.split_relation_key(ids.relation_key("a__x", "KNOWS", "b__y")) == ("a__x", "KNOWS", "b__y")


def test_each_property_is_the_most_frequent_value_then_that_of_the_smallest_json() -> None:
    told = {'{"age":41,"home":"Ely"}': 1, '{"age":42}': 2, '{"home":"Bath"}': 1, "{}": 9}
    assert pick_properties(told) == {"age": 42, "home": "Ely"}
    assert pick_properties(dict(reversed(told.items()))) == pick_properties(told)


def test_values_keep_their_types_and_what_is_empty_is_none() -> None:
    told = '{"a":1,"b":1.0,"c":true,"d":["x","y"],"e":null,"f":"","g":[],"h":{"x":1},"i":[{"x":1}]}'
    picked = pick_properties({told: 1})
    assert picked == {"a": 1, "b": 1.0, "c": True, "d": ["x", "y"], "h": '{"x":1}', "i": ['{"x":1}']}
    assert [type(picked[name]) for name in "abc"] == [int, float, bool]


def test_what_the_mentions_of_one_chunk_tell_is_folded_to_one_object(make_document: Make) -> None:
    told = ("", '{"age":41}', '{"age":41,"home":"Ely"}', '{"age":40}')
    mentions = tuple(Mention("Ada", "Person", place, place + 3, properties=one) for place, one in enumerate(told))
    document = make_document("a", SAID)
    folds = [(mentions, told[2]), (mentions[::-1], told[2]), (mentions[:2], told[1]), (mentions[:1], "")]
    for some, expected in folds:
        (entity,) = make_rows([with_extraction(document, Extraction(some))], {}).entities
        assert entity.mentions[0].properties == expected


def test_labels_beside_a_type_are_those_of_all_documents_of_a_batch(make_document: Make) -> None:
    labels = ({"Person": ("Agent",)}, {"Person": ("Agent", "Being", "Person"), "Date": ()})
    documents = [
        dataclasses.replace(make_document(name, SAID), labels=one) for name, one in zip("ab", labels, strict=True)
    ]
    assert make_rows(documents, {}).labels == {"Person": ("Agent", "Being")}


def test_what_is_undeclared_is_a_row_a_candidate_with_every_chunk_that_says_it(make_document: Make) -> None:
    said = Extraction(
        undeclared_mentions=(Mention("Aspi\x07rin", "drug", 0, 7), Mention("Tea", "DRUG", 0, 3)),
        undeclared_relations=(Relation("Tea", "drug", "flu", "Disease", "treats", "", 0, 1),),
    )
    document = with_extraction(make_document("a", SAID, SAID), said)
    rows = make_rows([document], {}, suffix="-next")
    drug, treats = rows.candidates
    assert (drug.id, drug.kind, drug.type, drug.source, drug.target) == ("entity:drug", "entity", "Drug", "", "")
    assert [one.chunk_id for one in drug.finds] == [one.id for one in rows.chunks]
    assert all(one.chunk_id.endswith("-next") for one in drug.finds)
    assert (drug.finds[0].count, drug.finds[0].examples) == (2, ("Aspirin", "Tea"))
    assert (treats.id, treats.source, treats.target) == ("relation:treats:drug:disease", "Drug", "Disease")
    assert rows.expected["file:a"] == StoredCounts(2, 0, 0)


def test_finds_of_a_frequent_candidate_are_spread_over_bounded_rows(make_document: Make) -> None:
    said = Extraction(undeclared_mentions=(Mention("Tea", "drug", 0, 3),))
    document = with_extraction(make_document("a", *[SAID] * (MAX_NESTED + 1)), said)
    assert [len(row.finds) for row in make_rows([document], {}).candidates] == [MAX_NESTED, 1]
