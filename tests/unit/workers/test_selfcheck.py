"""The start-up check of the servers, on real ones whose settings are turned."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from workers.selfcheck import Finding, Level, check_broker, check_graph, check_servers


@pytest.fixture(params=[True, False], ids=["decoded", "bytes"])
def broker(request, redis_server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_server.url, decode_responses=request.param) as client:
        yield client


@pytest.fixture
def graph(graph_server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(graph_server.url, decode_responses=True) as client:
        yield client


@contextmanager
def turned(client: redis.Redis, name: str, value: str) -> Iterator[None]:
    before = {str(k if isinstance(k, str) else k.decode()): v for k, v in client.config_get(name).items()}[name]
    client.config_set(name, value)
    yield
    client.config_set(name, before)


@contextmanager
def restricted(client: redis.Redis, url: str, *forbidden: str) -> Iterator[redis.Redis]:
    """As a managed service gives it: a user that may not do some things."""
    client.execute_command("ACL", "SETUSER", "tenant", "on", ">pw", "~*", "+@all", *(f"-{name}" for name in forbidden))
    host, port = url.rsplit("@", 1)[1].split("/", maxsplit=1)[0].split(":")
    with redis.Redis(host=host, port=int(port), username="tenant", password="pw") as tenant:
        yield tenant
    client.execute_command("ACL", "DELUSER", "tenant")


def about(findings: list[Finding], words: str) -> Finding:
    return next(finding for finding in findings if words in finding.what)


def test_a_healthy_pair_has_no_errors_and_says_what_is_fine(broker, graph) -> None:
    findings = check_servers(broker, graph)
    assert Level.ERROR not in {finding.level for finding in findings}
    assert about(findings, "nothing is evicted").level is Level.OK
    assert about(findings, "FalkorDB 4.").level is Level.OK
    assert about(findings, "clocks agree").level is Level.OK
    assert not any("one server" in finding.what for finding in findings)


def test_an_eviction_policy_is_an_error_with_its_fix(broker) -> None:
    with turned(broker, "maxmemory-policy", "allkeys-lru"):
        found = about(check_broker(broker), "allkeys-lru")
    assert found.level is Level.ERROR
    assert "noeviction" in found.fix


def test_a_server_without_append_only_file_is_warned_of(broker) -> None:
    assert about(check_broker(broker), "appendonly is no").level is Level.WARNING
    with turned(broker, "appendonly", "yes"):
        assert about(check_broker(broker), "append-only file is on").level is Level.OK


def test_a_graph_that_would_replay_queries_is_warned_of(graph) -> None:
    graph.execute_command("GRAPH.CONFIG", "SET", "EFFECTS_THRESHOLD", 300)
    assert about(check_graph(graph), "EFFECTS_THRESHOLD is 300").level is Level.WARNING
    graph.execute_command("GRAPH.CONFIG", "SET", "EFFECTS_THRESHOLD", 0)
    assert about(check_graph(graph), "replay effects").level is Level.OK


def test_memory_without_a_limit_and_memory_that_fills_are_warned_of(broker) -> None:
    assert about(check_broker(broker), "maxmemory is not set").level is Level.WARNING
    used = int(broker.info("memory")["used_memory"])
    with turned(broker, "maxmemory", str(used * 100)):
        assert about(check_broker(broker), "of maxmemory is used").level is Level.OK
    with turned(broker, "maxmemory", str(int(used * 1.2))):
        assert about(check_broker(broker), "of maxmemory is used").level is Level.WARNING


def test_a_clock_that_differs_is_warned_of(broker, monkeypatch) -> None:
    real = time.time
    monkeypatch.setattr("workers.selfcheck.time.time", lambda: real() + 60)
    found = about(check_broker(broker), "its clock is 60.0 s behind")
    assert found.level is Level.WARNING


def test_a_plain_redis_is_no_graph_server(broker) -> None:
    found = about(check_graph(broker), "no FalkorDB module")
    assert found.level is Level.ERROR
    assert "FALKORDB_URL" in found.fix


def test_broker_and_graph_on_one_server_are_warned_of(graph) -> None:
    assert about(check_servers(graph, graph), "are one server").level is Level.WARNING


def test_what_a_managed_service_does_not_tell_is_a_warning(graph, graph_server) -> None:
    with restricted(graph, graph_server.url, "config", "info", "module", "time", "graph.config") as tenant:
        findings = check_servers(tenant, tenant)
    assert {finding.level for finding in findings} == {Level.WARNING}
    assert all("could not check" in finding.what for finding in findings)


def test_a_server_that_is_away_or_refuses_is_one_error(redis_server) -> None:
    away = redis.Redis(port=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))
    assert [finding.level for finding in check_broker(away)] == [Level.ERROR]
    wrong = redis.Redis(host=redis_server.host, port=redis_server.port, password="wrong")
    (found,) = check_graph(wrong)
    assert "password" in found.what
    assert "FALKORDB_URL" in found.fix
