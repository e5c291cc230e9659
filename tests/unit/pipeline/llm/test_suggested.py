"""What no declared type fits comes into sight under the model's own word for it."""

import pytest

from pipeline.candidates import find_undeclared
from pipeline.config import LlmConfig
from pipeline.extract import ground
from pipeline.llm.notes import Notes
from pipeline.llm.questions import Questions
from pipeline.llm.reading import PassageReader
from pipeline.llm.suggested import MAX_CHARS, other_relation, read_suggestion
from pipeline.models import Mention
from pipeline.ontology import DEFAULT_ONTOLOGY, Ontology, RelationType

TEXT = "Ann Lee takes Veltrex. Bob Ray likes Ann Lee."
ANN, BOB = ("Ann Lee", "Person"), ("Bob Ray", "Person")


def read(model, ontology, found=(), **config):
    settings = LlmConfig(model="scripted/one", **config)
    reader = PassageReader(model.complete, Questions(ontology, settings.max_output_tokens), settings, Notes(None, ""))
    return ground(TEXT, reader.read(TEXT, found), ontology)


def unknown(suggested, name="Veltrex"):
    return {"name": name, "type": "Unknown", "suggested_type": suggested}


def other(suggested, target="Veltrex"):
    return {"source": "Ann Lee", "target": target, "type": "OTHER", "suggested_type": suggested}


def types(mentions):
    return [(m.name, m.type) for m in mentions]


def patterns(relations):
    return [(r.source_type, r.type, r.target_type) for r in relations]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_suggested_type_is_a_candidate_and_the_entity_is_unknown(chat, spell, ontology, steps):
    first = spell(ANN, {"name": "Veltrex", "type": "Unknown", "confidence": 0.9})
    second = spell(ANN, unknown("drug"), relationships=[other("TAKES")])
    found = read(chat(*[first, second][2 - steps :]), ontology, steps=steps)
    assert types(found.mentions) == [ANN, ("Veltrex", "Unknown")]
    assert types(found.undeclared_mentions) == [("Veltrex", "drug")]
    assert patterns(found.undeclared_relations) == [("Person", "TAKES", "drug")]
    assert [find.id for find in find_undeclared(found)] == ["entity:drug", "relation:takes:person:drug"]
    assert found.relations == ()
    assert found.dropped == {"undeclared_relation": 1}


def test_what_a_local_model_found_keeps_its_place_under_a_suggested_type(chat, spell, ontology):
    before = [Mention("Veltrex", "Company", 14, 21, score=0.4)]
    found = read(chat(spell(unknown("drug"))), ontology, found=before)
    assert [(m.name, m.type, m.start, m.score) for m in found.undeclared_mentions] == [("Veltrex", "drug", 14, 0.4)]


def test_of_two_entities_of_one_name_the_unknown_one_keeps_its_place(chat, spell, ontology):
    before = [Mention("Ann Lee", "Person", 0, 7), Mention("Ann Lee", "Unknown", 37, 44)]
    found = read(chat(spell(ANN, unknown("ship", "Ann Lee"))), ontology, found=before)
    assert [(m.type, m.start) for m in found.mentions] == [("Person", 0), ("Unknown", 37)]
    assert [(m.type, m.start) for m in found.undeclared_mentions] == [("ship", 37)]


@pytest.mark.parametrize(
    "odd", ["", " ", None, 7, "42", "Unknown", "n/a", "N A", "none", "OTHER", "Document", "a" * 41, "x: y"]
)
def test_an_odd_suggestion_is_none(chat, spell, ontology, odd):
    found = read(chat(spell(ANN, BOB, unknown(odd), relationships=[other(odd, "Bob Ray")])), ontology)
    assert ("Veltrex", "Unknown") in types(found.mentions)
    assert (found.undeclared_mentions, found.undeclared_relations, found.relations) == ((), (), ())
    assert found.dropped == {"undeclared_relation": 1}


def test_a_suggestion_beside_a_declared_type_counts_for_nothing(chat, spell, ontology):
    ann = {"name": "Ann Lee", "type": "Person", "suggested_type": "Patient"}
    likes = {**other("TAKES"), "type": "LIKES"}
    found = read(chat(spell(ann, ("Veltrex", "Company"), relationships=[likes])), ontology)
    assert found.undeclared_mentions == ()
    assert patterns(found.undeclared_relations) == [("Person", "LIKES", "Company")]


def test_a_suggestion_that_is_declared_is_that_type(chat, spell, ontology):
    found = read(
        chat(spell(unknown("human", "Ann Lee"), unknown("company"), relationships=[other("works for")])), ontology
    )
    assert types(found.mentions) == [ANN, ("Veltrex", "Company")]
    assert patterns(found.relations) == [("Person", "WORKS_FOR", "Company")]
    assert found.undeclared_mentions == ()


def test_other_is_a_type_like_any_where_relations_are_open_or_it_is_declared(chat, spell, ontology):
    declared = Ontology(entity_types=ontology.entity_types, relation_types=(RelationType(label="Other"),))
    opened = Ontology(entity_types=ontology.entity_types)
    for one, spelled in ((declared, "Other"), (opened, "OTHER")):
        found = read(chat(spell(ANN, BOB, relationships=[other("LIKES", "Bob Ray")])), one)
        assert [r.type for r in found.relations] == [spelled]


def test_other_stands_for_relations_only_where_some_are_declared_and_it_is_not(ontology):
    assert other_relation(ontology) == "OTHER"
    assert other_relation(DEFAULT_ONTOLOGY) == ""
    for label in ("OTHER", "other", "O-ther"):
        assert (
            other_relation(Ontology(entity_types=ontology.entity_types, relation_types=(RelationType(label=label),)))
            == ""
        )


@pytest.mark.parametrize(
    ("raw", "read_as"),
    [
        (" Medical\n Device. ", "Medical Device"),
        ("'drug'", "drug"),
        ("PRESCRIBED_TO", "PRESCRIBED_TO"),
        ("b" * MAX_CHARS, "b" * MAX_CHARS),
        ("薬", "薬"),
    ],
)
def test_suggestions_are_read_without_marks_around_them(raw, read_as):
    assert read_suggestion(raw) == read_as
