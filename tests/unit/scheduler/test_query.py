"""The query worker's jobs, over a graph that is a list of passages."""

import json

import fakeredis
import numpy as np
import pytest

from pipeline.cite import cited_numbers
from pipeline.errors import GraphMissing, GraphTimeout, GraphUnavailable, QueryInvalid
from pipeline.models import Evidence, FoundFact, FoundRelation, WordMatches
from scheduler.query import MAX_DRAFT_CHARS, Questions
from scheduler.sessions import CAPACITY, EvidenceSessions

FERRY = "The Marrow Ferry was founded by Odile Brandt in 1904."


class Embedder:
    model_id, dimension = "flat", 4

    def embed(self, texts):
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


class Graph:
    """Finds all of its passages, a fact, a relation and an entity for every question."""

    def __init__(self, *texts, failures=()):
        self.texts = dict(enumerate(texts))
        self.failures = list(failures)
        self.asked = 0

    def gaps(self):
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return []

    def record(self):
        return None

    def has_documents(self, scope):
        return True

    def nearest_passages(self, vector, k, scope):
        return [f"p{i}" for i in self.texts][:k]

    def match_passages(self, words, k, scope):
        return WordMatches(0, {}, ())

    def nearest_facts(self, vector, k, scope):
        return [FoundFact(self._item("fact", "f", FERRY), ("p0",))] if self.texts else []

    def nearest_entities(self, vector, k, scope):
        return ["e"] if self.texts else []

    def match_entities(self, words, k, scope):
        return []

    def entities_named(self, keys, scope):
        return {}

    def passages_naming(self, entity_ids, vector, k, scope):
        return []

    def linked_passages(self, passage_ids, vector, k, scope):
        return []

    def relations_of(self, entity_ids, vector, k, scope):
        related = FoundRelation(self._item("relation", "r", "Odile Brandt FOUNDED Marrow Ferry"), "e", "o")
        return [related] if "e" in entity_ids else []

    def siblings(self, entity_ids, k, scope):
        return []

    def passages(self, ids, vector, scope):
        return [self._item("passage", name, self.texts[int(name[1:])]) for name in ids]

    def entities(self, ids, vector, scope):
        return [self._item("entity", name, "Odile Brandt (Person)") for name in ids]

    def _item(self, kind, name, text):
        passage = name if kind == "passage" else "p0"
        return Evidence(kind, name, text, 0.5, "ferry.txt", 2, 10, 10 + len(text), document="d", passage=passage)


@pytest.fixture
def sessions():
    return EvidenceSessions(fakeredis.FakeRedis(decode_responses=True, version=(7, 4)), expiry_seconds=60)


@pytest.fixture
def questions_on(sessions):
    def build(graph, rows_of=None):
        return Questions(lambda _: graph, Embedder(), sessions, rows_of)

    return build


def ask(questions, session="s", max_chars=8_000, **query):
    return questions.retrieve("g", session, {"question": "Who founded the ferry?", **query}, max_chars)


def test_evidence_is_numbered_and_told_with_its_place_in_plain_values(questions_on):
    found = ask(questions_on(Graph(FERRY, "It sails twice a day.")))
    assert json.loads(json.dumps(found)) == found
    assert [item["n"] for item in found["evidence"]] == list(range(1, len(found["evidence"]) + 1))
    assert {item["kind"] for item in found["evidence"]} == {"passage", "fact", "relation", "entity"}
    assert found["evidence"][0].items() >= {
        "n": 1, "text": FERRY, "source": "ferry.txt", "page": 2, "start": 10, "document": "d", "hop": 0,
    }.items()  # fmt: skip
    assert f"[1] [Source: ferry.txt, page 2, chars 10-{10 + len(FERRY)}]\n{FERRY}" in found["text"]
    assert found["answer"] == []
    assert found["cypher"] == ""


def test_sentences_are_picked_only_where_they_are_asked_for(questions_on):
    questions = questions_on(Graph(FERRY))
    assert ask(questions, sentences=True)["answer"] == [{"sentence": FERRY, "n": 1}]


def test_the_text_is_as_long_as_asked(questions_on):
    questions = questions_on(Graph(*["word " * 300] * 15))
    assert 7_000 < len(ask(questions)["text"]) <= 8_000
    assert len(ask(questions, max_chars=500)["text"]) <= 500
    for max_chars in (0, 199, 40_001):
        with pytest.raises(QueryInvalid, match=f"not {max_chars}"):
            ask(questions, max_chars=max_chars)


def test_what_found_no_room_in_the_text_is_no_number_of_it(questions_on):
    found = ask(questions_on(Graph(*[f"{i} " + "word " * 300 for i in range(15)])), max_chars=3_000)
    assert set(found["told"]) == set(cited_numbers(found["text"]))
    assert set(found["told"]) < {item["n"] for item in found["evidence"]}


def test_numbers_are_unique_over_the_calls_of_a_session(questions_on):
    first = ask(questions_on(Graph("One is here.")))["evidence"]
    second = ask(questions_on(Graph("Another is here.")))["evidence"]
    numbers = {(item["kind"], item["text"]): item["n"] for item in (*first, *second)}
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))


def test_evidence_cut_from_a_reply_cannot_be_cited(questions_on, sessions):
    questions = questions_on(Graph(*[f"{i} " + "word " * 700 for i in range(15)]))
    found = ask(questions)
    given = [item["n"] for item in found["evidence"]]
    assert len([item for item in found["evidence"] if item["kind"] == "passage"]) < 15
    assert "of the passages" in found["incomplete"][-1]
    assert len(json.dumps(found["evidence"])) <= 40_000
    assert sorted(sessions.items("s", range(1, 100))) == sorted(given)
    assert questions.check("s", f"So it is [{max(given) + 1}].")["invalid"] == [max(given) + 1]


def test_a_passage_shown_in_part_is_checked_on_its_full_text(questions_on):
    questions = questions_on(Graph("word " * 400 + "In 1904 it was sold."))
    assert "1904" not in ask(questions, paths=["passages"])["text"]
    assert questions.check("s", "It was sold in 1904 [1].")["unsupported"] == []


def test_sources_of_a_check_say_what_each_number_is_and_where_it_stands(questions_on):
    questions = questions_on(Graph(FERRY))
    ask(questions)
    verdict = questions.check("s", "Odile Brandt founded it in 1905 [1]. It has 9 boats [77].")
    assert verdict == {
        "grounded": False,
        "answer": "Odile Brandt founded it in 1905 [1]. It has 9 boats.",
        "cited": [1],
        "invalid": [77],
        "uncited": ["It has 9 boats."],
        "unsupported": [{"sentence": "Odile Brandt founded it in 1905 [1].", "missing": ["1905"]}],
        "sources": [
            {"n": 1, "tool": "retrieve", "kind": "passage", "text": FERRY, "source": "ferry.txt", "page": 2,
             "start": 10, "end": 10 + len(FERRY)}
        ],
    }  # fmt: skip
    assert json.loads(json.dumps(verdict)) == verdict


def test_many_long_sources_are_shown_in_part_and_checked_in_full(questions_on, sessions):
    texts = [f"{i} " + "word " * 1_000 + "end 1904" for i in range(100)]
    sessions.number("s", [Evidence("passage", text[:3], text, 0.5) for text in texts], "retrieve", "g")
    verdict = questions_on(Graph()).check("s", "It ended in 1904 [1-100].")
    assert verdict["unsupported"] == []
    assert [len(source["text"]) for source in verdict["sources"]] == [400] * 100


def test_a_number_of_another_session_is_invalid(questions_on):
    questions = questions_on(Graph(FERRY))
    ask(questions, session="one")
    ask(questions_on(Graph()), session="two")
    assert questions.check("two", "It was founded in 1904 [1].")["invalid"] == [1]


def test_a_source_path_is_no_evidence(questions_on):
    questions = questions_on(Graph("It sails twice a day."))
    ask(questions, paths=["passages"])
    assert questions.check("s", "The Ferry sails [1].")["unsupported"] == [
        {"sentence": "The Ferry sails [1].", "missing": ["Ferry"]}
    ]


@pytest.mark.parametrize("error", [GraphMissing, GraphUnavailable, GraphTimeout])
def test_a_store_that_fails_is_never_nothing_found(questions_on, error):
    with pytest.raises(error):
        ask(questions_on(Graph(FERRY, failures=[error("no")] * 5)))


def test_a_lost_connection_is_tried_once_more_but_not_what_took_too_long(questions_on):
    lost = Graph(FERRY, failures=[GraphUnavailable("lost")])
    assert ask(questions_on(lost))["evidence"]
    slow = Graph(FERRY, failures=[GraphTimeout("slow")])
    with pytest.raises(GraphTimeout):
        ask(questions_on(slow))
    assert slow.asked == 1


def test_rows_of_a_generated_query_are_evidence_too(questions_on):
    def rows_of(question, reader):
        return [Evidence("row", "r0", "boats: 40", 0.0)], "MATCH (n) RETURN n", [f"{len(reader.texts)}: {question}"]

    questions = questions_on(Graph(FERRY), rows_of)
    found = ask(questions, paths=["passages", "cypher"])
    assert [item["kind"] for item in found["evidence"]] == ["passage", "row"]
    assert found["cypher"] == "MATCH (n) RETURN n"
    assert found["incomplete"] == ["1: Who founded the ferry?"]
    assert "Rows:\n[2] boats: 40\n" in found["text"]
    assert ask(questions, paths=["passages"])["cypher"] == ""


@pytest.mark.parametrize(
    ("query", "session", "reason"),
    [({"question": "x", "k": 3}, "s", "k: "), ({}, "s", "question: "), ({"question": "x"}, "no session", "session id")],
)
def test_a_question_out_of_bounds_is_refused_with_what_is_wrong(questions_on, query, session, reason):
    with pytest.raises(QueryInvalid, match=reason):
        questions_on(Graph(FERRY)).retrieve("g", session, query)


def test_a_draft_too_long_to_check_is_refused(questions_on):
    with pytest.raises(QueryInvalid, match=str(MAX_DRAFT_CHARS)):
        questions_on(Graph(FERRY)).check("s", "a" * (MAX_DRAFT_CHARS + 1))


@pytest.mark.parametrize(
    "draft",
    [
        "".join(f"[{start}-{start + 99}]" for start in range(1, CAPACITY + 100, 100)),
        "".join(f"[1-{end}]" for end in range(5_000, 5_000 + CAPACITY)),
    ],
)
def test_a_draft_with_more_numbers_than_a_session_remembers_is_refused(questions_on, draft):
    questions = questions_on(Graph(FERRY))
    ask(questions)
    with pytest.raises(QueryInvalid, match="cite fewer"):
        questions.check("s", draft)
    assert questions.check("s", f"[1-100][{CAPACITY}]" * 100)["cited"]
