"""Finalize's side of a graph: pending things, merges, derivations, vectors."""

import json
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pipeline import ids
from pipeline.adapters.falkor import (
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorMerges,
    FalkorWriter,
    connect,
    merge,
)
from pipeline.errors import EmbedderMismatch, LeaseLost
from pipeline.models import Chunk, Document, Extraction, GraphRecord, Mention, Pending
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.resolve import ExactPlan, plan_exact
from pipeline.tables import TableOrder, tell_table

type Said = tuple[str, list[tuple[str, str]], list[tuple[str, str, str]]]
Make = Callable[..., Document]
Dump = Callable[[FalkorGraph], list[str]]

ADA, ACME = ("Ada", "Person"), ("Acme", "Organization")
ACME_LTD, INITECH = ("Acme Ltd", "Organization"), ("Initech", "Organization")
SAID = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])
SAID_LONGER = ("Ada founded Acme, they say.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])
SAID_OF_LTD = (
    "Ada founded Acme Ltd, which bought Initech, from Acme.",
    [ADA, ACME_LTD, ACME, INITECH],
    [("Ada", "FOUNDED", "Acme Ltd"), ("Acme Ltd", "BOUGHT", "Initech"), ("Acme Ltd", "PART_OF", "Acme")],
)
ADA_ID, ACME_ID, LTD_ID, INITECH_ID = (ids.entity_id(*one) for one in (ADA, ACME, ACME_LTD, INITECH))
FOUNDED = ids.relation_key(ADA_ID, "FOUNDED", ACME_ID)
DIMENSION = 4
EPOCH = 1


def proceed() -> None:
    """Stands for leases that hold."""


@pytest.fixture
def curator(graph: FalkorGraph) -> FalkorCurator:
    return FalkorCurator(graph)


def list_all(curator: FalkorCurator, kind: str, page: int = 100) -> list[Pending]:
    found: list[Pending] = []
    while things := curator.pending(kind, found[-1].place if found else -1, page):
        found += things
    return found


def plan_by_name(curator: FalkorCurator) -> ExactPlan:
    """Group the entities of a small graph by their names."""
    merges = FalkorMerges(curator._graph)
    return plan_exact(merges.named(merges.names(-1, 1000).ids))


def finalize(curator: FalkorCurator) -> None:
    """Do by hand, on a small graph, what a finalize does in parts."""
    for survivor, *duplicates in plan_by_name(curator).groups:
        for duplicate in duplicates:
            assert curator.merge(survivor, duplicate, EPOCH)
    for kind, derive in (("entity", curator.derive_entities), ("relation", curator.derive_relations)):
        things = list_all(curator, kind)
        derive([one.id for one in things], EPOCH)
    for kind in ("chunk", "entity", "relation"):
        curator.clear_pending(list_all(curator, kind), EPOCH)


# Pending things


def test_what_was_written_is_pending_page_by_page(
    writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    writer.write([make_document(str(number), SAID, SAID_OF_LTD) for number in range(5)], EPOCH, proceed)
    assert len(list_all(curator, "chunk", page=3)) == 10
    assert {one.id for one in list_all(curator, "entity", page=1)} == {ADA_ID, ACME_ID, LTD_ID, INITECH_ID}
    assert len({one.id for one in list_all(curator, "relation", page=2)}) == 4
    assert FOUNDED in {one.id for one in list_all(curator, "relation")}


def test_what_was_written_again_since_it_was_listed_stays_pending(
    writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    writer.write([make_document("a", SAID_OF_LTD)], EPOCH, proceed)
    listed = list_all(curator, "entity")
    writer.write([make_document("b", SAID)], EPOCH, proceed)
    assert curator.clear_pending(listed, EPOCH) == 2
    assert {one.id for one in list_all(curator, "entity")} == {ADA_ID, ACME_ID}


def test_a_stale_epoch_clears_merges_and_derives_nothing(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make, dump_graph: Dump
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], 5, proceed)
    graph.query("MATCH (e:__Entity__) SET e.name = 'wrong'")
    before = dump_graph(graph)
    with pytest.raises(LeaseLost):
        curator.clear_pending(list_all(curator, "entity"), 4)
    with pytest.raises(LeaseLost):
        curator.merge(ACME_ID, LTD_ID, 4)
    with pytest.raises(LeaseLost):
        curator.derive_entities([ADA_ID], 4)
    with pytest.raises(LeaseLost):
        curator.derive_relations([FOUNDED], 4)
    with pytest.raises(LeaseLost):
        curator.set_vectors("entity", [(ADA_ID, "h", np.ones(DIMENSION, np.float32))], 4)
    assert dump_graph(graph) == before


# Merges


def test_entities_of_one_type_and_canonical_key_belong_together(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make
) -> None:
    in_acme: Said = ("Acme in Acme.", [("Acme", "Location"), ACME, ACME_LTD], [])
    writer.write([make_document("a", SAID, in_acme)], EPOCH, proceed)
    (acme,) = FalkorMerges(graph).named([ACME_ID])
    assert (acme.name, acme.label, acme.degree) == ("Acme", "Organization", 3)
    assert acme.description == "Acme in: Ada founded Acme."
    assert plan_by_name(curator).groups == ((ACME_ID, LTD_ID),)


def test_a_merge_moves_all_edges_and_leaves_the_way_back(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)

    assert graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e", id=LTD_ID) == []
    assert graph.ro_query("MATCH (m:__Merged__) RETURN m.id, m.into") == [[LTD_ID, ACME_ID]]
    relations = graph.ro_query("MATCH (a)-[r:RELATES]->(b) RETURN a.id, r.rel_type, b.id ORDER BY r.rel_type")
    assert relations == [[ACME_ID, "BOUGHT", INITECH_ID], [ADA_ID, "FOUNDED", ACME_ID]]
    mentions = graph.ro_query("MATCH ({id: $id})-[m:MENTIONED_IN]->(c) RETURN m.as_id, m.name, c.index", id=ACME_ID)
    assert sorted(mentions) == [[LTD_ID, "Acme Ltd", 1], [ACME_ID, "Acme", 0], [ACME_ID, "Acme", 1]]
    supports = graph.ro_query("MATCH (a)-[s:__SUPPORT__]->() RETURN a.id, s.src, s.rel_type, s.tgt")
    assert sorted(supports) == sorted(
        [
            [ACME_ID, LTD_ID, "BOUGHT", INITECH_ID],
            [ACME_ID, LTD_ID, "PART_OF", ACME_ID],
            [ADA_ID, ADA_ID, "FOUNDED", ACME_ID],
            [ADA_ID, ADA_ID, "FOUNDED", LTD_ID],
        ]
    )
    (founded,) = graph.ro_query("MATCH ()-[r:RELATES {rel_type: 'FOUNDED'}]->() RETURN size(r.source_chunk_ids)")
    assert founded == [2]
    assert graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.aliases", id=ACME_ID) == [[["Acme Ltd"]]]
    for kind, count in (("entity", 3), ("relation", 5)):
        pending = [one.id for one in list_all(curator, kind)]
        assert len(pending) == len(set(pending)) == count
        assert LTD_ID not in pending
    assert ids.relation_key(ACME_ID, "BOUGHT", INITECH_ID) in pending


def test_a_merge_that_is_done_or_impossible_changes_nothing(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make, dump_graph: Dump
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)
    before = dump_graph(graph)
    assert not curator.merge(ACME_ID, LTD_ID, EPOCH)
    assert not curator.merge(LTD_ID, ACME_ID, EPOCH)
    assert not curator.merge(ACME_ID, ACME_ID, EPOCH)
    assert not curator.merge(ACME_ID, "nobody__person", EPOCH)
    assert dump_graph(graph) == before


def test_a_merge_keeps_properties_of_others_and_both_values_of_a_conflict(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    graph.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1960, e.tags = ['a', 'b']", id=ACME_ID)
    graph.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1961, e.tags = ['b', 'c'], e.`odd name` = 1", id=LTD_ID)
    graph.query("MATCH (e:__Entity__ {id: $id}) CREATE (e)-[:OWNS {share: 1}]->(:Thing {id: 't'})", id=LTD_ID)
    graph.query("MATCH (e:__Entity__ {id: $id}) CREATE (e)<-[:OWNS]-(:Thing {id: 'u'})", id=LTD_ID)
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)
    found = graph.ro_query(
        "MATCH (e:__Entity__ {id: $id}) RETURN e.born, e.born__dropped, e.tags, e.`odd name`", id=ACME_ID
    )
    assert found == [[1960, [1961], ["a", "b", "c"], 1]]
    assert graph.ro_query("MATCH (e:__Entity__ {id: $id})-[o:OWNS]->(t) RETURN t.id, o.share", id=ACME_ID) == [["t", 1]]
    assert graph.ro_query("MATCH (e:__Entity__ {id: $id})<-[o:OWNS]-(t) RETURN t.id", id=ACME_ID) == [["u"]]


def test_what_is_written_after_a_merge_goes_to_the_survivor_over_any_number_of_steps(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make
) -> None:
    limited_name = "Acme Limited"
    named = [(limited_name, "Organization"), INITECH]
    limited: Said = ("Acme Limited bought Initech.", named, [(limited_name, "BOUGHT", "Initech")])
    writer.write([make_document("a", SAID, SAID_OF_LTD, limited)], EPOCH, proceed)
    assert curator.merge(LTD_ID, ids.entity_id(limited_name, "Organization"), EPOCH)
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)
    writer.write([make_document("b", limited)], EPOCH, proceed)
    assert graph.ro_query("MATCH (e:Organization) RETURN e.id ORDER BY e.id") == [[ACME_ID], [INITECH_ID]]
    found = graph.ro_query("MATCH (a)-[r:RELATES {rel_type: 'BOUGHT'}]->(b) RETURN a.id, b.id")
    assert found == [[ACME_ID, INITECH_ID]]


# Derivations


def test_the_finalized_graph_does_not_depend_on_the_order_of_writes(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    spelled: Said = ("ACME and acme and ACME say Ada.", [("ACME", "Organization"), ("acme", "Organization"), ADA], [])
    documents = [
        make_document("a", SAID, spelled),
        make_document("b", SAID_OF_LTD),
        make_document("c", SAID_LONGER, SAID),
        make_document("d", SAID_OF_LTD, SAID_LONGER),
    ]
    results = set()
    for seed in range(4):
        graph.query("MATCH (n) WHERE n.epoch IS NULL DETACH DELETE n")
        shuffled = random.Random(seed).sample(documents, len(documents))
        for batch in (shuffled[: seed + 1], shuffled[seed + 1 :]):
            if batch:
                writer.write(batch, EPOCH, proceed)
        finalize(curator)
        assert curator.counts().pending == {}
        results.add(tuple(FalkorInspector(graph).fingerprint()))
    assert len(results) == 1


def test_writing_before_or_after_a_merge_gives_the_same_finalized_graph(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    # Acme is the better connected from the start, so that both ways choose the same survivor.
    first = make_document("a", SAID, SAID_LONGER, SAID_OF_LTD)
    second = make_document("b", SAID_OF_LTD, SAID_LONGER)
    results = []
    for batches in ([[first, second]], [[first], [second]]):
        graph.query("MATCH (n) WHERE n.epoch IS NULL DETACH DELETE n")
        for batch in batches:
            writer.write(batch, EPOCH, proceed)
            finalize(curator)
        results.append(FalkorInspector(graph).fingerprint())
    assert results[0] == results[1]


def test_an_entity_and_its_facts_are_derived_from_all_that_mention_it(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    shouted: Said = ("ACME it is.", [("ACME", "Organization")], [])
    writer.write([make_document("a", shouted)], EPOCH, proceed)
    writer.write([make_document("b", SAID, SAID_LONGER)], EPOCH, proceed)
    finalize(curator)
    entity = graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.name, e.description, e.aliases", id=ACME_ID)
    assert entity == [["Acme", "Acme in: Ada founded Acme, they say.", ["ACME"]]]
    fact = graph.ro_query("MATCH ()-[r:RELATES]->() RETURN r.fact, r.tgt_name, size(r.source_chunk_ids)")
    assert fact == [["(Ada, FOUNDED, Acme): Ada founded Acme, they say.", "Acme", 2]]


def test_deriving_what_is_derived_changes_nothing(
    writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    entities = [one.id for one in list_all(curator, "entity")]
    relations = [one.id for one in list_all(curator, "relation")]
    curator.derive_entities(entities, EPOCH)
    curator.derive_relations(relations, EPOCH)
    assert curator.derive_entities(entities, EPOCH) == 0
    assert curator.derive_relations(relations, EPOCH) == 0


def write_row(writer: FalkorWriter, cell: str) -> None:
    table = tell_table(f"id,f\n7,{cell}\n", TableOrder("Person", "id"))
    said = {"chunks": table.chunks, "extractions": table.extractions}
    writer.write([Document("file:t.csv", "t.csv", "c", "s", "f", **said)], EPOCH, proceed)


@pytest.mark.parametrize(
    "cell",
    ["0.30000000000000004", "0.1", "38.5", "1.0", "-0.0", "1e300", "5e-324", "123456789.12345679", "1e22", "7", "true"],
)
def test_what_a_row_says_is_derived_once_however_many_digits_it_has(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, cell: str
) -> None:
    write_row(writer, cell)
    assert curator.derive_entities(["KEY:Person:7"], EPOCH) == 1
    ((stored,),) = graph.ro_query("MATCH (e:__Entity__ {id: 'KEY:Person:7'}) RETURN e.f")
    assert stored == pytest.approx(json.loads(cell), rel=1e-14)
    assert curator.derive_entities(["KEY:Person:7"], EPOCH) == 0


@pytest.mark.parametrize("before", ["0.30000000000001", "'0.3'", "0", "NULL"])
def test_a_property_of_another_value_or_type_is_set_anew(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, before: str
) -> None:
    write_row(writer, "0.3")
    graph.query(f"MATCH (e:__Entity__ {{id: 'KEY:Person:7'}}) SET e.f = {before}")
    assert curator.derive_entities(["KEY:Person:7"], EPOCH) == 1
    assert graph.ro_query("MATCH (e:__Entity__ {id: 'KEY:Person:7'}) RETURN e.f") == [[0.3]]


def test_what_nothing_mentions_or_states_any_more_goes(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    things = {kind: [one.id for one in list_all(curator, kind)] for kind in ("entity", "relation")}
    graph.query("MATCH (c:Chunk {index: 1}) DELETE c")
    curator.derive_relations(things["relation"], EPOCH)
    assert graph.ro_query("MATCH ()-[r:RELATES]->() RETURN r.rel_type") == [["FOUNDED"]]
    curator.derive_entities(things["entity"], EPOCH)
    assert graph.ro_query("MATCH (e:__Entity__) RETURN e.id ORDER BY e.id") == [[ACME_ID], [ADA_ID]]


# Vectors


def vectors_of(count: int) -> list[np.ndarray]:
    rows = np.random.default_rng(1).standard_normal((count, DIMENSION)).astype(np.float32)
    return list(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize(("kind", "count"), [("chunk", 2), ("entity", 4), ("relation", 4)])
def test_vectors_are_stored_with_the_hash_of_their_text_and_found_by_search(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make, kind: str, count: int
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    wanted = [one.id for one in list_all(curator, kind)]
    texts = curator.texts(kind, [*wanted, ids.relation_key("no", "such", "thing")])
    assert len(texts) == count
    assert all(one.text and one.embedded_hash is None for one in texts)
    writer.build_search_indexes(DIMENSION, proceed)
    rows: Sequence[tuple[str, str, np.ndarray]] = [
        (one.id, f"hash of {one.text}", vector) for one, vector in zip(texts, vectors_of(count), strict=True)
    ]
    curator.set_vectors(kind, rows, EPOCH)

    assert all(one.embedded_hash == f"hash of {one.text}" for one in curator.texts(kind, wanted))
    search = {
        "chunk": "CALL db.idx.vector.queryNodes('Chunk', 'embedding', 1, vecf32($v)) YIELD node AS e, score",
        "entity": "CALL db.idx.vector.queryNodes('__Entity__', 'embedding', 1, vecf32($v)) YIELD node AS e, score",
        "relation": "CALL db.idx.vector.queryRelationships('RELATES', 'embedding', 1, vecf32($v)) "
        "YIELD relationship AS e, score",
    }[kind]
    for _, text_hash, vector in rows:
        ((found, distance),) = graph.ro_query(f"{search} RETURN e.embedded_hash, score", v=vector)
        assert found == text_hash
        assert distance == pytest.approx(0, abs=1e-5)


def test_a_merge_keeps_the_vectors_of_moved_facts(
    graph: FalkorGraph, writer: FalkorWriter, curator: FalkorCurator, make_document: Make
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    writer.build_search_indexes(DIMENSION, proceed)
    bought = ids.relation_key(LTD_ID, "BOUGHT", INITECH_ID)
    (vector,) = vectors_of(1)
    curator.set_vectors("relation", [(bought, "h", vector)], EPOCH)
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)
    # Ten are asked for, as what has been deleted still takes a place among the nearest.
    found = graph.ro_query(
        "CALL db.idx.vector.queryRelationships('RELATES', 'embedding', 10, vecf32($v)) YIELD relationship AS e "
        "RETURN e.embedded_hash, startNode(e).id",
        v=vector,
    )
    assert found == [["h", ACME_ID]]


# Records


def test_the_embedder_is_recorded_once_and_another_is_refused(writer: FalkorWriter, curator: FalkorCurator) -> None:
    first = GraphRecord("bundled:one", 384, "store-1")
    assert curator.record_embedder(first) == first
    assert curator.record_embedder(GraphRecord("bundled:one", 384, "store-2")) == first
    with pytest.raises(EmbedderMismatch, match="bundled:one"):
        curator.record_embedder(GraphRecord("bundled:two", 384, "store-1"))
    with pytest.raises(EmbedderMismatch):
        curator.record_embedder(GraphRecord("bundled:one", 256, "store-1"))


def test_a_graph_is_counted(writer: FalkorWriter, curator: FalkorCurator, make_document: Make) -> None:
    writer.write([make_document("a", SAID, SAID_LONGER)], EPOCH, proceed)
    counts = curator.counts()
    assert (counts.documents, counts.chunks, counts.entities, counts.relations, counts.mentions) == (1, 2, 2, 1, 4)
    assert counts.pending == {"chunk": 2, "entity": 2, "relation": 1}


def test_merged_entities_leave_no_ghost_in_a_label(graph_server, graph_name) -> None:
    """Thousands of entities that nothing has scanned yet: what is deleted among them must be gone from the label."""
    graph = connect(graph_server.url, graph_name)
    writer, curator = FalkorWriter(graph), FalkorCurator(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    for batch in range(9):
        documents = []
        for number in range(batch * 20, batch * 20 + 20):
            names = [f"Firm {number} {i}" for i in range(50)] + [f"Acme {number}", f"Acme {number} Ltd"]
            text = ". ".join(names)
            mentions = tuple(
                Mention(name, "Organization", text.index(name), text.index(name) + len(name), "") for name in names
            )
            chunk = Chunk(0, 0, len(text), text)
            documents.append(
                Document(
                    id=f"file:{number}",
                    path=str(number),
                    content_hash="h",
                    source_hash="s",
                    fingerprint="f",
                    media_type="text/plain",
                    chunks=(chunk,),
                    extractions=(Extraction(mentions),),
                )
            )
        writer.write(documents, 1, lambda: None)
    writer.raise_fence(2, exclusive=True)
    for number in range(0, 180, 9):
        assert curator.merge(f"acme {number}__organization", f"acme {number} ltd__organization", 2)
    counted = graph.ro_query("MATCH (e:__Entity__) RETURN count(e)")[0][0]
    assert len(graph.ro_query("MATCH (e:__Entity__) RETURN e.id")) == counted == 180 * 52 - 20


@pytest.mark.parametrize(
    ("stored", "own", "same"),
    [
        ("azure/x", "x", True),
        ("x", "azure/x", True),
        ("BAAI/x", "ollama/x", False),
        ("azure/x", "y", False),
        ("azure/x", "azure/x", True),
    ],
)
def test_the_prefix_of_a_provider_counts_only_where_both_have_one(stored, own, same, graph):
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    curator = FalkorCurator(graph)
    curator.record_embedder(GraphRecord(stored, 4, "store"))
    if same:
        assert curator.record_embedder(GraphRecord(own, 4, "store")).dimension == 4
    else:
        with pytest.raises(EmbedderMismatch):
            curator.record_embedder(GraphRecord(own, 4, "store"))


def test_a_merge_whose_premises_change_meanwhile_is_made_anew_unless_a_name_changed(
    writer: FalkorWriter, curator: FalkorCurator, graph: FalkorGraph, make_document: Make, monkeypatch
) -> None:
    writer.write([make_document("a", SAID, SAID_OF_LTD)], EPOCH, proceed)
    meant = merge.read_moved
    changes = ["e.born = 1960", "e:Odd", "e.name = 'Acme Limited'"]

    def change_first(*given):
        if changes:
            graph.query(f"MATCH (e:__Entity__ {{id: $id}}) SET {changes.pop(0)}", id=LTD_ID)
        return meant(*given)

    monkeypatch.setattr(merge, "read_moved", change_first)
    assert not curator.merge(ACME_ID, LTD_ID, EPOCH)
    assert graph.ro_query("MATCH (m:__Merged__) RETURN m.id") == []
    changes[:] = ["e.home = 'Ely'"]
    assert curator.merge(ACME_ID, LTD_ID, EPOCH)
    found = graph.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.born, e.home, e.merged_labels", id=ACME_ID)
    assert found == [[1960, "Ely", ["Odd"]]]
