"""The one way to a graph: addresses, parameters of any content, and errors by who must act."""

import importlib
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.adapters.falkor import FalkorGraph, connect
from pipeline.errors import GraphMissing, GraphRejected, GraphTimeout, GraphUnavailable

HOSTILE = [
    'it\'s "quoted" and `ticked`',
    "back\\slash, \\n, \\u0041, trailing \\",
    "tab\tnewline\nreturn\r",
    "controls \x01\x08\x0c\x1b\x1f\x7f",
    "é e\u0301 ß İ 漢字 \u2028 \ufeff \U0001f600",
    "$rows {a: 1} // comment /* more */ CYPHER a=1 RETURN 1; %s",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_it_went(graph: FalkorGraph, text: str) -> None:
    assert graph.query("UNWIND $rows AS r RETURN r[0], $other", [[text]], other=text) == [[text, text]]


# The one graph serves all examples: nothing is stored.
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_went(graph: FalkorGraph, text: str) -> None:
    assert graph.query("RETURN $text", text=text) == [[text]]


def test_a_megabyte_of_text_is_stored_whole(graph: FalkorGraph) -> None:
    text = 'Zeile \\ "é" 😀\n' * 70_000
    graph.query("CREATE (:Long {text: $text})", text=text)
    assert graph.ro_query("MATCH (n:Long) RETURN n.text") == [[text]]


def test_nul_is_left_out_as_it_would_end_the_query(graph: FalkorGraph) -> None:
    assert graph.query("RETURN $text", text="a\0b") == [["ab"]]


def test_lists_numbers_and_null_are_spelled(graph: FalkorGraph) -> None:
    value: list[Any] = [1, -2.5e-7, None, True, [], ["a", [1]]]
    assert graph.query("RETURN $value", value=value) == [[value]]


@pytest.mark.parametrize("value", [{"a": 1}, "\ud800", object()])
def test_what_the_engine_cannot_take_is_rejected(graph: FalkorGraph, value: object) -> None:
    with pytest.raises(GraphRejected):
        graph.query("UNWIND $value AS v CREATE (:N {v: v})", value=[value])


def test_a_query_that_the_server_refuses_is_rejected(graph: FalkorGraph) -> None:
    with pytest.raises(GraphRejected):
        graph.query("RETURN LOADING OOM BUSY")


def test_a_missing_graph_is_not_an_empty_one(graph: FalkorGraph) -> None:
    with pytest.raises(GraphMissing):
        graph.ro_query("MATCH (n) RETURN n")


def test_a_read_only_query_cannot_write(graph: FalkorGraph) -> None:
    graph.query("CREATE (:N)")
    with pytest.raises(GraphRejected):
        graph.ro_query("CREATE (:N)")


def test_a_wrong_password_is_told_as_such(graph_server: Any, graph_name: str) -> None:
    with pytest.raises(GraphUnavailable, match="password"):
        connect(f"redis://:wrong@{graph_server.host}:{graph_server.port}", graph_name).ro_query("RETURN 1")


def test_a_server_without_the_module_is_told_as_such(redis_server: Any, graph_name: str) -> None:
    with pytest.raises(GraphRejected, match="no FalkorDB module"):
        connect(redis_server.url, graph_name).query("RETURN 1")


def test_a_stopped_server_is_unavailable(
    engine: Any, tmp_path: Path, graph_name: str, start_server: Callable[..., Any], stop_server: Callable[..., None]
) -> None:
    server, process = start_server(engine.server, tmp_path, "--loadmodule", str(engine.module))
    graph = connect(server.url, graph_name)
    assert graph.query("RETURN 1") == [[1]]
    stop_server(process)
    with pytest.raises(GraphUnavailable):
        graph.query("RETURN 1")
    graph.close()


def test_a_read_over_its_own_time_is_ended_by_the_server_and_told_as_such(
    graph: FalkorGraph, graph_server: Any
) -> None:
    graph.query("CREATE (:N)")
    reader = connect(graph_server.url, graph.name, timeout=30, read_timeout=0.05)
    with pytest.raises(GraphTimeout):
        reader.ro_query("UNWIND range(1, 9000) AS i UNWIND range(1, 9000) AS j RETURN count(i + j)")
    assert reader.ro_query("MATCH (n) RETURN count(n)") == [[1]]
    reader.close()


def test_a_query_over_time_is_rolled_back_and_means_unavailable(
    engine: Any, tmp_path: Path, graph_name: str, start_server: Callable[..., Any], stop_server: Callable[..., None]
) -> None:
    module = ["--loadmodule", str(engine.module), "TIMEOUT_DEFAULT", "20", "TIMEOUT_MAX", "20"]
    server, process = start_server(engine.server, tmp_path, *module)
    graph = connect(server.url, graph_name)
    with pytest.raises(GraphUnavailable, match="timed out"):
        graph.query("UNWIND range(1, 20000000) AS i CREATE (:N {i: i})")
    assert graph.query("MATCH (n) RETURN count(n)") == [[0]]
    graph.close()
    stop_server(process)


@pytest.mark.parametrize(
    "refusal",
    [
        redis.exceptions.BusyLoadingError("Redis is loading the dataset in memory"),
        redis.exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."),
        redis.exceptions.ResponseError("Max pending queries exceeded"),
        redis.exceptions.ResponseError("Query timed out"),
        redis.exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"),
        redis.exceptions.ReadOnlyError("You can't write against a read only replica."),
        redis.exceptions.TimeoutError("Timeout reading from socket"),
    ],
)
def test_refusals_that_end_by_themselves_are_unavailable(
    graph: FalkorGraph, refusal: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise refusal

    falkordb = importlib.import_module("falkordb")
    monkeypatch.setattr(falkordb.Graph, "query", refuse)
    with pytest.raises(GraphUnavailable):
        graph.query("RETURN 1")


def test_a_forked_process_does_not_share_the_connection(graph: FalkorGraph) -> None:
    own = graph.query("CALL dbms.procedures() YIELD name RETURN count(name)")
    child = os.fork()
    if child == 0:
        good = all(graph.query("RETURN $i", i=i) == [[i]] for i in range(50))
        os._exit(0 if good else 1)
    assert all(graph.query("RETURN $i", i=-i) == [[-i]] for i in range(50))
    _, status = os.waitpid(child, 0)
    assert status == signal.SIG_DFL
    assert own


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://h", {"host": "h", "port": 6379, "ssl": False}),
        ("falkor://u:p%40ss@h:7000/0", {"username": "u", "password": "p@ss", "host": "h", "port": 7000}),
        ("rediss://h?ssl_ca_certs=/ca.pem", {"ssl": True, "ssl_ca_certs": "/ca.pem"}),
        ("redis://[::1]:7000", {"host": "::1", "port": 7000}),
        ("unix://:secret@/run/graph%20one.sock", {"unix_socket_path": "/run/graph one.sock", "password": "secret"}),
    ],
)
def test_addresses_are_read(url: str, address: dict[str, Any]) -> None:
    given_address = connect(url, "g")._address
    assert {name: given_address[name] for name in address} == address


@pytest.mark.parametrize(
    "url", ["http://h", "h:6379", "redis://h/3", "redis://h?timeout=5", "redis://h?ssl_ca_certs=/x"]
)
def test_addresses_that_mean_something_else_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"address|database"):
        connect(url, "g")


def test_waiting_for_the_disk_ends_with_and_without_an_append_only_file(
    engine: Any, tmp_path: Path, graph: FalkorGraph, start_server: Callable[..., Any], stop_server: Callable[..., None]
) -> None:
    graph.wait_for_disk()
    server, process = start_server(
        engine.server, tmp_path, "--loadmodule", str(engine.module), "--appendonly", "yes", "--appendfsync", "everysec"
    )
    durable = connect(server.url, graph.name)
    durable.query("CREATE (:N)")
    durable.wait_for_disk()
    process.kill()
    stop_server(process)
    durable.close()

    server, process = start_server(engine.server, tmp_path, "--loadmodule", str(engine.module), "--appendonly", "yes")
    restarted = connect(server.url, graph.name)
    assert restarted.ro_query("MATCH (n) RETURN count(n)") == [[1]]
    restarted.close()
    stop_server(process)


def test_threads_that_use_a_new_client_at_once_share_one(graph_server: Any, graph_name: str) -> None:
    for _ in range(25):
        graph = connect(graph_server.url, graph_name)
        with ThreadPoolExecutor(max_workers=4) as threads:
            waiting = [threads.submit(graph.wait_for_disk) for _ in range(2)]
            asking = [threads.submit(graph.query, "RETURN 1") for _ in range(2)]
        assert [one.result() for one in asking] == [[[1]], [[1]]]
        assert [one.result() for one in waiting] == [None, None]
        graph.close()
