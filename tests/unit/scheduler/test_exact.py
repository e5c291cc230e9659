"""Exact texts behind evidence numbers, over a graph that is a list of stored passages."""

import json

import fakeredis
import pytest

from pipeline.errors import GraphTimeout, GraphUnavailable, QueryInvalid
from pipeline.ids import content_hash
from pipeline.models import Evidence, ExactPassage, PassageStatus
from scheduler.query import Questions
from scheduler.sessions import EvidenceSessions

LONG = "".join(f"line {i:04} " for i in range(1_000))


def stored(name, text="", status=PassageStatus.CURRENT, **fields):
    place = {"source": "a.txt", "page": 1, "start": 100, "end": 100 + len(text), "heading": "A > B"}
    return ExactPassage(name, status, text, **{**place, "document": "d", "version": "v1", **fields})


class Graph:
    def __init__(self, *passages, failures=()):
        self.held = {passage.id: passage for passage in passages}
        self.failures = list(failures)

    def exact(self, ids):
        if self.failures:
            raise self.failures.pop(0)
        return [self.held.get(name, ExactPassage(name, PassageStatus.GONE)) for name in ids]

    def around(self, identity, reach):
        names = list(self.held)
        if identity not in names or self.held[identity].status != "current":
            return []
        middle = names.index(identity)
        return [self.held[name] for name in names[max(0, middle - reach) : middle + reach + 1]]


def passage(name, text=None, **fields):
    return Evidence("passage", name, text or f"text of {name}", 0.5, passage=name, **fields)


@pytest.fixture
def sessions():
    return EvidenceSessions(fakeredis.FakeRedis(decode_responses=True, version=(7, 4)), expiry_seconds=60)


@pytest.fixture
def questions_on(sessions):
    return lambda graph: Questions(lambda _: graph, None, sessions, None)


def test_a_number_fetches_the_stored_passage_with_its_place_version_and_hash(questions_on, sessions):
    sessions.number("s", [passage("a", "So it is.")], "retrieve", "g")
    reply = questions_on(Graph(stored("a", "So it is.", replaced_at=5))).fetch("g", "s", [1])
    assert reply["invalid"] == []
    assert reply["passages"] == [
        {"n": 1, "status": "current", "text": "So it is.", "shown": [0, 9], "chars": 9,
         "hash": content_hash("So it is."), "source": "a.txt", "page": 1, "start": 100, "end": 109, "heading": "A > B",
         "document": "d", "version": "v1", "replaced_at": 5}
    ]  # fmt: skip
    assert json.loads(json.dumps(reply)) == reply


def test_superseded_and_deleted_passages_are_told_apart(questions_on, sessions):
    sessions.number("s", [passage("a"), passage("b")], "retrieve", "g")
    old, gone = questions_on(Graph(stored("a", "old text", PassageStatus.SUPERSEDED))).fetch("g", "s", [1, 2])[
        "passages"
    ]
    assert (old["status"], old["text"]) == ("superseded", "old text")
    assert (gone["status"], gone["text"], gone["hash"], gone["shown"]) == ("gone", "", "", [0, 0])


def test_facts_relations_and_entities_fetch_the_passage_they_were_cited_with(questions_on, sessions):
    cited = [Evidence(kind, "x", "said", 0.5, passage="a") for kind in ("fact", "relation", "entity")]
    sessions.number("s", cited, "retrieve", "g")
    passages = questions_on(Graph(stored("a", "So it is."))).fetch("g", "s", [3, 1, 2, 1])["passages"]
    assert [(one["n"], one["text"]) for one in passages] == [(3, "So it is."), (1, "So it is."), (2, "So it is.")]


def test_numbers_that_lead_to_no_passage_of_the_graph_are_invalid(questions_on, sessions):
    sessions.number("s", [passage("a"), Evidence("row", "r", "n: 1", 0.0)], "retrieve", "g")
    sessions.number("s", [passage("a")], "retrieve", "another")
    sessions.number("t", [passage(str(i)) for i in range(9)], "retrieve", "g")
    reply = questions_on(Graph(stored("a", "So."))).fetch("g", "s", [9, 3, 2, 1, 0, -1])
    assert [one["n"] for one in reply["passages"]] == [1]
    assert reply["invalid"] == [-1, 0, 2, 3, 9]


@pytest.mark.parametrize(
    ("offset", "first"), [(0, 0), (900, 0), (5_000, 4_000), (9_990, 6_000), (90_000, 6_000), (-500, 0)]
)
def test_of_a_long_passage_what_was_cited_is_shown(questions_on, sessions, offset, first):
    sessions.number("s", [Evidence("fact", "f", "said", 0.5, start=100 + offset, passage="a")], "retrieve", "g")
    (shown,) = questions_on(Graph(stored("a", LONG))).fetch("g", "s", [1])["passages"]
    assert shown["shown"] == [first, first + 4_000]
    assert shown["text"] == LONG[first : first + 4_000]
    assert (shown["chars"], shown["hash"]) == (10_000, content_hash(LONG))


def test_more_than_twenty_numbers_at_once_are_refused(questions_on, sessions):
    sessions.number("s", [passage("a")], "retrieve", "g")
    asked = questions_on(Graph())
    assert asked.fetch("g", "s", [1] * 50)["passages"][0]["status"] == "gone"
    with pytest.raises(QueryInvalid, match="at most 20"):
        asked.fetch("g", "s", list(range(21)))
    with pytest.raises(QueryInvalid, match="unknown here or has expired"):
        asked.fetch("g", "nobody", [1])


def test_a_lost_connection_is_tried_once_more_but_not_what_took_too_long(questions_on, sessions):
    sessions.number("s", [passage("a")], "retrieve", "g")
    lost = Graph(stored("a", "So."), failures=[GraphUnavailable("lost")])
    assert questions_on(lost).fetch("g", "s", [1])["passages"][0]["text"] == "So."
    with pytest.raises(GraphTimeout):
        questions_on(Graph(failures=[GraphTimeout("slow")])).fetch("g", "s", [1])


def test_the_passages_around_one_are_shown_in_order_and_can_be_cited(questions_on, sessions):
    place = {"source": "a.txt", "start": 100, "end": 109, "document": "d", "version": "v1"}
    sessions.number("s", [passage("c", **place), passage("x")], "retrieve", "g")
    asked = questions_on(Graph(*(stored(name, f"text of {name}") for name in "abcde")))
    reply = asked.navigate("g", "s", 1, 1)
    assert reply["incomplete"] == []
    assert [(one["text"][-1], one["n"], one["here"]) for one in reply["passages"]] == [
        ("b", 3, False), ("c", 1, True), ("d", 4, False),
    ]  # fmt: skip
    assert asked.check("s", "So it is [3].")["sources"][0].items() >= {"tool": "navigate", "source": "a.txt"}.items()
    assert [one["text"] for one in asked.fetch("g", "s", [4])["passages"]] == ["text of d"]
    assert len(asked.navigate("g", "s", 4)["passages"]) == 4


def test_the_nearest_passages_are_shown_where_all_would_be_too_much(questions_on, sessions):
    sessions.number("s", [passage("c")], "retrieve", "g")
    asked = questions_on(Graph(*(stored(name, LONG + name) for name in "abcde")))
    reply = asked.navigate("g", "s", 1, 2)
    assert [one["here"] for one in reply["passages"]] == [False, True, False]
    assert sum(len(one["text"]) for one in reply["passages"]) == 12_000
    assert reply["incomplete"] == ["2 passages that are further away are left out."]
    assert sorted(sessions.items("s", range(1, 9))) == sorted({1, *(one["n"] for one in reply["passages"])})


def test_a_passage_that_is_not_current_has_nothing_around_it_and_that_is_said(questions_on, sessions):
    sessions.number("s", [passage("a")], "retrieve", "g")
    reply = questions_on(Graph(stored("a", "old", "superseded"))).navigate("g", "s", 1)
    assert reply["passages"] == []
    assert "is superseded" in reply["incomplete"][0]
    assert "is gone" in questions_on(Graph()).navigate("g", "s", 1)["incomplete"][0]


def test_around_a_passage_whose_document_was_renamed_is_what_stands_there_now(questions_on, sessions):
    class Renamed(Graph):
        def exact(self, ids):
            return super().exact(["new" if name == "old" else name for name in ids])

    sessions.number("s", [passage("old", "text of it")], "retrieve", "g")
    reply = questions_on(Renamed(stored("new", "text of it"), stored("next", "more"))).navigate("g", "s", 1)
    assert [(one["text"], one["here"]) for one in reply["passages"]] == [("text of it", True), ("more", False)]


def test_a_heading_with_more_passages_than_are_listed_is_announced(questions_on, sessions):
    sessions.number("s", [passage("7")], "retrieve", "g")
    graph = Graph(*(stored(str(i), f"text {i}") for i in range(50)))
    graph.around = lambda identity, reach: list(graph.held.values())
    reply = questions_on(graph).navigate("g", "s", 1)
    assert len(reply["passages"]) == 50
    assert "there may be more" in reply["incomplete"][0]


@pytest.mark.parametrize(
    ("number", "reach", "reason"),
    [
        (9, 2, r"\[9\] is no evidence of the session 's'"),
        (2, 2, r"\[2\] is a row"),
        (3, 2, r"\[3\] came from the graph 'another', not from 'g'"),
        (1, 0, "1 to 5"),
        (1, 6, "1 to 5"),
    ],
)
def test_a_number_without_a_place_and_a_reach_out_of_bounds_are_refused(questions_on, sessions, number, reach, reason):
    sessions.number("s", [passage("a"), Evidence("row", "r", "n: 1", 0.0)], "retrieve", "g")
    sessions.number("s", [passage("a")], "retrieve", "another")
    with pytest.raises(QueryInvalid, match=reason):
        questions_on(Graph(stored("a", "So."))).navigate("g", "s", number, reach)


def test_a_fact_that_was_found_again_elsewhere_leads_to_the_passage_that_was_shown(questions_on, sessions):
    graph = questions_on(Graph(stored("a", "private"), stored("b", "public")))
    for home in ("a", "b"):
        fact = Evidence("fact", "f", "Ann KNOWS Bob", 0.5, start=100, document=f"of {home}", passage=home)
        sessions.number("s", [fact], "retrieve", "g")
    assert [one["text"] for one in graph.fetch("g", "s", [2])["passages"]] == ["public"]
    assert [one["text"] for one in graph.fetch("g", "s", [1])["passages"]] == ["private"]


def test_a_fact_of_a_newer_version_leads_to_it_and_the_older_number_still_to_the_older(questions_on, sessions):
    graph = questions_on(
        Graph(stored("old", "then", PassageStatus.SUPERSEDED), stored("new", "now", version="v2")),
    )
    for home, version in (("old", "v1"), ("new", "v2")):
        fact = Evidence("fact", "f", "Ann KNOWS Bob", 0.5, document="d", version=version, passage=home)
        sessions.number("s", [fact], "retrieve", "g")
    found = graph.fetch("g", "s", [1, 2])["passages"]
    assert [(one["text"], one["version"], one["status"]) for one in found] == [
        ("then", "v1", "superseded"),
        ("now", "v2", "current"),
    ]
