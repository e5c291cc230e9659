"""The prune report: what was left out, with samples and the commands that would take it in."""

import json
import shlex

import pytest

from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology, RelationType
from pipeline.prune import MAX_KINDS, extend_command, merge_pruned, summarise_pruned

WORK = Ontology(
    entity_types=(EntityType(label="Person"), EntityType(label="Company", synonyms=("firm",))),
    relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Company"),)),),
)


def mention(name: str, raw: str) -> Mention:
    return Mention(name, raw, 0, len(name))


def relation(source: str, source_type: str, rel_type: str, target: str, target_type: str) -> Relation:
    return Relation(source, source_type, target, target_type, rel_type, "", 0, 1)


INVERTED = relation("Acme", "firm", "works for", "Ada", "Person")
UNDECLARED = relation("Aspirin", "drug", "treats", "flu", "illness")


def test_nothing_is_reported_where_nothing_was_left_out():
    said = Extraction((mention("Ada", "Person"),), (relation("Ada", "Person", "KNOWS", "Eve", "Person"),))
    assert summarise_pruned([said, Extraction()], DEFAULT_ONTOLOGY) == {}
    assert merge_pruned([{}, {}]) == {}


def test_types_are_counted_in_any_spelling_with_three_samples_at_most():
    said = Extraction(
        undeclared_mentions=tuple(
            mention(name, raw)
            for name, raw in (("Aspirin", "drug"), ("Tea", "DRUG"), ("Aspirin", "Drug"), ("X1", "drug"), ("X2", "drug"))
        )
    )
    assert summarise_pruned([said], WORK) == {
        "types": [{"type": "Drug", "count": 5, "samples": ["Aspirin", "Tea", "X1"]}]
    }


def test_an_inverted_pattern_is_told_from_an_undeclared_one():
    summary = summarise_pruned([Extraction(undeclared_relations=(INVERTED, UNDECLARED))], WORK)
    found = {(one["type"], one["source"], one["target"]): one["inverted"] for one in summary["relations"]}
    assert found == {("WORKS_FOR", "Company", "Person"): True, ("TREATS", "Drug", "Illness"): False}


def test_unknown_entities_and_relations_with_an_unknown_end_stand_apart():
    said = Extraction(
        (mention("Blob", "Unknown"), mention("Ada", "Person")),
        (relation("Ada", "Person", "LIKES", "Blob", "Unknown"),),
        undeclared_relations=(relation("Blob", "Unknown", "EATS", "Ada", "Person"),),
    )
    assert summarise_pruned([said], WORK) == {
        "unknown_entities": {"count": 1, "samples": ["Blob"]},
        "unknown_ends": {"count": 2, "samples": ["Ada LIKES Blob", "Blob EATS Ada"]},
    }


def test_an_entity_of_an_undeclared_type_is_counted_by_its_type_alone():
    unknown = Mention("Tea", "Unknown", 9, 12)
    said = Extraction((mention("Blob", "Unknown"), unknown), undeclared_mentions=(Mention("Tea", "drug", 9, 12),))
    assert summarise_pruned([said], WORK) == {
        "types": [{"type": "Drug", "count": 1, "samples": ["Tea"]}],
        "unknown_entities": {"count": 1, "samples": ["Blob"]},
    }


def test_lists_that_were_stored_as_empty_mappings_are_lists_again():
    summary = summarise_pruned([Extraction(undeclared_relations=(INVERTED,))], WORK)
    (item,) = summary["relations"]
    stored = {"relations": [{**item, "undeclared": {}, "samples": {}}]}
    (read,) = merge_pruned([stored])["relations"]
    assert (read["undeclared"], read["samples"]) == ([], [])


def test_drops_are_added_up_by_reason():
    said = [Extraction(dropped={"not_in_text": 2, "invalid_name": 1}), Extraction(dropped={"not_in_text": 3})]
    assert summarise_pruned(said, WORK) == {"dropped": {"invalid_name": 1, "not_in_text": 5}}


def test_a_summary_is_bounded_and_of_json_values():
    kinds = [mention(f"name {number}", f"kind {number}") for number in range(MAX_KINDS + 5)]
    summary = summarise_pruned([Extraction(undeclared_mentions=(*kinds, kinds[-1]))], WORK)
    assert len(summary["types"]) == MAX_KINDS
    assert summary["types"][0] == {"type": f"Kind {MAX_KINDS + 4}", "count": 2, "samples": [f"name {MAX_KINDS + 4}"]}
    assert summary["more"] == {"types": 5}
    assert json.loads(json.dumps(summary)) == summary


def test_the_summaries_of_documents_add_up_to_that_of_a_run():
    said = [
        Extraction((mention("Blob", "Unknown"),), undeclared_mentions=(mention("Aspirin", "drug"),), dropped={"x": 1}),
        Extraction(undeclared_mentions=(mention("Tea", "DRUG"),), undeclared_relations=(INVERTED, UNDECLARED)),
        Extraction((mention("Blub", "Unknown"),), undeclared_relations=(INVERTED,), dropped={"x": 2, "y": 1}),
    ]
    apart = [summarise_pruned([one], WORK) for one in said]
    before = json.dumps(apart)
    assert merge_pruned(apart) == summarise_pruned(said, WORK)
    assert json.dumps(apart) == before


def test_what_a_document_does_not_list_is_not_forgotten_by_its_run():
    kinds = Extraction(
        undeclared_mentions=tuple(mention("a name", f"kind {number}") for number in range(MAX_KINDS + 2))
    )
    summary = summarise_pruned([kinds], WORK)
    merged = merge_pruned([summary, summary], limit=4)
    assert [one["count"] for one in merged["types"]] == [2] * 4
    assert merged["more"] == {"types": 2 * (MAX_KINDS - 4) + 2 * 2}


@pytest.mark.parametrize(
    ("said", "options"),
    [
        (Extraction(undeclared_mentions=(mention("Aspirin", "drug"),)), ["--entity", "Drug"]),
        (Extraction(undeclared_relations=(INVERTED,)), ["--relation", "WORKS_FOR:Company->Person"]),
        (
            Extraction(undeclared_relations=(UNDECLARED,)),
            ["--entity", "Drug", "--entity", "Illness", "--relation", "TREATS:Drug->Illness"],
        ),
    ],
)
def test_each_find_has_the_command_that_takes_it_in(said, options):
    summary = summarise_pruned([said], WORK)
    (item,) = [*summary.get("types", ()), *summary.get("relations", ())]
    command = extend_command(item, "my graph")
    assert shlex.split(command) == ["graphmill", "ontology", "extend", "--graph", "my graph", *options]


def test_what_can_be_no_label_has_no_command():
    summary = summarise_pruned(
        [
            Extraction(
                undeclared_mentions=(mention("Aspirin", "drug/dose"),),
                undeclared_relations=(relation("Ada", "Person", "!?", "Acme", "Company"),),
            )
        ],
        WORK,
    )
    assert [one["type"] for one in (*summary["types"], *summary["relations"])] == ["drug/dose", "!?"]
    assert [extend_command(one, "kb") for one in (*summary["types"], *summary["relations"])] == ["", ""]
