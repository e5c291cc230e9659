"""Queries that the guard lets pass, on the real engine and where they may write: they change, open and tell nothing."""

import random
import socket
import time
from collections import Counter

import falkordb
import pytest
import redis

from pipeline.adapters.falkor import FalkorReader, connect
from pipeline.errors import GraphTimeout
from pipeline.retrieve.guard import bound_rows, check_cypher

LABELS, TYPES = ("Person", "Organization"), ("FOUNDED", "WORKS_FOR")
SECRET, HOST = "kept-back", "/srv/of-the-host"
SEEDS = [
    "MATCH ( p : Person ) -[ r : RELATES {rel_type : 'FOUNDED' } ]-> ( o ) RETURN p . name , o . name LIMIT 5",
    "MATCH ( p : Person ) WHERE NOT p . name CONTAINS 'x' WITH p , count ( * ) AS n RETURN p . name , n ORDER BY n",
    "UNWIND [ 'a' , 'b' ] AS x MATCH ( o : Organization ) RETURN x , [ y IN labels(o) | size(y) ] SKIP 0",
    "MATCH q = ( a : Person ) -[ : RELATES *1..2 ]- ( b : __Entity__ ) RETURN 1 , [ y IN nodes(q) | y . name ]",
    "OPTIONAL MATCH ( d : Document ) -[ : PART_OF ]-> ( c : Chunk ) RETURN CASE WHEN d IS NULL THEN 1 ELSE 2 END AS k",
]
NASTY = """
    CREATE (:Hacked) | MERGE (:Hacked) | SET p.name='hacked' | DETACH DELETE p | DELETE r | REMOVE p.name | FOREACH
    CALL db.labels() YIELD label | UNION | UNION ALL | ; | PROFILE | EXPLAIN | CYPHER x=1 | $x | WITH * | WITH 1 AS p
    MATCH (n) | MATCH (p) | , (n) | , (s:__Secret__) | (s:`__Secret__`) | (:__Secret__) | -- | --> | <-- | -[*]-> | (s)
    -[*1..2]- | -[:RELATES*]- | -[:HIDES]- | WHERE (n:__Secret__) | RETURN n | RETURN * | RETURN p | n | s | AS n
    /* | */ | // | ' | " | ` | \\ | \\' | \\" | \\u0027 | '' | 1. | .. | | { | } | ( | ) | [ | ] | \n | \t | \u2010
    \u2028
    NOT | - | + | CASE | LIMIT 1000 | LIMIT 5 + 5 | reduce(s='a', x IN [1] | s+s) | range(1,9) | p.embedding | {.*}
    CREATE | DROP INDEX ON :Person(name) | ON CREATE SET p.x=1 | IN | AND | = | : | , | . | 0 | null
    EXISTS { MATCH (n) } | : Person | AS x | x | WHERE | RETURN | toLower(p.name) | ORDER BY p.name
"""
WRAPPED = ("{}", "{}", "/* {} */", "// {}\n", "p.name = '{}' OR", "'{}' AS {}", "+ '{}'", "`{}`", '"{}"', ", p.`{}`")
PIECES = [piece.strip(" ") for line in NASTY.split("\n") for piece in line.split(" | ") if piece.strip(" ")]


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def engine_graph(graph_server, graph_name):
    """A graph with things of all kinds, by a client that may write."""
    db = falkordb.FalkorDB(
        host=graph_server.host, port=graph_server.port, password=graph_server.password, socket_timeout=20
    )
    graph = db.select_graph(graph_name)
    graph.query(
        "CREATE (p:__Entity__:Person {name: 'Ann'})-[:RELATES {rel_type: 'FOUNDED'}]->(o:__Entity__:Organization "
        f"{{name: 'Larkspur'}}), (:Document {{path: 'a.txt', root: '{HOST}'}})-[:PART_OF]->(c:Chunk {{text: 'Ann.'}}), "
        f"(p)-[:MENTIONED_IN]->(c), (s:__Secret__ {{name: '{SECRET}'}})-[:HIDES]->(p)"
    )
    yield graph
    graph.delete()
    db.connection.close()


def mutate(chance, address):
    """Put nasty pieces into a good query, or take some of it out."""
    words = chance.choice(SEEDS).split(" ")
    pieces = [*PIECES, f"LOAD CSV FROM '{address}' AS row", "LOAD CSV FROM 'file://x.csv' AS row", f"'{address}'"]
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        place = chance.randrange(len(words))
        match chance.randrange(4):
            case 0 | 1:
                piece = chance.choice(pieces)
                words.insert(place, chance.choice(WRAPPED).replace("{}", piece))
            case 2:
                words[place] = chance.choice(pieces)
            case _:
                other = chance.randrange(len(words))
                words[place], words[other] = words[other], words[place]
    return chance.choice((" ", " ", "\n", "/**/")).join(words)


def run(graph, cypher, limit_ms=2_000):
    """Run as it stands; what the engine says, and what became of it."""
    try:
        return str(graph.client.execute_command("GRAPH.QUERY", graph.name, cypher, "TIMEOUT", limit_ms)), "ran"
    except redis.exceptions.ResponseError as error:
        return str(error), "refused"


def dump(graph):
    told = "labels(n), properties(n), type(r), properties(r), properties(m)"
    return sorted(map(str, graph.query(f"MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN {told}").result_set))


def connections(listener):
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return 0
    return 1


def attack(graph, listener, queries):
    """Run all that passes; gives how many passed, ran, were refused by either."""
    address = f"https://127.0.0.1:{listener.getsockname()[1]}/x.csv"
    before, counts = dump(graph), Counter()
    for number in range(queries):
        cypher = mutate(random.Random(number), address)
        if check_cypher(cypher, LABELS, TYPES):
            counts["guarded"] += 1
            continue
        sent = bound_rows(cypher)
        began = time.monotonic()
        said, became = run(graph, sent)
        counts[became] += 1
        assert time.monotonic() - began < 10, sent
        assert became == "refused" or SECRET not in said, sent
        assert dump(graph) == before, sent
        assert not connections(listener), sent
    return counts


def test_hundreds_of_queries_that_pass_write_open_and_tell_nothing(engine_graph, listener):
    counts = attack(engine_graph, listener, 800)
    assert counts["ran"] > 40
    assert counts["guarded"] > 400


@pytest.mark.slow
def test_thousands_of_queries_that_pass_write_open_and_tell_nothing(engine_graph, listener):
    counts = attack(engine_graph, listener, 20_000)
    assert counts["ran"] > 1_000


def test_without_the_guard_the_engine_would_open_an_address_even_where_it_may_only_read(engine_graph, listener):
    address = f"https://127.0.0.1:{listener.getsockname()[1]}/x.csv"
    cypher = f"LOAD CSV FROM '{address}' AS row RETURN row"
    assert check_cypher(cypher, LABELS, TYPES)
    listener.setblocking(True)
    listener.settimeout(10)
    pool = engine_graph.client.connection.connection_pool
    asking = pool.get_connection()
    asking.send_command("GRAPH.RO_QUERY", engine_graph.name, cypher)
    listener.accept()[0].close()
    asking.disconnect()
    pool.release(asking)


@pytest.mark.parametrize(
    "end",
    [
        "RETURN d.`root`",
        "RETURN d['root']",
        "RETURN coalesce(d, 1)['root']",
        "UNWIND keys(d) AS k RETURN d[k]",
        "WITH {x: d} AS m RETURN m.x['root']",
        "RETURN [x IN collect(d) | x.root]",
    ],
)
def test_without_the_guard_the_engine_would_tell_properties_of_the_host(engine_graph, end):
    cypher = f"MATCH (d:Document) {end}"
    assert HOST in run(engine_graph, cypher)[0]
    assert check_cypher(cypher, LABELS, TYPES)


def test_without_the_guard_the_engine_would_tell_what_is_kept_back(engine_graph):
    for cypher in (
        "MATCH (p:Person) WITH count(p) AS n MATCH (p) RETURN p.name",
        "MATCH (p:Person)-[]-(s) RETURN s.name",
        "MATCH (p:Person), (s) RETURN s.name",
    ):
        assert SECRET in run(engine_graph, cypher)[0]
        assert check_cypher(cypher, LABELS, TYPES)


@pytest.mark.parametrize(
    "cypher",
    [
        "OPTIONAL MATCH (n:Person {name: 'Nobody'}) MATCH (n) RETURN n.name",
        "OPTIONAL MATCH (n:Person {name: 'Nobody'}) OPTIONAL MATCH (n) RETURN n.name",
        "WITH null AS n MATCH (n) RETURN n.name",
        "WITH 1 AS n MATCH (n) RETURN n.name",
        "UNWIND ['a'] AS n OPTIONAL MATCH (n) RETURN n.name",
        "MATCH (m:Person) WITH m AS n MATCH (n), (n) RETURN n.name",
        "MATCH (m:Person) WITH DISTINCT m, 1 AS z ORDER BY z LIMIT 1 WHERE z = 1 MATCH (m) RETURN m.name",
        "MATCH (m:Person)-[:RELATES]->(n), (n) RETURN n.name",
        "MATCH (n), (n:Person) RETURN n.name",
        "MATCH (m:Person) WITH * MATCH (m) RETURN *",
        "MATCH (m:Person) WITH m, m.name AS n MATCH (n) RETURN n",
        "MATCH (m:Person) WITH m.name AS n, m MATCH (m) WITH n MATCH (x:Person), (n) RETURN n",
        "MATCH (m:Person) WHERE exists((m)-[:RELATES]->(n)) OPTIONAL MATCH (n) RETURN n.name",
        "MATCH (m:Person {name: [(m)-[:RELATES]->(n) | n.name]}) MATCH (n) RETURN n.name",
        "MATCH (m:Person) RETURN [(m)-[:RELATES]-(n) | n.name], [(n)-[:RELATES]-(:Person) | n.name]",
        "MATCH (m:Person)<-[:RELATES|PART_OF|MENTIONED_IN|NEXT_CHUNK*1..5]-(n) RETURN n.name",
    ],
)
def test_no_name_that_is_used_again_brings_what_is_kept_back(engine_graph, cypher):
    assert check_cypher(cypher, LABELS, TYPES) or SECRET not in run(engine_graph, bound_rows(cypher))[0]


@pytest.mark.parametrize(
    "text",
    [
        f"WITH 1 AS x RETURN {'(' * 9}x{')' * 9}",
        f"WITH true AS x RETURN {'NOT ' * 9}x",
        f"WITH 1 AS x RETURN {', '.join(f'(((((((x))))))) AS a{n}' for n in range(25))}",
        f"WITH 1 AS x RETURN x{' IS NOT NULL' * 150}",
    ],
)
def test_the_deepest_query_that_passes_is_read_at_once(engine_graph, text):
    assert check_cypher(text, LABELS, TYPES) == ()
    began = time.monotonic()
    run(engine_graph, bound_rows(text))
    assert time.monotonic() - began < 3


def test_a_query_over_too_many_rows_is_ended_by_its_time_limit(engine_graph, graph_server):
    many = " ".join(f"UNWIND x AS {name}" for name in "abcdefghij")
    cypher = f"WITH [1,2,3,4,5,6,7,8] AS x {many} RETURN count(*)"
    assert check_cypher(cypher, LABELS, TYPES) == ()
    graph = connect(graph_server.url, engine_graph.name)
    with pytest.raises(GraphTimeout):
        FalkorReader(graph).run(bound_rows(cypher), 500)
    graph.close()


LIST = f"split('{'a,' * 800}b', ',')"
AT_ONCE = [
    f"WITH {LIST} AS l RETURN none(x IN l WHERE x = 'c' OR toLower(x) CONTAINS 'd')",
    f"WITH {LIST} AS l RETURN {' AND '.join(['none(x IN l WHERE toUpper(x) + x = 1)'] * 8)}",
    f"WITH {LIST} AS l UNWIND l AS x WITH collect(l) AS l RETURN none(x IN l WHERE x = 'c' OR size(x) = 1)",
    f"WITH {LIST} AS l {'WITH [l, l] AS l ' * 8} RETURN l = l",
]


def test_without_the_guard_lists_inside_lists_would_keep_the_engine_busy_past_its_time_limit(engine_graph):
    shorter = f"split('{'a,' * 120}b', ',')"
    cypher = f"WITH {shorter} AS l RETURN size([x IN l WHERE size([y IN l WHERE size([z IN l WHERE x <> z]) = 1]) = 1])"
    assert check_cypher(cypher, LABELS, TYPES)
    began = time.monotonic()
    run(engine_graph, cypher, 1)
    assert time.monotonic() - began > 0.05


@pytest.mark.parametrize("cypher", AT_ONCE)
def test_what_passes_goes_through_its_lists_at_once(engine_graph, cypher):
    assert check_cypher(cypher, LABELS, TYPES) == ()
    began = time.monotonic()
    said, became = run(engine_graph, bound_rows(cypher))
    assert became == "ran", said
    assert time.monotonic() - began < 3
