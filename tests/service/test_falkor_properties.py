"""What entities have beside their names: labels of their type's ancestors, and properties that texts tell of them."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from pipeline.adapters.falkor import (
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorReviser,
    FalkorWriter,
    index_states,
)
from pipeline.models import Document, Extraction, Mention
from pipeline.ontology import EntityType, Ontology

Make = Callable[..., Document]

ONTOLOGY = Ontology(
    entity_types=(
        EntityType(label="Person", parents=("Agent",)),
        EntityType(label="Company", parents=("Organization",)),
        EntityType(label="Organization", parents=("Agent",)),
    )
)
LABELS = {one.label: ONTOLOGY.ancestors(one.label) for one in ONTOLOGY.entity_types}
ADA, ADA_L = "ada__person", "ada l.__person"
OWN = {"id", "name", "type", "description", "canonical_key", "aliases"}


def proceed() -> None:
    """Stands for leases that hold."""


@pytest.fixture
def writer(graph: FalkorGraph) -> FalkorWriter:
    writer = FalkorWriter(graph)
    writer.prepare(ONTOLOGY)
    return writer


@pytest.fixture
def tell(make_document: Make) -> Make:
    """Make a document with a passage for each (name, type, JSON of properties)."""

    def make(name: str, *told: tuple[str, str, str], fingerprint: str = "f1") -> Document:
        passages = [(f"{one} is {properties or 'there'}.", [], []) for one, _, properties in told]
        plain = make_document(name, *passages, fingerprint=fingerprint)
        said = (Extraction((Mention(one, kind, 0, len(one), properties=properties),)) for one, kind, properties in told)
        return dataclasses.replace(plain, extractions=tuple(said), labels=LABELS)

    return make


def ada(properties: str = "", name: str = "Ada") -> tuple[str, str, str]:
    return name, "Person", properties


def finalize(graph: FalkorGraph, merges: Sequence[tuple[str, str]] = ()) -> int:
    """Do finalize's part; gives how many entities changed."""
    curator = FalkorCurator(graph)
    curator.settle()
    for survivor, duplicate in merges:
        assert curator.merge(survivor, duplicate, 1)
    pending = curator.pending("entity", -1, 1000)
    changed = curator.derive_entities([one.id for one in pending], 1)
    curator.clear_pending(pending, 1)
    return changed


def properties(graph: FalkorGraph, identity: str = ADA) -> Mapping[str, Any]:
    ((stored,),) = graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN properties(e)", id=identity)
    return {name: value for name, value in stored.items() if name not in {*OWN, "__properties__"}}


def labels(graph: FalkorGraph, identity: str) -> set[str]:
    ((stored,),) = graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN labels(e)", id=identity)
    return set(stored)


def test_entities_bear_the_labels_above_their_type_which_are_indexed(
    writer: FalkorWriter, graph: FalkorGraph, tell: Make
) -> None:
    writer.write([tell("a", ada(), ("Acme", "Company", ""), ("UN", "Organization", ""))], 1, proceed)
    assert labels(graph, ADA) == {"__Entity__", "Person", "Agent"}
    assert labels(graph, "acme__company") == {"__Entity__", "Company", "Organization", "Agent"}
    assert labels(graph, "un__organization") == {"__Entity__", "Organization", "Agent"}
    found = graph.ro_query("MATCH (e:Organization) RETURN e.id, e.type ORDER BY e.id")
    assert found == [["acme__company", "Company"], ["un__organization", "Organization"]]
    assert {"Agent", "Organization", "Company"} <= {
        one.label for one in index_states(graph) if one.operational and "id" in one.attributes
    }


def test_staged_versions_bear_them_and_merges_keep_them(writer: FalkorWriter, graph: FalkorGraph, tell: Make) -> None:
    writer.write([tell("a", ada())], 1, proceed)
    new = tell("a", ada("{}"), ("Acme", "Company", ""))
    reviser = FalkorReviser(graph)
    reviser.stage([new], 1, proceed)
    reviser.swap(new, 1)
    reviser.clear([new.id], 1, proceed)
    assert labels(graph, "acme__company") == {"__Entity__", "Company", "Organization", "Agent"}
    finalize(graph, [(ADA, "acme__company")])
    assert labels(graph, ADA) == {"__Entity__", "Person", "Agent", "Company", "Organization"}


def test_properties_are_native_and_typed_and_stay_on_their_mention(
    writer: FalkorWriter, graph: FalkorGraph, tell: Make
) -> None:
    told = '{"aka":["Ada Q.","A."],"born":"1867-11-07","height":1.5,"kids":2,"living":false,"note":"a \\"b\\""}'
    writer.write([tell("a", ada(told))], 1, proceed)
    assert properties(graph) == {}
    assert finalize(graph) == 1
    assert properties(graph) == {
        "aka": ["Ada Q.", "A."], "born": "1867-11-07", "height": 1.5, "kids": 2, "living": False, "note": 'a "b"'
    }  # fmt: skip
    assert graph.ro_query("MATCH (:Person)-[m:MENTIONED_IN]->() RETURN m.properties") == [[told]]
    assert graph.ro_query("MATCH (e:Person) WHERE e.born < '1900' AND e.kids > 1 RETURN e.id") == [[ADA]]


def test_deriving_again_changes_nothing(writer: FalkorWriter, graph: FalkorGraph, tell: Make) -> None:
    writer.write([tell("a", ada('{"height":0.1,"aka":["x"]}'), ada('{"kids":2}'))], 1, proceed)
    assert finalize(graph) >= 1
    assert FalkorCurator(graph).derive_entities([ADA], 1) == 0


def test_the_most_frequent_value_counts_in_any_order_of_documents(
    writer: FalkorWriter, graph: FalkorGraph, tell: Make
) -> None:
    documents = [
        tell(name, ada(told)) for name, told in zip("abcd", ('{"born":1}', '{"born":2}', '{"born":2}', ""), strict=True)
    ]
    results = []
    for order in (documents, documents[::-1]):
        for one in order:
            writer.write([one], 1, proceed)
            finalize(graph)
        results.append((properties(graph), [one for one in FalkorInspector(graph).fingerprint() if "ent" in one.kind]))
        writer.drop()
        writer.prepare(ONTOLOGY)
    assert results[0][0] == {"born": 2}
    assert results[0] == results[1]


def test_a_value_goes_with_the_last_passage_that_tells_it(writer: FalkorWriter, graph: FalkorGraph, tell: Make) -> None:
    a, b = tell("a", ada('{"born":1867,"home":"Ely"}')), tell("b", ada('{"born":1867}'), ada())
    writer.write([a, b], 1, proceed)
    finalize(graph)
    assert properties(graph) == {"born": 1867, "home": "Ely"}
    reviser = FalkorReviser(graph)
    reviser.retire(a.id, 1)
    reviser.clear([a.id], 1, proceed)
    assert properties(graph) == {"born": 1867}
    new = tell("b", ada())
    reviser.stage([new], 1, proceed)
    reviser.swap(new, 1)
    reviser.clear([new.id], 1, proceed)
    assert properties(graph) == {}
    ((keys,),) = graph.ro_query("MATCH (e:Person) RETURN keys(e)")
    assert set(keys) <= OWN


def test_what_others_have_written_on_an_entity_stays(writer: FalkorWriter, graph: FalkorGraph, tell: Make) -> None:
    told = tell("a", ada('{"born":1867}'))
    writer.write([told, tell("b", ada())], 1, proceed)
    graph.query("MATCH (e:Person) SET e.colour = 'red'")
    finalize(graph)
    assert properties(graph) == {"born": 1867, "colour": "red"}
    reviser = FalkorReviser(graph)
    reviser.retire(told.id, 1)
    reviser.clear([told.id], 1, proceed)
    assert properties(graph) == {"colour": "red"}


def test_no_property_takes_the_place_of_what_an_entity_has_itself(
    writer: FalkorWriter, graph: FalkorGraph, tell: Make
) -> None:
    told = '{"":1,"__properties__":["id"],"aliases":["x"],"born":1867,"id":"eve","name":"Eve","type":"T"}'
    writer.write([tell("a", ada(told))], 1, proceed)
    finalize(graph)
    ((stored,),) = graph.ro_query("MATCH (e:Person) RETURN properties(e)")
    assert (stored["id"], stored["name"], stored["type"]) == (ADA, "Ada", "Person")
    assert {*stored} - OWN == {"born", "__properties__"}
    assert stored["__properties__"] == ["born"]
    assert stored.get("aliases") is None


@pytest.mark.parametrize("finalized_before", [(), ("once",)])
def test_the_survivor_of_a_merge_gains_missing_properties_and_keeps_no_stale_ones(
    writer: FalkorWriter, graph: FalkorGraph, tell: Make, finalized_before: tuple[str, ...]
) -> None:
    a = tell("a", ada('{"born":1867}'), ada('{"born":1867,"kids":2}'))
    b = tell("b", ada('{"born":1870,"home":"Ely"}', name="Ada L."))
    writer.write([a, b], 1, proceed)
    for _ in finalized_before:
        finalize(graph)
    finalize(graph, [(ADA, ADA_L)])
    assert properties(graph) == {"born": 1867, "born__dropped": [1870], "home": "Ely", "kids": 2}
    reviser = FalkorReviser(graph)
    reviser.retire(b.id, 1)
    reviser.clear([b.id], 1, proceed)
    assert properties(graph) == {"born": 1867, "kids": 2}


def test_several_values_go_while_another_one_changes(writer: FalkorWriter, graph: FalkorGraph, tell: Make) -> None:
    old = tell("a", ada('{"a":1,"b":2,"c":3,"d":4,"e":5}'))
    writer.write([old], 1, proceed)
    finalize(graph)
    new = tell("a", ada('{"a":1,"c":30,"f":6}'))
    reviser = FalkorReviser(graph)
    reviser.stage([new], 1, proceed)
    reviser.swap(new, 1)
    reviser.clear([new.id], 1, proceed)
    assert properties(graph) == {"a": 1, "c": 30, "f": 6}
