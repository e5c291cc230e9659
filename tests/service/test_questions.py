import json
import socket
from collections.abc import Iterator, Sequence

import pytest
import redis

from pipeline.adapters.falkor import FalkorCurator, FalkorReader, FalkorWriter, connect
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.minilm import MiniLmEmbedder
from pipeline.embed import embed_distinct, text_hash
from pipeline.errors import EmbedderMismatch, GraphMissing, GraphUnavailable, QueryInvalid
from pipeline.ids import content_hash, file_document_id
from pipeline.models import Chunk, Document, Extraction, GraphRecord, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.query import MAX_DRAFT_CHARS, Questions
from scheduler.sessions import EvidenceSessions

EPOCH = 1
WORLD = {
    "ferry.txt": "The Marrow Ferry crosses the Teal Sound twice a day. It was founded by Odile Brandt in 1904.",
    "odile.txt": "Odile Brandt was a shipwright from Cask Harbour. She painted boats in her free time.",
    "harbour.txt": "Cask Harbour is a small port known for its rope walk and its smoked eel.",
    "bakery.txt": "Tilman's bakery sells rye bread on Mondays. The oven is older than the house.",
    "orchard.txt": "The orchard behind the school gives plums in a good year and nothing in a bad one.",
    "weather.txt": "Rain falls on most days of November, and the roads to the north are often closed.",
}
NAMES = (
    ("Marrow Ferry", "Organization"),
    ("Teal Sound", "Location"),
    ("Odile Brandt", "Person"),
    ("Cask Harbour", "Location"),
)
FOUNDING = Relation(
    source="Odile Brandt",
    source_type="Person",
    target="Marrow Ferry",
    target_type="Organization",
    type="FOUNDED",
    description=WORLD["ferry.txt"],
    start=53,
    end=96,
)
NASTY = [
    *("", " ", "?", "\x00", "the", "who is it", "user@example.com", "(draft", "C:\\x", '"quoted', "it|", "%", "~"),
    *("{x}", "foo:bar", "[1 2]", "=>", "foo-bar", "-draft", "*", "ferry\x00", "' OR 1=1", "$rows", "`", "@name:(x)"),
    *("'}) DETACH DELETE n //", "x' RETURN 1 UNION MATCH (n) DELETE n //", "\ud800 ferry", "ferry\\", "\u202eferry"),
    *("ferry " * 600, "a" * 4000, "x" * 100_000, "東京", "🙂", "é" * 200, "'\"`;--", "\n\n\n", "NaN", "-1", "%s%n"),
]


def make_document(path: str, text: str) -> Document:
    mentions = tuple(
        Mention(name, label, text.index(name), text.index(name) + len(name), description=text)
        for name, label in NAMES
        if name in text
    )
    relations = (FOUNDING,) if path == "ferry.txt" else ()
    digest = content_hash(text)
    chunk = Chunk(0, 0, len(text), text)
    extraction = Extraction(mentions, relations)
    return Document(
        file_document_id(path), path, digest, digest, "print", "text/plain", (chunk,), (extraction,), run_id="run"
    )


def fill(graph: FalkorGraph, embedder: MiniLmEmbedder, world: dict[str, str], *, finalize: bool = True) -> None:
    """Write a world and, unless told otherwise, do what finalize does to it."""
    writer, curator = FalkorWriter(graph), FalkorCurator(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    writer.write([make_document(path, text) for path, text in world.items()], EPOCH, lambda: None)
    curator.record_embedder(GraphRecord(embedder.model_id, embedder.dimension, "store"))
    if not finalize:
        return
    for kind in ("chunk", "entity", "relation"):
        things = curator.pending(kind, -1, 1000)
        texts = curator.texts(kind, [thing.id for thing in things])
        vectors = embed_distinct(embedder, [text.text for text in texts])
        rows = [(text.id, text_hash(text.text), vector) for text, vector in zip(texts, vectors, strict=True)]
        curator.set_vectors(kind, rows, EPOCH)
        curator.clear_pending(things, EPOCH)
    writer.build_search_indexes(embedder.dimension, lambda: None)


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.fixture(scope="module")
def world(graph_server, embedder) -> Iterator[FalkorGraph]:
    graph = connect(graph_server.url, "questions-world")
    fill(graph, embedder, WORLD)
    yield graph
    graph.close()


@pytest.fixture
def questions(world, graph_server, embedder, redis_client) -> Iterator[Questions]:
    graphs = {world.name: world}

    def reader_of(name: str) -> FalkorReader:
        return FalkorReader(graphs.setdefault(name, connect(graph_server.url, name)))

    yield Questions(reader_of, embedder, EvidenceSessions(redis_client, expiry_seconds=60))
    for graph in graphs.values():
        graph.close()


def sources(evidence: Sequence[dict], kind: str) -> list[str]:
    return [item["source"] for item in evidence if item["kind"] == kind]


def test_a_question_gets_numbered_evidence_of_all_kinds_and_an_answer(questions, world):
    found = questions.retrieve(world.name, "Who founded the Marrow Ferry?", 3, "s1")
    evidence = found["evidence"]
    assert [item["n"] for item in evidence] == list(range(1, len(evidence) + 1))
    assert {item["kind"] for item in evidence} == {"passage", "fact", "entity"}
    assert len(sources(evidence, "passage")) == 3
    assert sources(evidence, "passage")[0] == "ferry.txt"
    assert found["incomplete"] == []
    assert found["answer"][0] == {"sentence": "It was founded by Odile Brandt in 1904.", "n": 1}
    (fact,) = [item for item in evidence if item["kind"] == "fact"]
    assert WORLD["ferry.txt"][fact["start"] : fact["end"]] == "It was founded by Odile Brandt in 1904."
    assert json.loads(json.dumps(found)) == found


def test_offsets_of_every_evidence_point_into_its_source(questions, world):
    found = questions.retrieve(world.name, "Who founded the Marrow Ferry?", 6, "s1")
    for item in found["evidence"]:
        said = WORLD[item["source"]][item["start"] : item["end"]]
        assert said == item["text"] if item["kind"] == "passage" else said in item["text"]


def test_a_link_brings_the_passage_that_the_question_does_not_name(questions, world):
    question = "Where does the founder of the Marrow Ferry come from?"
    passages = {item["source"]: item for item in questions.retrieve(world.name, question, 3, "s1")["evidence"][:3]}
    assert {"links", "names", "words"} & set(passages["odile.txt"]["paths"]) == {"links"}


def test_k_bounds_the_passages(questions, world):
    assert len(sources(questions.retrieve(world.name, "What is sold?", 1, "s1")["evidence"], "passage")) == 1
    for k in (0, -1, 101):
        with pytest.raises(QueryInvalid, match="1 to 100"):
            questions.retrieve(world.name, "What is sold?", k, "s1")


def test_the_same_question_twice_gives_the_same_evidence_and_numbers(questions, world):
    first = questions.retrieve(world.name, "Who founded the Marrow Ferry?", 5, "s1")
    assert questions.retrieve(world.name, "Who founded the Marrow Ferry?", 5, "s1") == first


def test_sentences_of_the_answer_pass_the_citation_check(questions, world):
    found = questions.retrieve(world.name, "Who founded the Marrow Ferry?", 3, "s1")
    draft = " ".join(f"{one['sentence'].rstrip('.')} [{one['n']}]." for one in found["answer"])
    verdict = questions.check("s1", draft)
    assert verdict["grounded"]
    assert verdict["unsupported"] == ()
    assert verdict["sources"][0]["text"] == WORLD["ferry.txt"]


def test_a_false_name_a_made_up_number_and_another_session_are_found_out(questions, world):
    questions.retrieve(world.name, "Who founded the Marrow Ferry?", 3, "s1")
    verdict = questions.check("s1", "The Marrow Ferry was founded by Rosa Quill [1]. It has nine boats [99].")
    assert verdict["invalid"] == (99,)
    assert not verdict["grounded"]
    assert "[99]" not in verdict["answer"]
    assert verdict["unsupported"][0]["missing"] == ("Rosa Quill",)
    questions.retrieve(world.name, "Who sells bread?", 1, "s2")
    assert questions.check("s2", "The Marrow Ferry was founded in 1904 [99].")["invalid"] == (99,)
    with pytest.raises(QueryInvalid, match="session 's3' is unknown"):
        questions.check("s3", "The Marrow Ferry was founded in 1904.")


def test_a_draft_that_is_too_long_is_refused(questions):
    with pytest.raises(QueryInvalid, match=str(MAX_DRAFT_CHARS)):
        questions.check("s1", "a" * (MAX_DRAFT_CHARS + 1))


@pytest.mark.parametrize("question", NASTY, ids=lambda question: repr(question[:20]))
def test_any_text_is_answered_or_refused_with_a_reason_and_changes_nothing(questions, world, question):
    before = world.ro_query("MATCH (n) RETURN count(n)")
    try:
        found = questions.retrieve(world.name, question, 3, "s1")
    except QueryInvalid as refusal:
        reason = str(refusal)
    else:
        reason = "none needed"
        assert len(sources(found["evidence"], "passage")) == 3
        assert found["incomplete"] == []
    assert reason
    assert world.ro_query("MATCH (n) RETURN count(n)") == before


@pytest.mark.parametrize(
    "wrapped", ["(ferry", "-ferry", "ferry*", '"ferry', "ferry|", "@text:ferry", "~ferry", "ferry:"]
)
def test_operators_mean_nothing(questions, world, wrapped):
    plain = questions.retrieve(world.name, "When was it founded, the ferry?", 6, "s1")["evidence"]
    odd = questions.retrieve(world.name, f"When was it founded, the {wrapped}?", 6, "s1")["evidence"]
    by_words = [{item["source"] for item in found if "words" in item["paths"]} for found in (plain, odd)]
    assert by_words[0] == by_words[1]
    assert "ferry.txt" in by_words[0]


def test_a_missing_graph_is_an_error_and_is_not_made(questions, graph_name, graph_server):
    with pytest.raises(GraphMissing, match=graph_name):
        questions.retrieve(graph_name, "Who founded the Marrow Ferry?", 3, "s1")
    with redis.Redis.from_url(graph_server.url) as client:
        assert not client.exists(graph_name)


def test_an_unreachable_server_is_an_error(embedder, redis_client):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        graph = connect(f"redis://127.0.0.1:{taken.getsockname()[1]}/0", "any")
        asked = Questions(lambda _: FalkorReader(graph), embedder, EvidenceSessions(redis_client, expiry_seconds=60))
        with pytest.raises(GraphUnavailable):
            asked.retrieve("any", "Who founded the Marrow Ferry?", 3, "s1")


def test_a_graph_that_was_not_finalized_says_so(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    fill(graph, embedder, {"ferry.txt": WORLD["ferry.txt"]}, finalize=False)
    found = questions.retrieve(graph_name, "Who founded the Marrow Ferry?", 3, "s1")
    # The name still leads to its passage; what the missing indexes would have found is announced.
    assert sources(found["evidence"], "passage") == ["ferry.txt"]
    assert any("missing" in gap for gap in found["incomplete"])
    assert any("not finalized" in gap for gap in found["incomplete"])
    graph.close()


def test_new_documents_are_announced_until_they_are_finalized(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    fill(graph, embedder, {"ferry.txt": WORLD["ferry.txt"]})
    assert questions.retrieve(graph_name, "Who sells bread?", 3, "s1")["incomplete"] == []
    fill(graph, embedder, {"bakery.txt": WORLD["bakery.txt"]}, finalize=False)
    found = questions.retrieve(graph_name, "Who sells bread?", 3, "s1")
    assert found["incomplete"] == ["1 elements are not finalized yet: some have no vector, or are not merged."]
    assert "bakery.txt" in sources(found["evidence"], "passage")
    graph.close()


def test_a_graph_of_another_embedder_is_refused(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    FalkorCurator(graph).record_embedder(GraphRecord("other:model", 384, "store"))
    with pytest.raises(EmbedderMismatch, match="other:model"):
        questions.retrieve(graph_name, "Who founded the Marrow Ferry?", 3, "s1")
    graph.close()
