from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from readable_graph import EAST, Store, founded, id_of, make_document

from pipeline.adapters.falkor import FalkorReader, connect
from pipeline.errors import GraphMissing, GraphRejected, GraphTimeout, GraphUnavailable
from pipeline.models import WHOLE_GRAPH, Condition, Scope
from pipeline.ports import GraphReader

TEXT = "Ada Bell founded Quay House with a lamp."
SCOPES = (WHOLE_GRAPH, Scope(documents=("a.txt",), where=(Condition("path", "starts_with", "a"),)))


@pytest.fixture
def store(graph_server, graph_name) -> Iterator[Store]:
    graph = connect(graph_server.url, graph_name)
    store = Store(graph)
    names = [("Ada Bell", "Person"), ("Quay House", "Organization")]
    store.write(make_document("a.txt", TEXT, names=names, relations=[founded("Ada Bell", "Quay House")]))
    store.embed("chunk", {id_of("a.txt", TEXT): EAST})
    store.finish()
    yield store
    graph.close()


def ask_everything(reader: GraphReader) -> list[object]:
    """Call every method; those with a scope with and without one."""
    people = ["ada bell__person", "quay house__organization"]
    within = [
        answer
        for scope in SCOPES
        for answer in (
            reader.has_documents(scope),
            reader.nearest_passages(EAST, 5, scope),
            reader.match_passages(["lamp"], 5, scope),
            reader.nearest_facts(EAST, 5, scope),
            reader.nearest_entities(EAST, 5, scope),
            reader.match_entities(["ada"], 5, scope),
            reader.entities_named(["ada bell"], scope),
            reader.passages_naming(people, EAST, 5, scope),
            reader.linked_passages([id_of("a.txt", TEXT)], EAST, 5, scope),
            reader.relations_of(people, EAST, 5, scope),
            reader.siblings(people, 5, scope),
            reader.passages([id_of("a.txt", TEXT)], EAST, scope),
            reader.entities(people, EAST, scope),
        )
    ]
    exact = [reader.exact([id_of("a.txt", TEXT), "nothing"]), reader.around(id_of("a.txt", TEXT), 2)]
    return [*within, *exact, reader.vocabulary(), reader.run("RETURN 1", 1_000), reader.gaps(), reader.record()]


def test_no_method_uses_a_command_that_may_write(store, graph_server):
    asked = {name for name in vars(GraphReader) if not name.startswith("_")}
    called: set[str] = set()

    class Watched:
        def __getattr__(self, name: str) -> Any:
            called.add(name)
            return getattr(store.reader, name)

    with redis.Redis.from_url(graph_server.url) as client:
        client.config_resetstat()
        ask_everything(Watched())  # type: ignore[arg-type]
        used = {name.casefold() for name in client.info("commandstats")}
    assert called == asked
    assert "cmdstat_graph.ro_query" in used
    assert not {name for name in used if name.startswith("cmdstat_graph.")} - {"cmdstat_graph.ro_query"}


def test_every_method_says_that_a_graph_is_missing_or_a_server_does_not_answer(graph_server, graph_name):
    def raised_by(reader: GraphReader) -> set[type[Exception]]:
        kinds: set[type[Exception]] = set()

        class Watched:
            def __getattr__(self, name: str) -> Any:
                def call(*arguments: Any) -> None:
                    with pytest.raises((GraphMissing, GraphUnavailable)) as raised:
                        getattr(reader, name)(*arguments)
                    kinds.add(raised.type)

                return call

        ask_everything(Watched())  # type: ignore[arg-type]
        return kinds

    assert raised_by(FalkorReader(connect(graph_server.url, graph_name))) == {GraphMissing}
    assert raised_by(FalkorReader(connect("redis://127.0.0.1:1/0", "any"))) == {GraphUnavailable}


def test_a_query_gives_plain_values_without_vectors(store):
    columns, rows = store.reader.run(
        "MATCH p = (e:Person)-[r:RELATES]->() "
        "RETURN e.name AS name, e, r, p, [1.5, null, true] AS list, {a: e} AS map, 1",
        1_000,
    )
    assert columns == ["name", "e", "r", "p", "list", "map", "1"]
    ((name, entity, relation, path, values, mapping, one),) = rows
    assert (name, values, one) == ("Ada Bell", [1.5, None, True], 1)
    assert entity["id"] == "ada bell__person"
    assert relation["rel_type"] == "FOUNDED"
    assert [step.get("name") for step in path] == ["Ada Bell", "Quay House", None]
    assert mapping["a"] == entity
    _, chunks = store.reader.run("MATCH (c:Chunk) RETURN c", 1_000)
    assert chunks[0][0]["text"] == TEXT
    assert "embedding" not in chunks[0][0]


def test_what_json_has_no_word_for_becomes_text(store):
    _, (row,) = store.reader.run("RETURN 0.0 / 0.0, date('2020-01-02'), point({latitude: 1, longitude: 2})", 1_000)
    assert row == ["nan", "2020-01-02", {"latitude": 1.0, "longitude": 2.0}]


def test_a_query_that_takes_too_long_is_ended_and_says_so(store):
    with pytest.raises(GraphTimeout, match="longer"):
        store.reader.run("UNWIND range(1, 100000) AS i UNWIND range(1, 10000) AS j RETURN count(i + j)", 50)
    assert store.reader.run("RETURN 1 AS one", 1_000) == (["one"], [[1]])


@pytest.mark.parametrize("cypher", ["CREATE (:Chunk)", "MATCH (n) SET n.x = 1", "MATCH (n) DELETE n", "nonsense", ""])
def test_what_writes_or_is_no_query_is_refused(store, cypher):
    before = store.graph.ro_query("MATCH (n) RETURN count(n)")
    with pytest.raises(GraphRejected):
        store.reader.run(cypher, 1_000)
    assert store.graph.ro_query("MATCH (n) RETURN count(n)") == before


def test_the_vocabulary_is_that_of_entities(store):
    labels, types = store.reader.vocabulary()
    assert {"Person", "Organization"} <= set(labels)
    assert not {"Chunk", "Document", "__Entity__", "__Pending__"} & set(labels)
    assert types == ["FOUNDED"]


def test_the_vocabulary_is_read_again_after_a_minute_only(store, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr("pipeline.adapters.falkor.run_cypher.time", SimpleNamespace(monotonic=lambda: now[0]))
    before = store.reader.vocabulary()
    store.graph.query("MATCH (e:__Entity__) WITH e LIMIT 1 SET e:Pirate CREATE (e)-[:RELATES {rel_type: 'SANK'}]->(e)")
    now[0] += 59
    assert store.reader.vocabulary() == before
    now[0] += 1
    labels, types = store.reader.vocabulary()
    assert "Pirate" in labels
    assert types == ["FOUNDED", "SANK"]
