"""What a merged entity is called and says where its members disagree: the judge's choice, or its own."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from merging import ACME, GROUP, LTD, Graph, Make, proceed

from pipeline import ids
from pipeline.adapters.falkor import FalkorGraph, FalkorWriter
from pipeline.embed import text_hash
from pipeline.models import Document, Extraction, Mention
from pipeline.tables import TableOrder, tell_table

ROW = ids.keyed_entity_id("7", "Organization")


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter) -> Graph:
    return Graph(graph, writer)


def write(kb: Graph, make_document: Make, name: str, told: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a document with a passage for each name and the properties that it tells."""
    plain = make_document(name, *((f"{name}: {one} is {values}.", [], []) for one, values in told.items()))
    said = (
        Extraction((Mention(one, "Organization", 0, 1, properties=orjson.dumps(values).decode()),))
        for one, values in told.items()
    )
    kb.writer.write([dataclasses.replace(plain, extractions=tuple(said))], kb.epoch, proceed)


def read(kb: Graph, identity: str, *names: str) -> list[Any]:
    ((found,),) = kb.store.ro_query(
        "MATCH (e:__Entity__ {id: $id}) RETURN [k IN $names | e[k]]", id=identity, names=names
    )
    return list(found)


def test_a_merged_entity_bears_the_chosen_name_until_that_goes(kb: Graph, make_document: Make) -> None:
    for name in "ab":
        write(kb, make_document, name, {"Acme": {}})
    write(kb, make_document, "c", {"Acme Ltd": {}, "Acme Group": {}})
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ACME, LTD)
    kb.merge(ACME, GROUP)
    kb.finalize()
    assert read(kb, ACME, "name", "aliases") == ["Acme", ["Acme Group", "Acme Ltd"]]
    assert kb.merges.choose(ACME, "Acme Ltd", {}, kb.epoch)
    kb.finalize()
    assert read(kb, ACME, "name", "aliases", "canonical_key") == ["Acme Ltd", ["Acme", "Acme Group"], "acme"]
    (text,) = kb.curator.texts("entity", [ACME])
    assert text.embedded_hash != text_hash(text.text)
    write(kb, make_document, "d", {"Acme": {}})
    kb.finalize()
    assert read(kb, ACME, "name") == ["Acme Ltd"]
    assert kb.merges.undo(LTD, kb.epoch)
    kb.finalize()
    assert read(kb, ACME, "name") == ["Acme"]
    assert kb.merges.undo(GROUP, kb.epoch)
    kb.finalize()
    assert len(kb.living()) == 3
    assert [one.hash for one in kb.fingerprint() if one.kind == "merges"] == [
        one.hash for one in before if one.kind == "merges"
    ]


def test_what_is_not_merged_takes_no_name_and_a_name_that_nothing_spells_counts_for_nothing(
    kb: Graph, make_document: Make
) -> None:
    write(kb, make_document, "a", {"Acme": {}, "Acme Ltd": {}})
    assert not kb.merges.choose(ACME, "Acme Ltd", {}, kb.epoch)
    kb.merge(ACME, LTD)
    assert kb.merges.choose(ACME, "Umbrella", {}, kb.epoch)
    kb.finalize()
    assert read(kb, ACME, "name") != ["Umbrella"]


def test_of_two_values_that_members_tell_the_own_one_counts_and_the_other_is_kept_beside_it(
    kb: Graph, make_document: Make
) -> None:
    write(kb, make_document, "a", {"Acme": {"born": 1960, "tags": ["a"]}})
    for name in "bc":
        write(kb, make_document, name, {"Acme Ltd": {"born": 1961, "tags": ["a", "b"], "home": "Ely"}})
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ACME, LTD)
    kb.finalize()
    assert read(kb, ACME, "born", "born__dropped", "tags", "home") == [1960, [1961], ["a", "b"], "Ely"]
    assert kb.merges.choose(ACME, "", {"born": LTD}, kb.epoch)
    kb.finalize()
    assert read(kb, ACME, "born", "born__dropped") == [1961, [1960]]
    assert kb.merges.undo(LTD, kb.epoch)
    kb.finalize()
    assert kb.fingerprint() == before


def test_a_chosen_value_of_another_writer_takes_the_place_of_the_own_one(kb: Graph, make_document: Make) -> None:
    write(kb, make_document, "a", {"Acme": {}, "Acme Ltd": {}, "Acme Group": {}})
    for born, one in enumerate((ACME, LTD, GROUP)):
        kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = $born", id=one, born=born)
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ACME, LTD)
    kb.merge(ACME, GROUP)
    assert kb.merges.choose(ACME, "", {"born": GROUP}, kb.epoch)
    born, dropped = read(kb, ACME, "born", "born__dropped")
    assert (born, sorted(dropped)) == (2, [0, 1])
    for one in (LTD, GROUP):
        assert kb.merges.undo(one, kb.epoch)
    kb.finalize()
    assert kb.fingerprint() == before


def test_a_row_keeps_its_name_and_its_values_whatever_texts_say_of_it(kb: Graph, make_document: Make) -> None:
    table = tell_table("id,name,born\n7,Acme Co,1960\n", TableOrder("Organization", "id", "name"))
    row = Document("file:t.csv", "t.csv", "c", "s", "f", chunks=table.chunks, extractions=table.extractions)
    kb.writer.write([row], kb.epoch, proceed)
    for name in "ab":
        write(kb, make_document, name, {"Acme": {"born": 1961, "home": "Ely"}})
    kb.writer.write([make_document("p", ("Acme said so.", [("Acme", "Person")], []))], kb.epoch, proceed)
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ROW, ACME)
    kb.merge(ROW, ids.entity_id("Acme", "Person"))
    kb.merges.choose(ROW, "Acme", {}, kb.epoch)
    kb.finalize()
    assert read(kb, ROW, "merged_labels") == [["Person"]]
    assert read(kb, ROW, "name", "born", "born__dropped", "home") == ["Acme Co", 1960, [1961], "Ely"]
    assert kb.merges.undo(ACME, kb.epoch)
    assert kb.merges.undo(ids.entity_id("Acme", "Person"), kb.epoch)
    kb.finalize()
    assert kb.fingerprint() == before
