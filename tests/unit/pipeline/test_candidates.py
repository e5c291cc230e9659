"""Candidates for an ontology: how finds are grouped and named, and what approving them declares."""

import pytest

from pipeline.candidates import find_undeclared, propose_types, spell_entity_label, spell_relation_label
from pipeline.errors import OntologyError
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import DeclaredTypes, EntityType, Ontology, RelationType
from pipeline.ports import CandidateState, TypeCandidate

CLINIC = Ontology(
    entity_types=(EntityType(label="Disease", synonyms=("illness",)), EntityType(label="Person")),
    relation_types=(
        RelationType(label="HAS", patterns=(("Person", "Disease"),)),
        RelationType(label="CONCERNS"),
    ),
)


def drug(name: str, raw: str = "drug") -> Mention:
    return Mention(name, raw, 0, len(name))


def treats(source: str, target: str, source_type: str = "drug", target_type: str = "Disease") -> Relation:
    return Relation(source, source_type, target, target_type, "treats", "", 0, 1)


def candidate(kind: str, label: str, source: str = "", target: str = "") -> TypeCandidate:
    return TypeCandidate(f"{kind}:{label}", kind, label, source, target, 1, 1, (), CandidateState.OPEN)


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("drug", "Drug"),
        ("clinical_trial", "Clinical Trial"),
        (" DNA ", "DNA"),
        ("ClinicalTrial", "ClinicalTrial"),
        ("drug/dose", ""),
        ("Unknown", ""),
        ("__Chunk__", ""),
        ("", ""),
        ("x" * 81, ""),
    ],
)
def test_a_word_for_a_type_becomes_a_label_or_none(raw, label):
    assert spell_entity_label(raw) == label


@pytest.mark.parametrize(
    ("raw", "label"), [("works for", "WORKS_FOR"), ("is-treated-by", "IS_TREATED_BY"), ("!", ""), ("", "")]
)
def test_a_word_for_a_relation_becomes_a_label_or_none(raw, label):
    assert spell_relation_label(raw) == label


def test_finds_are_one_candidate_however_they_are_spelled():
    said = Extraction(undeclared_mentions=(drug("Aspirin"), drug("Ibuprofen", "DRUG"), drug("Aspirin", " Drug")))
    (find,) = find_undeclared(said)
    assert (find.id, find.kind, find.type, find.count) == ("entity:drug", "entity", "Drug", 3)
    assert find.examples == ("Aspirin", "Ibuprofen")


def test_a_relation_is_a_candidate_by_its_type_and_both_ends():
    said = Extraction(
        undeclared_relations=(
            treats("Aspirin", "pain"),
            treats("Tea", "pain", "food"),
            treats("Rest", "pain", "Unknown"),
        )
    )
    finds = find_undeclared(said)
    assert [one.id for one in finds] == ["relation:treats:drug:disease", "relation:treats:food:disease"]
    assert (finds[0].type, finds[0].source, finds[0].target) == ("TREATS", "Drug", "Disease")
    assert finds[0].examples == ("Aspirin TREATS pain",)


def test_examples_are_few_and_short():
    said = Extraction(undeclared_mentions=tuple(drug(f"{number} " + "long " * 100) for number in range(5)))
    (find,) = find_undeclared(said)
    assert find.count == 5
    assert len(find.examples) == 3
    assert {len(text) for text in find.examples} == {200}


def test_approving_a_type_declares_it_with_description_and_parents():
    patch = propose_types([candidate("entity", "Drug")], CLINIC, ["Substance"], "A medicine.")
    assert patch == DeclaredTypes(
        entity_types=(EntityType(label="Drug", description="A medicine.", parents=("Substance",)),)
    )


def test_approving_a_relation_declares_the_types_at_its_ends_that_are_none_yet():
    patch = propose_types([candidate("relation", "TREATS", "Drug", "illness")], CLINIC, ["Substance"], "Cures.")
    assert patch.entity_types == (EntityType(label="Drug"),)
    assert patch.relation_types == (
        RelationType(label="TREATS", description="Cures.", patterns=(("Drug", "Disease"),)),
    )


def test_types_and_relations_that_are_approved_together_are_declared_once():
    approved = [
        candidate("relation", "TREATS", "drug", "Disease"),
        candidate("relation", "TREATS", "Person", "Disease"),
        candidate("entity", "Drug"),
    ]
    patch = propose_types(approved, CLINIC, (), "New.")
    assert patch.entity_types == (EntityType(label="Drug", description="New."),)
    assert patch.relation_types == (
        RelationType(label="TREATS", description="New.", patterns=(("Drug", "Disease"), ("Person", "Disease"))),
    )


def test_what_is_declared_by_now_is_left_out():
    approved = [
        candidate("entity", "illness"),
        candidate("relation", "HAS", "Person", "Disease"),
        candidate("relation", "CONCERNS", "Disease", "Disease"),
    ]
    assert propose_types(approved, CLINIC) == DeclaredTypes()


def test_a_pattern_of_a_declared_relation_leaves_its_description_alone():
    patch = propose_types([candidate("relation", "has", "Disease", "Person")], CLINIC, (), "Other words.")
    assert patch.relation_types == (RelationType(label="HAS", patterns=(("Disease", "Person"),)),)


@pytest.mark.parametrize(("parent", "said"), [("a/b", "The parent 'a/b' cannot be one"), ("Drug", "its own parent")])
def test_types_that_could_not_join_the_ontology_are_not_proposed(parent, said):
    with pytest.raises(OntologyError, match=said):
        propose_types([candidate("entity", "Drug")], CLINIC, parents=(parent,))
