from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import redis

from pipeline.adapters.falkor import FalkorCurator, FalkorReader, FalkorWriter, connect
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.errors import GraphMissing, GraphUnavailable
from pipeline.ids import chunk_id, content_hash, entity_id
from pipeline.models import Chunk, Document, Extraction, GraphRecord, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.ports import GraphReader, Vectors
from pipeline.resolve import canonical_key

EPOCH = 1
DIMENSION = 3
EAST, NORTH, UP = (np.eye(DIMENSION, dtype=np.float32)[i] for i in range(DIMENSION))
NORTHEAST = ((EAST + NORTH) / np.linalg.norm(EAST + NORTH)).astype(np.float32)


@dataclass
class Store:
    """A graph that a test fills, and a reader of it."""

    graph: FalkorGraph

    def __post_init__(self) -> None:
        self.writer, self.curator = FalkorWriter(self.graph), FalkorCurator(self.graph)
        self.reader: GraphReader = FalkorReader(self.graph)

    def write(self, *documents: Document) -> None:
        self.writer.prepare(DEFAULT_ONTOLOGY)
        self.writer.write(documents, EPOCH, lambda: None)

    def embed(self, kind: str, vectors: Mapping[str, Vectors]) -> None:
        self.curator.set_vectors(kind, [(identity, "hash", vector) for identity, vector in vectors.items()], EPOCH)

    def finish(self) -> None:
        self.writer.build_search_indexes(DIMENSION, lambda: None)
        for kind in ("chunk", "entity", "relation"):
            self.curator.clear_pending(self.curator.pending(kind, -1, 1000), EPOCH)

    def unstamp(self, path: str) -> None:
        """Make a document as if its write had been cut off before the end."""
        self.graph.query("MATCH (d:Document {id: $id}) SET d.content_hash = NULL RETURN 1", id=path)


def make_document(
    path: str, *texts: str, names: Sequence[tuple[str, str]] = (), relations: Sequence[Relation] = ()
) -> Document:
    """Make a document of passages that lie one character apart; names are mentioned where they stand."""
    chunks, extractions, start = [], [], 0
    for index, text in enumerate(texts):
        chunks.append(
            Chunk(index, start, start + len(text), text, page_first=index + 1, heading_path=("Top", f"H{index}"))
        )
        mentions = [
            Mention(name, label, text.index(name), text.index(name) + len(name), description=text)
            for name, label in names
            if name in text
        ]
        known = {mention.name for mention in mentions}
        stated = tuple(relation for relation in relations if {relation.source, relation.target} <= known)
        extractions.append(Extraction(tuple(mentions), stated))
        start += len(text) + 1
    digest = content_hash("\n".join(texts))
    return Document(path, path, digest, digest, "print", "text/plain", tuple(chunks), tuple(extractions))


def founded(source: str, target: str, start: int = 0, end: int = 0) -> Relation:
    return Relation(source, "Person", target, "Organization", "FOUNDED", f"{source} founded {target}.", start, end)


@pytest.fixture
def store(graph_server, graph_name) -> Iterator[Store]:
    graph = connect(graph_server.url, graph_name)
    yield Store(graph)
    graph.close()


def id_of(path: str, text: str) -> str:
    return chunk_id(path, text, 0)


def ask_everything(reader: GraphReader) -> list[object]:
    return [
        reader.nearest_passages(EAST, 5),
        reader.match_passages(["lamp"], 5).found,
        reader.nearest_facts(EAST, 5),
        reader.nearest_entities(EAST, 5),
        reader.match_entities(["ada"], 5),
        reader.entities_named(["ada bell"]),
        reader.passages_naming(["ada bell__person"], EAST, 5),
        reader.linked_passages(["nothing"], EAST, 5),
        reader.passages(["nothing"], EAST),
        reader.entities(["nothing"], EAST),
    ]


def test_a_missing_graph_is_an_error_and_is_not_made(store):
    with pytest.raises(GraphMissing, match=store.graph.name):
        store.reader.gaps()
    with pytest.raises(GraphMissing):
        store.reader.nearest_passages(EAST, 5)
    with pytest.raises(GraphMissing):
        store.reader.match_passages(["lamp"], 5)
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
    assert store.reader.nearest_passages(EAST, 5) == []
    assert store.reader.nearest_facts(EAST, 5) == []
    assert store.reader.nearest_entities(EAST, 5) == []
    assert store.reader.match_passages(["lamp"], 5).found == ()
    assert store.reader.match_entities(["ada"], 5) == []


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
        found = store.reader.match_passages(["lamp"], 5).found
        building = any("being built" in gap for gap in [*gaps, *store.reader.gaps()])
        assert len(found) == 5 or building
        seen += building
        if not building:
            break
    assert seen > 0


def test_reading_never_uses_a_command_that_may_write(store, graph_server):
    store.write(make_document("a.txt", "Ada Bell lit the lamp.", names=[("Ada Bell", "Person")]))
    store.embed("chunk", {id_of("a.txt", "Ada Bell lit the lamp."): EAST})
    store.finish()
    with redis.Redis.from_url(graph_server.url) as client:
        client.config_resetstat()
        store.reader.gaps()
        store.reader.record()
        ask_everything(store.reader)
        used = {name.casefold() for name in client.info("commandstats")}
    assert "cmdstat_graph.ro_query" in used
    assert "cmdstat_graph.query" not in used


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
    ids = store.reader.nearest_passages(NORTH, 5)
    assert ids == [id_of("notes/a.txt", second), id_of("notes/a.txt", first)]
    found = store.reader.passages([*ids, "gone"], NORTH)
    assert [passage.text for passage in found] == [second, first]
    assert found[0].score == pytest.approx(NORTHEAST @ NORTH, abs=1e-5)
    assert (found[0].kind, found[0].source, found[0].page) == ("passage", "notes/a.txt", 2)
    assert (found[0].start, found[0].end, found[0].heading) == (22, 22 + len(second), "Top > H1")


def test_equally_similar_passages_come_by_id(store):
    texts = [f"Lamp number {i}." for i in range(8)]
    store.write(make_document("a.txt", *texts))
    ids = [id_of("a.txt", text) for text in texts]
    store.embed("chunk", dict.fromkeys(ids, EAST))
    store.finish()
    assert store.reader.nearest_passages(EAST, 8) == sorted(ids)


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
    assert reader.nearest_passages(EAST, 1) == [shown]
    assert [match.id for match in reader.match_passages(["lamp"], 5).found] == [shown]
    assert reader.passages_naming(["ada bell__person"], EAST, 5) == [shown]
    assert reader.passages([id_of("b.txt", hidden)], EAST) == []
    assert [entity.id for entity in reader.entities(["ada bell__person", "gil marsh__person"], EAST)] == [
        "ada bell__person"
    ]
    (fact,) = reader.nearest_facts(EAST, 5)
    assert fact.passage_ids == (shown,)
    assert fact.evidence.source == "a.txt"
    store.unstamp("a.txt")
    assert reader.nearest_facts(EAST, 5) == []
    assert reader.linked_passages([shown], EAST, 5) == []


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
    matches = store.reader.match_passages([word], 5)
    assert [(match.text, match.words) for match in matches.found] == [(text, (word,))]
    assert matches.frequencies == {word: 1}
    assert matches.total == 2


def test_rare_words_count_more_than_frequent_ones(store):
    texts = [f"The lamp of house {i}." for i in range(9)]
    store.write(make_document("a.txt", *texts, "An astrolabe."))
    store.finish()
    matches = store.reader.match_passages(["lamp", "house", "astrolabe", "absent"], 2)
    assert matches.found[0].text == "An astrolabe."
    assert matches.frequencies == {"lamp": 9, "house": 9, "astrolabe": 1}
    assert store.reader.match_passages([], 5).found == ()


def test_entities_are_found_by_key_by_word_and_by_meaning(store):
    text = "Ada Bell met Bell Foundry Ltd at Quay House."
    names = [("Ada Bell", "Person"), ("Bell Foundry Ltd", "Organization"), ("Quay House", "Location")]
    store.write(make_document("a.txt", text, names=names))
    ada, foundry, house = (entity_id(*name) for name in names)
    store.embed("entity", {ada: EAST, foundry: NORTH, house: NORTHEAST})
    store.finish()
    assert store.reader.entities_named([canonical_key("Bell Foundry"), "nobody"]) == {"bell foundry": [foundry]}
    assert store.reader.match_entities(["bell"], 5) == [ada, foundry]
    assert store.reader.match_entities(["met"], 5) == []
    assert store.reader.nearest_entities(EAST, 2) == [ada, house]
    (found,) = store.reader.entities([foundry], EAST)
    assert found.text == f"Bell Foundry Ltd (Organization): {text}"
    assert (found.kind, found.source, found.score) == ("entity", "a.txt", pytest.approx(0))
    assert (found.start, found.end) == (text.index("Bell F"), text.index("Bell F") + len("Bell Foundry Ltd"))


def test_passages_that_open_with_the_entity_come_first(store):
    opening, passing, other = "The Ada Bell is a lighter.", "They saw the Ada Bell leave.", "No name here."
    store.write(make_document("a.txt", passing, opening, other, names=[("Ada Bell", "Product")]))
    store.embed("chunk", {id_of("a.txt", passing): EAST, id_of("a.txt", opening): NORTH})
    store.finish()
    found = store.reader.passages_naming(["ada bell__product"], EAST, 5)
    assert found == [id_of("a.txt", opening), id_of("a.txt", passing)]


def test_links_lead_to_passages_that_open_with_what_a_passage_mentions(store):
    names = [("Ada Bell", "Person"), ("Quay House", "Organization")]
    house, ada, passing = "Quay House was founded by Ada Bell.", "Ada Bell was born in 1840.", "Nobody knew Ada Bell."
    store.write(*(make_document(f"{i}.txt", text, names=names) for i, text in enumerate((house, ada, passing))))
    store.finish()
    assert store.reader.linked_passages([id_of("0.txt", house)], EAST, 5) == [id_of("1.txt", ada)]
    assert store.reader.linked_passages([id_of("1.txt", ada)], EAST, 5) == []


def test_a_fact_names_all_passages_that_state_it_also_after_a_merge(store):
    text, again = "Some say Ada Bell founded Bell Works.", "Ada Bell founded Bell Works Ltd in 1871."
    store.write(
        make_document(
            "a.txt",
            text,
            names=[("Ada Bell", "Person"), ("Bell Works", "Organization")],
            relations=[founded("Ada Bell", "Bell Works", 9, 37)],
        ),
        make_document(
            "b.txt",
            again,
            names=[("Ada Bell", "Person"), ("Bell Works Ltd", "Organization")],
            relations=[founded("Ada Bell", "Bell Works Ltd", 0, 40)],
        ),
    )
    kept, gone = entity_id("Bell Works", "Organization"), entity_id("Bell Works Ltd", "Organization")
    assert store.curator.merge(kept, gone, EPOCH)
    store.embed("relation", {f"ada bell__person\x1fFOUNDED\x1f{kept}": EAST})
    store.finish()
    (fact,) = store.reader.nearest_facts(EAST, 5)
    places = {id_of("a.txt", text): ("a.txt", 9, 37), id_of("b.txt", again): ("b.txt", 0, 40)}
    assert fact.passage_ids == tuple(sorted(places))
    evidence = fact.evidence
    assert (evidence.source, evidence.start, evidence.end) == places[min(places)]
    assert evidence.kind == "fact"
    assert evidence.text.startswith("(Ada Bell, FOUNDED, Bell Works")
    assert evidence.score == pytest.approx(1, abs=1e-5)


def test_a_graph_without_supports_tells_provenance_from_the_fact_itself(store):
    store.writer.prepare(DEFAULT_ONTOLOGY)
    store.graph.query(
        "CREATE (:Document {id: 'd', path: 'd.txt', content_hash: 'x'})-[:PART_OF]->(:Chunk {id: 'c', text: 'Ada'}), "
        "(:__Entity__ {id: 'a', name: 'Ada'})-[:RELATES {rel_type: 'KNOWS', fact: '(Ada, KNOWS, Gil): so', "
        "source_chunk_ids: ['c', 'gone'], embedding: vecf32([1, 0, 0])}]->(:__Entity__ {id: 'g', name: 'Gil'})"
    )
    store.finish()
    (fact,) = store.reader.nearest_facts(EAST, 5)
    assert (fact.passage_ids, fact.evidence.source) == (("c",), "d.txt")
