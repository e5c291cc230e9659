from collections.abc import Iterator

import pytest
from readable_graph import EAST, NORTH, NORTHEAST, Store, founded, id_of, make_document

from pipeline.adapters.falkor import FalkorReader, connect, read
from pipeline.ids import entity_id
from pipeline.models import WHOLE_GRAPH, Condition, Relation, Scope

NAMES = [("Ada Bell", "Person"), ("Bell Works", "Organization"), ("Gil Marsh", "Person")]
SECRET = "The secret lamp: Ada Bell founded Bell Works with Gil Marsh."
OPEN = "Ada Bell founded Bell Works with one lamp."
ADA, WORKS, GIL = (entity_id(*name) for name in NAMES)
KEY = f"{ADA}\x1fFOUNDED\x1f{WORKS}"
ONLY = Scope(documents=("open/a.txt",))
UNDER = Scope(where=(Condition("path", "starts_with", "open/"),))


@pytest.fixture
def store(graph_server, graph_name) -> Iterator[Store]:
    """Two documents that tell the same relation in other words; what is asked is nearer to the first of them."""
    graph = connect(graph_server.url, graph_name)
    store = Store(graph)
    both = (founded("Ada Bell", "Bell Works", 17, 60), met("Ada Bell", "Gil Marsh"))
    store.write(
        make_document("a-secret/s.txt", SECRET, names=NAMES, relations=both),
        make_document("open/a.txt", OPEN, "Bread and salt.", names=NAMES, relations=[told_openly()]),
    )
    store.embed("chunk", {id_of("a-secret/s.txt", SECRET): EAST, id_of("open/a.txt", OPEN): NORTH})
    store.embed("entity", {GIL: EAST, ADA: NORTHEAST, WORKS: NORTH})
    store.embed("relation", {KEY: EAST, f"{ADA}\x1fMET\x1f{GIL}": EAST})
    store.finish()
    yield store
    graph.close()


def met(one: str, other: str) -> Relation:
    return Relation(one, "Person", other, "Person", "MET", f"{one} met {other} in secret.", 0, 10)


def told_openly() -> Relation:
    return Relation("Ada Bell", "Person", "Bell Works", "Organization", "FOUNDED", "It is known to all.", 0, 27)


@pytest.mark.parametrize("narrow", [500, 0], ids=["compared", "by index"])
@pytest.mark.parametrize("scope", [ONLY, UNDER], ids=["documents", "path"])
def test_nothing_out_of_a_scope_is_found_or_told(store, scope, narrow, monkeypatch):
    monkeypatch.setattr(read, "_NARROW_PASSAGES", narrow)
    reader, passage = store.reader, id_of("open/a.txt", OPEN)
    assert reader.has_documents(scope)
    assert reader.nearest_passages(EAST, 5, scope) == [passage]
    matches = reader.match_passages(["lamp", "secret"], 5, scope)
    assert ([match.id for match in matches.found], matches.frequencies, matches.total) == ([passage], {"lamp": 1}, 2)
    assert reader.nearest_entities(EAST, 5, scope) == [ADA, WORKS]
    assert reader.nearest_entities(EAST, 1, scope) == [ADA]
    assert [fact.evidence.source for fact in reader.nearest_facts(EAST, 1, scope)] == ["open/a.txt"]
    assert reader.match_entities(["gil", "bell"], 5, scope) == [ADA, WORKS]
    assert reader.match_entities(["marsh"], 5, scope) == []
    assert reader.entities_named(["ada bell", "gil marsh"], scope) == {"ada bell": [ADA]}
    assert reader.passages_naming([ADA, GIL], EAST, 5, scope) == [passage]
    assert reader.passages([id_of("a-secret/s.txt", SECRET), passage], EAST, scope)[0].id == passage
    facts, relations = reader.nearest_facts(EAST, 5, scope), reader.relations_of([ADA, GIL], EAST, 5, scope)
    assert [fact.passage_ids for fact in facts] == [(passage,)]
    assert [relation.evidence.id for relation in relations] == [KEY]
    told = [*(one.evidence for one in (*facts, *relations)), *reader.entities([ADA, WORKS, GIL], EAST, scope)]
    assert {one.source for one in told} == {"open/a.txt"}
    assert "secret" not in " ".join(one.text for one in told)
    assert told[0].text == "(Ada Bell, FOUNDED, Bell Works): It is known to all."
    assert told[2].text == f"Ada Bell (Person): {OPEN}"


def test_without_a_scope_both_documents_speak(store):
    reader = store.reader
    assert len(reader.nearest_passages(EAST, 5, WHOLE_GRAPH)) == 2
    assert {fact.evidence.id for fact in reader.nearest_facts(EAST, 5, WHOLE_GRAPH)} == {
        KEY,
        f"{ADA}\x1fMET\x1f{GIL}",
    }


def test_a_narrow_scope_finds_what_thousands_of_nearer_passages_would_hide(store):
    store.graph.query(
        "MATCH (d:Document {id: 'a-secret/s.txt'}) UNWIND range(1, 6000) AS i "
        "CREATE (d)-[:PART_OF {index: i}]->(:Chunk {id: toString(i), text: 'lamp ' + toString(i), "
        "embedding: vecf32([1, 0, 0])})"
    )
    passage = id_of("open/a.txt", OPEN)
    assert store.reader.nearest_passages(EAST, 1, ONLY) == [passage]
    assert [match.id for match in store.reader.match_passages(["lamp"], 5, ONLY).found] == [passage]


def test_links_and_siblings_stay_within_a_scope(store):
    passage = id_of("open/a.txt", OPEN)
    assert store.reader.linked_passages([id_of("a-secret/s.txt", SECRET)], EAST, 5, ONLY) == [passage]
    hub = [Relation(name, "Person", "Hub", "Person", "KNOWS", "So.", 0, 3) for name in ("Ada", "Gil", "Zoe", "Ben")]
    people = [("Hub", "Person"), *((name, "Person") for name in ("Ada", "Gil", "Zoe", "Ben"))]
    store.write(
        make_document("b.txt", "Ada, Gil and Zoe know Hub.", names=people, relations=hub),
        make_document("c.txt", "Ben knows Hub.", names=people, relations=hub),
    )
    given = ["ada__person", "gil__person"]
    assert store.reader.siblings(given, 9, WHOLE_GRAPH) == ["ben__person", "zoe__person"]
    assert store.reader.siblings(given, 9, Scope(documents=("b.txt",))) == ["zoe__person"]
    assert store.reader.siblings(given, 9, Scope(documents=("c.txt",))) == []


def test_a_relation_whose_end_was_merged_away_is_still_found_in_its_scope(store):
    kept = entity_id("Bell Foundry", "Organization")
    names = [("Bell Foundry", "Organization")]
    store.write(make_document("b.txt", "Bell Foundry is old.", names=names))
    store.embed("chunk", {})
    assert store.curator.merge(kept, WORKS, 1)
    (fact,) = store.reader.nearest_facts(EAST, 5, ONLY)
    assert fact.evidence.text == "(Ada Bell, FOUNDED, Bell Works): It is known to all."
    (relation,) = store.reader.relations_of([kept], EAST, 5, ONLY)
    assert (relation.source, relation.target) == (ADA, kept)
    (entity,) = store.reader.entities([kept], EAST, ONLY)
    assert entity.text == f"Bell Works (Organization): {OPEN}"


def test_a_graph_without_supports_is_scoped_by_the_passages_that_a_fact_names(store):
    store.graph.query(
        "CREATE (d:Document {id: 'd', path: 'd.txt', content_hash: 'x'})-[:PART_OF]->(c:Chunk {id: 'c', text: 'Ann'}), "
        "(a:__Entity__ {id: 'ann', name: 'Ann'})-[:MENTIONED_IN]->(c), "
        "(a)-[:RELATES {rel_type: 'KNOWS', fact: '(Ann, KNOWS, Bob): so', source_chunk_ids: ['c', 'gone'], "
        "embedding: vecf32([1, 0, 0])}]->(b:__Entity__ {id: 'bob', name: 'Bob'}), (b)-[:MENTIONED_IN]->(c)"
    )
    inside = Scope(documents=("d",))
    (fact,) = store.reader.nearest_facts(EAST, 5, inside)
    assert (fact.evidence.text, fact.passage_ids) == ("(ann, KNOWS, bob)", ("c",))
    assert len(store.reader.relations_of(["bob"], EAST, 5, inside)) == 1
    assert store.reader.relations_of(["bob"], EAST, 5, ONLY) == []


@pytest.mark.slow
def test_in_a_graph_without_supports_hubs_of_thousands_of_passages_are_asked_after_in_seconds(store, graph_server):
    store.graph.query(
        "CREATE (d:Document {id: 'd', path: 'd.txt', content_hash: 'x'}), (h:__Entity__ {id: 'hub', name: 'Hub'}) "
        "WITH d, h UNWIND range(1, 4000) AS i CREATE (d)-[:PART_OF]->(c:Chunk {id: 'c' + toString(i), text: 'Hub'}), "
        "(h)-[:MENTIONED_IN]->(c), (h)-[:RELATES {rel_type: 'KNOWS', source_chunk_ids: ['c' + toString(i)]}]->"
        "(e:__Entity__ {id: 'e' + toString(i), name: 'E'}), (e)-[:MENTIONED_IN]->(c)"
    )
    quick = FalkorReader(connect(graph_server.url, store.graph.name, read_timeout=2))
    inside = Scope(documents=("d",))
    assert len(quick.relations_of(["hub"], EAST, 5, inside)) == 5
    assert len(quick.nearest_facts(EAST, 5, inside)) == 5


@pytest.mark.parametrize(
    ("condition", "inside"),
    [
        (Condition("path", "=", "open/a.txt"), True),
        (Condition("path", "=", "open/"), False),
        (Condition("path", "in", ("x", "open/a.txt")), True),
        (Condition("path", "in", ()), False),
        (Condition("path", "starts_with", "a-"), False),
        (Condition("media_type", "=", "text/plain"), True),
        (Condition("page_count", "<", 1), True),
        (Condition("page_count", ">=", 1), False),
        (Condition("page_count", "in", (0, 7)), True),
        (Condition("run_id", "=", "' OR 1 = 1 //"), False),
        (Condition("path", "starts_with", 'open/" OR d.id <> "'), False),
    ],
)
def test_a_condition_holds_or_does_not_whatever_its_value(store, condition, inside):
    scope = Scope(documents=("open/a.txt",), where=(condition,))
    assert store.reader.has_documents(scope) is inside
    assert bool(store.reader.match_passages(["lamp"], 5, scope).found) is inside


@pytest.mark.parametrize("documents", [("nobody.txt",), ()])
def test_a_scope_of_no_known_document_finds_nothing(store, documents):
    scope = Scope(documents=documents)
    assert not store.reader.has_documents(scope)
    assert store.reader.nearest_passages(EAST, 5, scope) == []
    assert store.reader.nearest_facts(EAST, 5, scope) == []
    assert store.reader.match_entities(["ada"], 5, scope) == []
