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
from pipeline.models import WHOLE_GRAPH, Chunk, Document, Extraction, GraphRecord, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.retrieve import read_question
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

    yield Questions(reader_of, embedder, EvidenceSessions(redis_client, expiry_seconds=60), None)
    for graph in graphs.values():
        graph.close()


def ask(questions: Questions, graph: str, question: str, passages: int, session: str = "s1", **options) -> dict:
    return questions.retrieve(graph, session, {"question": question, "passages": passages, **options})


def sources(evidence: Sequence[dict], kind: str) -> list[str]:
    return [item["source"] for item in evidence if item["kind"] == kind]


def test_a_question_gets_numbered_evidence_of_all_kinds_and_an_answer(questions, world):
    found = ask(questions, world.name, "Who founded the Marrow Ferry?", 3, sentences=True)
    evidence = found["evidence"]
    assert [item["n"] for item in evidence] == list(range(1, len(evidence) + 1))
    assert {item["kind"] for item in evidence} >= {"passage", "fact", "entity"}
    assert len(sources(evidence, "passage")) == 3
    assert sources(evidence, "passage")[0] == "ferry.txt"
    assert found["incomplete"] == []
    assert found["answer"][0] == {"sentence": "It was founded by Odile Brandt in 1904.", "n": 1}
    (fact,) = [item for item in evidence if item["kind"] == "fact"]
    assert WORLD["ferry.txt"][fact["start"] : fact["end"]] == "It was founded by Odile Brandt in 1904."
    assert json.loads(json.dumps(found)) == found


def test_offsets_of_every_evidence_point_into_its_source(questions, world):
    found = ask(questions, world.name, "Who founded the Marrow Ferry?", 6)
    for item in found["evidence"]:
        said = WORLD[item["source"]][item["start"] : item["end"]]
        assert said == item["text"] if item["kind"] == "passage" else said in item["text"]


def test_a_link_brings_the_passage_that_the_question_does_not_name(questions, world):
    question = "Where does the founder of the Marrow Ferry come from?"
    passages = {item["source"]: item for item in ask(questions, world.name, question, 3)["evidence"][:3]}
    assert {"links", "exact_names"} & set(passages["odile.txt"]["paths"]) == {"links"}


def test_k_bounds_the_passages(questions, world):
    assert len(sources(ask(questions, world.name, "What is sold?", 1)["evidence"], "passage")) == 1
    for k in (0, -1, 101):
        with pytest.raises(QueryInvalid, match="1 to 100 passages"):
            ask(questions, world.name, "What is sold?", k)


def test_the_same_question_twice_gives_the_same_evidence_and_numbers(questions, world):
    first = ask(questions, world.name, "Who founded the Marrow Ferry?", 5)
    assert ask(questions, world.name, "Who founded the Marrow Ferry?", 5) == first


def test_sentences_of_the_answer_pass_the_citation_check(questions, world):
    found = ask(questions, world.name, "Who founded the Marrow Ferry?", 3, sentences=True)
    draft = " ".join(f"{one['sentence'].rstrip('.')} [{one['n']}]." for one in found["answer"])
    verdict = questions.check("s1", draft)
    assert verdict["grounded"]
    assert verdict["unsupported"] == []
    assert verdict["sources"][0]["text"] == WORLD["ferry.txt"]


def test_a_false_name_a_made_up_number_and_another_session_are_found_out(questions, world):
    ask(questions, world.name, "Who founded the Marrow Ferry?", 3)
    verdict = questions.check("s1", "The Marrow Ferry was founded by Rosa Quill [1]. It has nine boats [99].")
    assert verdict["invalid"] == [99]
    assert not verdict["grounded"]
    assert "[99]" not in verdict["answer"]
    assert verdict["unsupported"][0]["missing"] == ["Rosa Quill"]
    ask(questions, world.name, "Who sells bread?", 1, session="s2")
    assert questions.check("s2", "The Marrow Ferry was founded in 1904 [99].")["invalid"] == [99]
    with pytest.raises(QueryInvalid, match="session 's3' is unknown"):
        questions.check("s3", "The Marrow Ferry was founded in 1904.")


def test_a_draft_that_is_too_long_is_refused(questions):
    with pytest.raises(QueryInvalid, match=str(MAX_DRAFT_CHARS)):
        questions.check("s1", "a" * (MAX_DRAFT_CHARS + 1))


@pytest.mark.parametrize("question", NASTY, ids=lambda question: repr(question[:20]))
def test_any_text_is_answered_or_refused_with_a_reason_and_changes_nothing(questions, world, question):
    before = world.ro_query("MATCH (n) RETURN count(n)")
    try:
        found = ask(questions, world.name, question, 3)
    except QueryInvalid as refusal:
        reason = str(refusal)
    else:
        reason = "none needed"
        assert len(sources(found["evidence"], "passage")) == 3
        assert [note[:20] for note in found["incomplete"]] == ["The question was cut"] * (len(question) > 4_000)
    assert reason
    assert world.ro_query("MATCH (n) RETURN count(n)") == before


@pytest.mark.parametrize(
    "wrapped", ["(ferry", "-ferry", "ferry*", '"ferry', "ferry|", "@text:ferry", "~ferry", "ferry:"]
)
def test_operators_mean_nothing(world, wrapped):
    asked = [read_question(f"When was it founded, the {said}?") for said in ("ferry", wrapped)]
    plain, odd = (FalkorReader(world).match_passages(one.words, 10, WHOLE_GRAPH).found for one in asked)
    assert {match.id for match in plain} == {match.id for match in odd}
    assert any(match.text == WORLD["ferry.txt"] for match in plain)


def test_every_number_leads_to_the_stored_passage_and_what_is_around_it(questions, world):
    found = ask(questions, world.name, "Who founded the Marrow Ferry?", 3)
    numbers = [item["n"] for item in found["evidence"]]
    fetched = questions.fetch(world.name, "s1", numbers[:20])
    assert fetched["invalid"] == []
    assert [item["n"] for item in fetched["passages"]] == numbers[:20]
    for item, passage in zip(found["evidence"], fetched["passages"], strict=False):
        assert (passage["status"], passage["text"]) == ("current", WORLD[item["source"]])
        assert passage["version"] == item["version"] == content_hash(WORLD[item["source"]])
    (alone,) = questions.navigate(world.name, "s1", numbers[0])["passages"]
    assert (alone["n"], alone["here"], alone["text"]) == (numbers[0], True, WORLD["ferry.txt"])
    assert f"[{numbers[0]}] [Source: ferry.txt, chars 0-{len(WORLD['ferry.txt'])}]" in found["text"]


def test_a_missing_graph_is_an_error_and_is_not_made(questions, graph_name, graph_server):
    with pytest.raises(GraphMissing, match=graph_name):
        ask(questions, graph_name, "Who founded the Marrow Ferry?", 3)
    with redis.Redis.from_url(graph_server.url) as client:
        assert not client.exists(graph_name)


def test_an_unreachable_server_is_an_error(embedder, redis_client):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        graph = connect(f"redis://127.0.0.1:{taken.getsockname()[1]}/0", "any")
        asked = Questions(
            lambda _: FalkorReader(graph), embedder, EvidenceSessions(redis_client, expiry_seconds=60), None
        )
        with pytest.raises(GraphUnavailable):
            ask(asked, "any", "Who founded the Marrow Ferry?", 3)


def test_a_graph_that_was_not_finalized_says_so(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    fill(graph, embedder, {"ferry.txt": WORLD["ferry.txt"]}, finalize=False)
    found = ask(questions, graph_name, "Who founded the Marrow Ferry?", 3)
    # The name still leads to its passage; what the missing indexes would have found is announced.
    assert sources(found["evidence"], "passage") == ["ferry.txt"]
    assert any("missing" in gap for gap in found["incomplete"])
    assert any("not finalized" in gap for gap in found["incomplete"])
    graph.close()


def test_new_documents_are_announced_until_they_are_finalized(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    fill(graph, embedder, {"ferry.txt": WORLD["ferry.txt"]})
    assert ask(questions, graph_name, "Who sells bread?", 3)["incomplete"] == []
    fill(graph, embedder, {"bakery.txt": WORLD["bakery.txt"]}, finalize=False)
    found = ask(questions, graph_name, "Who sells bread?", 3)
    assert found["incomplete"] == ["1 elements are not finalized yet: some have no vector, or are not merged."]
    assert "bakery.txt" in sources(found["evidence"], "passage")
    graph.close()


def test_a_graph_of_another_embedder_is_refused(questions, graph_name, graph_server, embedder):
    graph = connect(graph_server.url, graph_name)
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    FalkorCurator(graph).record_embedder(GraphRecord("other:model", 384, "store"))
    with pytest.raises(EmbedderMismatch, match="other:model"):
        ask(questions, graph_name, "Who founded the Marrow Ferry?", 3)
    graph.close()
