from collections.abc import Iterator

import pytest
from readable_graph import DIMENSION, EAST, NORTH, NORTHEAST, Store, founded, id_of, make_document

from pipeline.adapters.falkor import FalkorReader, connect
from pipeline.errors import GraphMissing, GraphUnavailable
from pipeline.ids import content_hash, entity_id
from pipeline.models import WHOLE_GRAPH, GraphRecord
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.resolve import canonical_key


@pytest.fixture
def store(graph_server, graph_name) -> Iterator[Store]:
    graph = connect(graph_server.url, graph_name)
    yield Store(graph)
    graph.close()


def test_a_missing_graph_is_an_error_and_is_not_made(store):
    with pytest.raises(GraphMissing, match=store.graph.name):
        store.reader.gaps()
    with pytest.raises(GraphMissing):
        store.reader.nearest_passages(EAST, 5, WHOLE_GRAPH)
    with pytest.raises(GraphMissing):
        store.reader.match_passages(["lamp"], 5, WHOLE_GRAPH)
    with pytest.raises(GraphMissing):
        store.reader.record()


def test_an_unreachable_server_is_an_error_and_not_an_empty_answer():
    reader = FalkorReader(connect("redis://127.0.0.1:1/0", "any"))
    with pytest.raises(GraphUnavailable):
        reader.gaps()


def test_a_graph_without_indexes_finds_nothing_and_says_so(store):
    store.write(make_document("a.txt", "Ada Bell lit the lamp.", names=[("Ada Bell", "Person")]))
    gaps = store.reader.gaps()
    assert sum("missing" in gap and "finalize" in gap for gap in gaps) == 5
    assert any(gap.startswith("2 elements are not finalized") for gap in gaps)
    assert store.reader.nearest_passages(EAST, 5, WHOLE_GRAPH) == []
    assert store.reader.nearest_facts(EAST, 5, WHOLE_GRAPH) == []
    assert store.reader.nearest_entities(EAST, 5, WHOLE_GRAPH) == []
    assert store.reader.match_passages(["lamp"], 5, WHOLE_GRAPH).found == ()
    assert store.reader.match_entities(["ada"], 5, WHOLE_GRAPH) == []


def test_a_finished_graph_has_no_gaps(store):
    store.write(make_document("a.txt", "Ada Bell lit the lamp.", names=[("Ada Bell", "Person")]))
    store.finish()
    assert store.reader.gaps() == []


def test_while_an_index_is_being_built_an_empty_answer_never_looks_complete(store):
    store.writer.prepare(DEFAULT_ONTOLOGY)
    store.graph.query("MERGE (d:Document {id: 'd', path: 'd', content_hash: 'x'}) RETURN 1")
    store.graph.query(
        "MATCH (d:Document {id: 'd'}) UNWIND range(1, 20000) AS i "
        "CREATE (d)-[:PART_OF {index: i}]->(:Chunk {id: toString(i), text: 'lamp number ' + toString(i)})"
    )
    store.graph.query("CREATE FULLTEXT INDEX FOR (e:Chunk) ON (e.text)")
    seen = 0
    while True:
        gaps = store.reader.gaps()
        found = store.reader.match_passages(["lamp"], 5, WHOLE_GRAPH).found
        building = any("being built" in gap for gap in [*gaps, *store.reader.gaps()])
        assert len(found) == 5 or building
        seen += building
        if not building:
            break
    assert seen > 0


def test_the_record_tells_what_the_vectors_were_made_with(store):
    store.write(make_document("a.txt", "Ada lit the lamp."))
    assert store.reader.record() is None
    written = GraphRecord("test:model", DIMENSION, "store")
    store.curator.record_embedder(written)
    assert store.reader.record() == written


def test_passages_come_by_similarity_with_their_place(store):
    first, second = "The lamp of the quay.", "Bread and salt."
    store.write(make_document("notes/a.txt", first, second))
    store.embed("chunk", {id_of("notes/a.txt", first): EAST, id_of("notes/a.txt", second): NORTHEAST})
    store.finish()
    ids = store.reader.nearest_passages(NORTH, 5, WHOLE_GRAPH)
    assert ids == [id_of("notes/a.txt", second), id_of("notes/a.txt", first)]
    found = store.reader.passages([*ids, "gone"], NORTH, WHOLE_GRAPH)
    assert [passage.text for passage in found] == [second, first]
    assert found[0].score == pytest.approx(NORTHEAST @ NORTH, abs=1e-5)
    assert (found[0].kind, found[0].source, found[0].page) == ("passage", "notes/a.txt", 2)
    assert (found[0].start, found[0].end, found[0].heading) == (22, 22 + len(second), "Top > H1")
    assert (found[0].document, found[0].passage) == ("notes/a.txt", ids[0])
    assert found[0].version == content_hash(f"{first}\n{second}")


def test_equally_similar_passages_come_by_id(store):
    texts = [f"Lamp number {i}." for i in range(8)]
    store.write(make_document("a.txt", *texts))
    ids = [id_of("a.txt", text) for text in texts]
    store.embed("chunk", dict.fromkeys(ids, EAST))
    store.finish()
    assert store.reader.nearest_passages(EAST, 8, WHOLE_GRAPH) == sorted(ids)


def test_which_of_many_equals_come_first_does_not_hang_on_how_many_are_asked_for(store):
    texts = [f"Lamp number {i}." for i in range(90)]
    store.write(make_document("a.txt", "A bright lamp.", *texts))
    ids = sorted(id_of("a.txt", text) for text in texts)
    best = id_of("a.txt", "A bright lamp.")
    store.embed("chunk", {best: EAST, **dict.fromkeys(ids, NORTHEAST)})
    store.finish()
    for k in (1, 2, 5, 30):
        assert store.reader.nearest_passages(EAST, k, WHOLE_GRAPH) == [best, *ids[: k - 1]]


def test_documents_that_are_not_completely_written_are_left_out(store):
    names, relations = [("Ada Bell", "Person"), ("Quay House", "Organization")], [founded("Ada Bell", "Quay House")]
    text, hidden = "Ada Bell founded Quay House with one lamp.", "Ada Bell founded Quay House, says the lamp."
    ghost = "Gil Marsh has a lamp."
    store.write(
        make_document("a.txt", text, names=names, relations=relations),
        make_document("b.txt", hidden, ghost, names=[*names, ("Gil Marsh", "Person")], relations=relations),
    )
    shown = id_of("a.txt", text)
    store.embed("chunk", {shown: NORTH, id_of("b.txt", hidden): EAST, id_of("b.txt", ghost): EAST})
    store.embed("entity", {"ada bell__person": EAST, "gil marsh__person": EAST})
    key = "ada bell__person\x1fFOUNDED\x1fquay house__organization"
    store.embed("relation", {key: EAST})
    store.finish()
    store.unstamp("b.txt")
    reader = store.reader
    assert reader.nearest_passages(EAST, 1, WHOLE_GRAPH) == [shown]
    assert [match.id for match in reader.match_passages(["lamp"], 5, WHOLE_GRAPH).found] == [shown]
    assert reader.passages_naming(["ada bell__person"], EAST, 5, WHOLE_GRAPH) == [shown]
    assert reader.passages([id_of("b.txt", hidden)], EAST, WHOLE_GRAPH) == []
    assert [entity.id for entity in reader.entities(["ada bell__person", "gil marsh__person"], EAST, WHOLE_GRAPH)] == [
        "ada bell__person"
    ]
    (fact,) = reader.nearest_facts(EAST, 5, WHOLE_GRAPH)
    assert fact.passage_ids == (shown,)
    assert fact.evidence.source == "a.txt"
    store.unstamp("a.txt")
    assert reader.nearest_facts(EAST, 5, WHOLE_GRAPH) == []
    assert reader.linked_passages([shown], EAST, 5, WHOLE_GRAPH) == []
    assert reader.relations_of(["ada bell__person"], EAST, 5, WHOLE_GRAPH) == []
    assert not reader.has_documents(WHOLE_GRAPH)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("lamp", "Two lamps and a LAMP."),
        ("lamps", "One lamp."),
        ("the", "the"),
        ("école", "À l'ÉCOLE, une lampe"),
        ("lamp", "The “Lamp” of Quay House"),
        ("lamp", "It was the lamp’s glass"),
        ("zoë", "Zoë came"),
        ("zoë", "ZOË CAME"),
        ("straße", "Die Straße"),
        ("हिन्दी", "यह हिन्दी है"),
        ("東京", "東京 へ"),
        ("snake_case", "a snake_case name"),
        ("1871", "in 1871, at last"),
        ("c", "written in C."),
    ],
)
def test_a_word_is_found_in_any_case_and_script(store, word, text):
    store.write(make_document("a.txt", text, "Nothing else here"))
    store.finish()
    matches = store.reader.match_passages([word], 5, WHOLE_GRAPH)
    assert [(match.text, match.words) for match in matches.found] == [(text, (word,))]
    assert matches.frequencies == {word: 1}
    assert matches.total == 2


def test_rare_words_count_more_than_frequent_ones(store):
    texts = [f"The lamp of house {i}." for i in range(9)]
    store.write(make_document("a.txt", *texts, "An astrolabe."))
    store.finish()
    matches = store.reader.match_passages(["lamp", "house", "astrolabe", "absent"], 2, WHOLE_GRAPH)
    assert matches.found[0].text == "An astrolabe."
    assert matches.frequencies == {"lamp": 9, "house": 9, "astrolabe": 1}
    assert store.reader.match_passages([], 5, WHOLE_GRAPH).found == ()


def test_entities_are_found_by_key_by_word_and_by_meaning(store):
    text = "Ada Bell met Bell Foundry Ltd at Quay House."
    names = [("Ada Bell", "Person"), ("Bell Foundry Ltd", "Organization"), ("Quay House", "Location")]
    store.write(make_document("a.txt", text, names=names))
    ada, foundry, house = (entity_id(*name) for name in names)
    store.embed("entity", {ada: EAST, foundry: NORTH, house: NORTHEAST})
    store.finish()
    assert store.reader.entities_named([canonical_key("Bell Foundry"), "nobody"], WHOLE_GRAPH) == {
        "bell foundry": [foundry]
    }
    assert store.reader.match_entities(["bell"], 2, WHOLE_GRAPH) == [ada, foundry]
    assert store.reader.match_entities(["quay"], 1, WHOLE_GRAPH) == [house]
    assert store.reader.match_entities(["met"], 5, WHOLE_GRAPH) == [ada, house, foundry]
    assert store.reader.match_entities(["absent"], 5, WHOLE_GRAPH) == []
    assert store.reader.nearest_entities(EAST, 2, WHOLE_GRAPH) == [ada, house]
    (found,) = store.reader.entities([foundry], EAST, WHOLE_GRAPH)
    assert found.text == f"Bell Foundry Ltd (Organization): {text}"
    assert (found.kind, found.source, found.score) == ("entity", "a.txt", pytest.approx(0))
    assert (found.start, found.end) == (text.index("Bell F"), text.index("Bell F") + len("Bell Foundry Ltd"))


def test_passages_that_open_with_the_entity_come_first(store):
    opening, passing, other = "The Ada Bell is a lighter.", "They saw the Ada Bell leave.", "No name here."
    store.write(make_document("a.txt", passing, opening, other, names=[("Ada Bell", "Product")]))
    store.embed("chunk", {id_of("a.txt", passing): EAST, id_of("a.txt", opening): NORTH})
    store.finish()
    found = store.reader.passages_naming(["ada bell__product"], EAST, 5, WHOLE_GRAPH)
    assert found == [id_of("a.txt", opening), id_of("a.txt", passing)]
