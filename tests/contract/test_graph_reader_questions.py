from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from readable_graph import DIMENSION, EAST, NORTH, NORTHEAST, UP, Store, founded, id_of, make_document

from pipeline.adapters.falkor import connect
from pipeline.errors import QueryInvalid
from pipeline.models import Query, Rerank, Scope, SearchPath
from pipeline.ports import Vectors
from pipeline.retrieve import retrieve

NAMES = [("Ada Bell", "Person"), ("Quay House", "Organization")]
FIRST, SECOND, THIRD = "Ada Bell founded Quay House.", "We met Ada Bell.", "They saw Ada Bell."
HOSTILE = [
    *('"', "'", "\\", "`", "''; //", "a\x00b", "\x00", "{x: 1}", "$rows", "@name:(x)", "(((", "a|b", "-x", "~x", "%x%"),
    *(
        "*",
        "x*",
        "[1 2]",
        "=>[",
        "foo:bar",
        "user@example.com",
        "C:\\x\\",
        "Ada\\'s",
        "\ud800 Ada",
        "🙂 Ada",
        "東京",
        "é" * 300,
    ),
    *(
        "'}) DETACH DELETE n //",
        "x' RETURN 1 UNION MATCH (n) DELETE n //",
        "CYPHER a=1 MATCH (n) RETURN n",
        "MATCH (n)",
    ),
    *(
        "the",
        "who is it",
        "of the and a",
        "Ada " * 25_000,
        "x" * 100_000,
        "\n\r\t Ada \u2028",
        "NaN",
        "-1",
        "1e999",
        "%s%n",
    ),
    *("?" * 100_000 + " Ada", "every each all the", "\u202eAda", "Ada\x1fBell\x1fnext"),
]


class Compass:
    """Gives every text the same direction."""

    model_id, dimension = "test:compass", DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(EAST, (len(texts), 1))


@pytest.fixture(scope="module")
def store(graph_server) -> Iterator[Store]:
    graph = connect(graph_server.url, "reader-questions")
    store = Store(graph)
    store.write(
        make_document("north/notes.txt", FIRST, names=NAMES, relations=[founded("Ada Bell", "Quay House")]),
        make_document("south/notes.txt", SECOND, names=NAMES),
        make_document("west/notes.txt", THIRD, names=NAMES),
    )
    vectors = {"north/notes.txt": (FIRST, UP), "south/notes.txt": (SECOND, NORTHEAST), "west/notes.txt": (THIRD, NORTH)}
    store.embed("chunk", {id_of(path, text): vector for path, (text, vector) in vectors.items()})
    store.finish()
    yield store
    graph.close()


def ask(store: Store, question: str, **options: object) -> list[tuple[str, str]]:
    """Give kind and source of all evidence."""
    found = retrieve(Query(question, **options), store.reader, Compass())  # type: ignore[arg-type]
    return [(one.kind, one.source) for one in found.evidence]


@pytest.mark.parametrize("question", HOSTILE, ids=lambda question: repr(question[:20]))
def test_whatever_a_question_holds_is_searched_for_or_refused_as_wordless(store, question):
    before = store.graph.ro_query("MATCH (n) RETURN count(n)")
    has_word = any(char.isalnum() for char in question)
    for scope in (Scope(), Scope(documents=("south/notes.txt",))):
        try:
            found = retrieve(Query(question, expand_hops=2, scope=scope), store.reader, Compass())
        except QueryInvalid:
            assert not has_word
            continue
        assert has_word
        assert {one.source for one in found.evidence if one.kind == "passage"} >= {"south/notes.txt"}
        assert [note for note in found.incomplete if "cut" not in note] == []
    assert store.graph.ro_query("MATCH (n) RETURN count(n)") == before


def test_files_of_one_name_in_several_folders_are_told_apart(store):
    sources = {source for kind, source in ask(store, "Ada Bell") if kind == "passage"}
    assert sources == {"north/notes.txt", "south/notes.txt", "west/notes.txt"}


def test_passages_that_mention_an_entity_come_by_their_similarity_to_the_question(store):
    named = ask(store, "Who is Ada Bell?", paths=frozenset({SearchPath.EXACT_NAMES}), rerank=Rerank.COSINE)
    assert [source for kind, source in named if kind == "passage"] == [
        "south/notes.txt",
        *sorted(
            ("north/notes.txt", "west/notes.txt"), key=lambda path: id_of(path, FIRST if "north" in path else THIRD)
        ),
    ]


def test_a_scope_holds_for_every_kind_of_evidence(store):
    found = ask(store, "List all that Ada Bell founded", scope=Scope(documents=("south/notes.txt",)), expand_hops=3)
    assert {source for _, source in found} == {"south/notes.txt"}
    assert {kind for kind, _ in found} == {"passage", "entity"}
