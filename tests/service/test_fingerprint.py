"""Two graphs of the same files have one fingerprint, however they came about; and it shows where graphs differ."""

import time

import pytest

from pipeline.adapters.falkor import FalkorInspector, FalkorWriter
from pipeline.adapters.falkor.statements import version_of
from pipeline.errors import GraphMissing
from pipeline.ontology import DEFAULT_ONTOLOGY

STORY = "Ada Quill founded Northlight Press in Port Ember. {} met Bram Oster at the Tidewater Fair. Nothing else."


@pytest.fixture
def folder(tmp_path):
    for i in range(12):
        # Two names of one canonical key: a merge, whose survivor must not depend on the order.
        name = "Larkspur Optics Ltd" if i % 2 else "Larkspur Optics"
        (tmp_path / f"story{i:02}.txt").write_text(f"{STORY.format(f'Person{chr(65 + i)} Lane')} See {name}.", "utf-8")
    return tmp_path


def hashes(found):
    return {one.kind: one.hash for one in found}


def ingest(system, folder, graph, paths):
    return system.finish(system.client.submit(paths, folder, graph=graph))


def test_files_ingested_in_another_order_give_the_same_fingerprint(system, folder, graph_name):
    files = sorted(folder.iterdir())
    ingest(system, folder, graph_name, files)
    other = f"{graph_name}-b"
    # In halves, the later first; finalized once, as finalize is where equal names meet.
    system.finish(system.client.submit(files[6:], folder, graph=other, finalize="never"))
    ingest(system, folder, other, files[:6])
    one, two = system.client.fingerprint(graph_name), system.client.fingerprint(other)
    assert hashes(one.kinds) == hashes(two.kinds)
    assert one.hash == two.hash
    assert one.pending == two.pending == 0
    assert all(kind.count for kind in one.kinds if kind.kind not in {"next_chunk", "merges"})
    assert {kind.kind: kind.count for kind in one.kinds}["merges"] > 0


def test_two_workers_give_the_same_fingerprint_as_one(system, folder, graph_name):
    system.ingest(folder, graph_name)
    helper = system.start_worker()
    try:
        workers = len(system.client.workers())
        other = f"{graph_name}-b"
        run = system.client.submit([folder], folder, graph=other)
        # Nothing is dispatched before `finish` ticks.
        deadline = time.monotonic() + 60
        while len(system.client.workers()) == workers:
            assert helper.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        system.finish(run)
    finally:
        helper.terminate()
        helper.wait(30)
    assert system.client.fingerprint(graph_name).hash == system.client.fingerprint(other).hash


def test_a_repeated_write_changes_no_fingerprint(graph, make_document):
    writer, inspector = FalkorWriter(graph), FalkorInspector(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    said = [
        ("Ada leads Acme.", [("Ada", "Person"), ("Acme", "Organization")], [("Ada", "LEADS", "Acme")]),
        ("Acme is old.", [("Acme", "Organization")], []),
    ]
    documents = [make_document("a.txt", *said), make_document("b.txt", *said)]
    writer.write(documents, 1, lambda: None)
    before = inspector.fingerprint()
    for document in documents:
        # As a worker leaves it that dies before the stamp.
        graph.query(
            "MATCH (d:Document {id: $id}) SET d.content_hash = NULL, d.writing = $version",
            id=document.id,
            version=version_of(document),
        )
    assert inspector.fingerprint() != before
    writer.write(documents, 2, lambda: None)
    assert inspector.fingerprint() == before
    assert all(one.count for one in before if one.kind != "merges")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("documents", "MATCH (d:Document) WITH d LIMIT 1 SET d.content_hash = 'x'"),
        ("chunks", "MATCH (c:Chunk) WITH c LIMIT 1 SET c.text = 'x'"),
        ("chunks", "MATCH (d)-[r:PART_OF]->(c) WITH r LIMIT 1 DELETE r"),
        ("next_chunk", "MATCH ()-[r:NEXT_CHUNK]->() DELETE r"),
        ("entities", "MATCH (e:__Entity__) WITH e LIMIT 1 SET e:Other"),
        ("entities", "MATCH (e:__Entity__) WITH e LIMIT 1 SET e.founded = 1987"),
        ("mentions", "MATCH ()-[m:MENTIONED_IN]->() WITH m LIMIT 1 SET m.spans = '[[0, 1]]'"),
        ("mentions", "MATCH ()-[m:MENTIONED_IN]->() WITH m LIMIT 1 DELETE m"),
        ("relations", "MATCH ()-[r:RELATES]->() WITH r LIMIT 1 SET r.source_chunk_ids = []"),
        ("supports", "MATCH ()-[s:__SUPPORT__]->() WITH s LIMIT 1 SET s.tgt = 'x'"),
        ("merges", "CREATE (:__Merged__ {id: 'a', into: 'b'})"),
    ],
)
def test_one_difference_shows_in_its_kind_alone(graph, make_document, kind, change):
    writer, inspector = FalkorWriter(graph), FalkorInspector(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    said = ("Ada leads Acme.", [("Ada", "Person"), ("Acme", "Organization")], [("Ada", "LEADS", "Acme")])
    writer.write([make_document("a.txt", said, ("Nothing.", [], []))], 1, lambda: None)
    before = hashes(inspector.fingerprint())
    graph.query(change)
    after = hashes(inspector.fingerprint())
    assert {name for name in before if before[name] != after[name]} == {kind}


def test_vectors_and_internal_ids_and_the_order_of_aliases_are_left_out(graph):
    other = connect_beside(graph)
    graph.query("CREATE (:__Entity__:A {id: 'a', aliases: ['x', 'y'], embedding: vecf32([1, 0]), description: ''})")
    other.query("CREATE (:B), (:__Entity__:A {id: 'a', aliases: ['y', 'x'], embedding: vecf32([0, 1])})")
    assert FalkorInspector(graph).fingerprint() == FalkorInspector(other).fingerprint()
    other.close()


def test_a_hub_with_more_edges_than_a_page_is_read_whole(graph):
    graph.query("""
        CREATE (a:__Entity__ {id: 'hub'}) WITH a UNWIND range(1, 12001) AS i
        CREATE (a)-[:RELATES {rel_type: 'R', fact: toString(i)}]->(:__Entity__ {id: toString(i)})
    """)
    counts = {one.kind: one.count for one in FalkorInspector(graph).fingerprint()}
    assert counts["relations"] == 12001
    assert counts["entities"] == 12002


def test_a_missing_graph_has_no_fingerprint(graph):
    with pytest.raises(GraphMissing):
        FalkorInspector(graph).fingerprint()


def connect_beside(graph):
    return type(graph)(graph._address, f"{graph.name}-b", graph._timeout)
