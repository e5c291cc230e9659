"""Look at the servers before work starts: settings under which a queue or a graph loses data unnoticed."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import redis

OLDEST_REDIS = (7, 2)
"""WAITAOF, by which a run is sealed, came with 7.2."""
OLDEST_FALKORDB = (4, 16)
"""Oldest engine that the queries are tested with; the bundled one."""
LARGEST_CLOCK_SKEW_SECONDS = 2.0
MEMORY_ALARM_SHARE = 0.7
"""Share of `maxmemory` above which new work is not admitted."""

_GRAPH_MODULE = "graph"


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    """Works, but may cost time or data on a bad day."""
    ERROR = "error"
    """Do not start: data would be lost or no task would run."""


@dataclass(frozen=True)
class Finding:
    """One observation on a server and, unless it is fine, what to do."""

    level: Level
    what: str
    fix: str = ""


def check_servers(broker: redis.Redis, graph: redis.Redis) -> list[Finding]:
    """Check both servers and how they stand to each other.

    The clients may decode answers or not. An unreachable server is a finding; nothing is raised for it.
    """
    findings = check_broker(broker) + check_graph(graph)
    if not any(finding.level is Level.ERROR for finding in findings):
        findings += _check_separation(broker, graph)
    return findings


def check_broker(client: redis.Redis) -> list[Finding]:
    """Check the server of queue, results and ledger."""
    unreachable = _find_unreachable(client, "broker", "REDIS_URL")
    if unreachable is not None:
        return [unreachable]
    return [
        _check_version(client, "broker"),
        _check_eviction(client, "broker"),
        _check_durability(client, "broker"),
        _check_memory(client, "broker"),
        _check_clock(client, "broker"),
    ]


def check_graph(client: redis.Redis) -> list[Finding]:
    """Check the server of the graph."""
    unreachable = _find_unreachable(client, "graph", "FALKORDB_URL")
    if unreachable is not None:
        return [unreachable]
    return [
        _check_version(client, "graph"),
        _check_module(client),
        _check_eviction(client, "graph"),
        _check_durability(client, "graph"),
        _check_replay(client),
        _check_memory(client, "graph"),
    ]


def _find_unreachable(client: redis.Redis, server: str, setting: str) -> Finding | None:
    try:
        client.ping()
    except redis.exceptions.BusyLoadingError:
        return Finding(Level.ERROR, f"{server}: it is loading its data", "Wait until it has, then try again.")
    except redis.AuthenticationError as error:
        return Finding(Level.ERROR, f"{server}: it refuses the password ({error})", f"Correct {setting}.")
    except redis.RedisError as error:
        return Finding(Level.ERROR, f"{server}: it does not answer ({error})", f"Start it, or correct {setting}.")
    return None


def _check_version(client: redis.Redis, server: str) -> Finding:
    version = _text(_info(client, "server").get("redis_version", ""))
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not parts:
        return _unchecked(server, "its version")
    if parts < OLDEST_REDIS:
        return Finding(
            Level.ERROR,
            f"{server}: Redis {version} is too old",
            f"Install Redis {OLDEST_REDIS[0]}.{OLDEST_REDIS[1]} or newer.",
        )
    return Finding(Level.OK, f"{server}: Redis {version}")


def _check_eviction(client: redis.Redis, server: str) -> Finding:
    policy = _setting(client, "maxmemory-policy")
    if policy is None:
        return _unchecked(server, "maxmemory-policy", "Make sure that it is noeviction.")
    if policy != "noeviction":
        return Finding(
            Level.ERROR,
            f"{server}: maxmemory-policy is {policy}: a full server would silently delete queue, ledger or graph",
            "CONFIG SET maxmemory-policy noeviction, and write it into redis.conf.",
        )
    return Finding(Level.OK, f"{server}: nothing is evicted")


def _check_durability(client: redis.Redis, server: str) -> Finding:
    appendonly = _setting(client, "appendonly")
    if appendonly is None:
        return _unchecked(server, "appendonly", "Make sure that it is yes.")
    if appendonly != "yes":
        return Finding(
            Level.WARNING,
            f"{server}: appendonly is {appendonly}: what was acknowledged is lost when it restarts",
            "CONFIG SET appendonly yes, and write it into redis.conf.",
        )
    return Finding(Level.OK, f"{server}: append-only file is on")


def _check_replay(client: redis.Redis) -> Finding:
    """Check how writes reach the append-only file: replaying queries takes minutes where effects take a second."""
    try:
        _, threshold = client.execute_command("GRAPH.CONFIG", "GET", "EFFECTS_THRESHOLD")  # type: ignore[no-untyped-call] # untyped in redis-py
    except (redis.RedisError, ValueError):
        return _unchecked("graph", "EFFECTS_THRESHOLD", "Make sure that it is 0.")
    if int(threshold) != 0:
        return Finding(
            Level.WARNING,
            f"graph: EFFECTS_THRESHOLD is {threshold}: after a restart the graph may take minutes or hours to load",
            "GRAPH.CONFIG SET EFFECTS_THRESHOLD 0, and give it to the module when the server starts.",
        )
    return Finding(Level.OK, "graph: restarts replay effects")


def _check_memory(client: redis.Redis, server: str) -> Finding:
    memory = _info(client, "memory")
    if not {"maxmemory", "used_memory"} <= memory.keys():
        return _unchecked(server, "its memory", "Make sure that maxmemory is set and less than 70 % used.")
    limit, used = int(memory["maxmemory"]), int(memory["used_memory"])
    if limit == 0:
        return Finding(
            Level.WARNING,
            f"{server}: maxmemory is not set: the system kills the server when memory ends",
            "Set maxmemory well below the memory of the machine or container.",
        )
    share = used / limit
    if share > MEMORY_ALARM_SHARE:
        return Finding(
            Level.WARNING,
            f"{server}: {share:.0%} of maxmemory is used",
            "Raise maxmemory, or remove finished runs and graphs that nobody needs.",
        )
    return Finding(Level.OK, f"{server}: {share:.0%} of maxmemory is used")


def _check_clock(client: redis.Redis, server: str) -> Finding:
    before = time.time()
    try:
        seconds, microseconds = client.time()
    except redis.RedisError:
        return _unchecked(server, "its clock")
    # The answer was made somewhere between asking and hearing.
    here = (before + time.time()) / 2
    skew = int(seconds) + int(microseconds) / 1e6 - here
    if abs(skew) > LARGEST_CLOCK_SKEW_SECONDS:
        return Finding(
            Level.WARNING,
            f"{server}: its clock is {abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} this host's",
            "Let both hosts take their time from NTP: leases use the server's clock, logs and reports this one.",
        )
    return Finding(Level.OK, f"{server}: clocks agree")


def _check_module(client: redis.Redis) -> Finding:
    try:
        modules = [_pairs(entry) for entry in client.module_list()]
    except redis.RedisError:
        return _unchecked("graph", "which modules it has", "Make sure that it is FalkorDB.")
    number = next((int(module["ver"]) for module in modules if _text(module["name"]) == _GRAPH_MODULE), None)
    if number is None:
        return Finding(
            Level.ERROR,
            "graph: the server has no FalkorDB module",
            "Let FALKORDB_URL name a FalkorDB server, not a plain Redis.",
        )
    # 41603 is 4.16.3; development builds call themselves 999999.
    major, minor, patch = number // 10_000, number // 100 % 100, number % 100
    if (major, minor) < OLDEST_FALKORDB:
        return Finding(
            Level.WARNING,
            f"graph: FalkorDB {major}.{minor}.{patch} is older than any that was tested",
            f"Install FalkorDB {OLDEST_FALKORDB[0]}.{OLDEST_FALKORDB[1]} or newer.",
        )
    return Finding(Level.OK, f"graph: FalkorDB {major}.{minor}.{patch}")


def _check_separation(broker: redis.Redis, graph: redis.Redis) -> list[Finding]:
    run_ids = {_text(_info(client, "server").get("run_id", "")) for client in (broker, graph)}
    if "" in run_ids or len(run_ids) > 1:
        return []
    return [
        Finding(
            Level.WARNING,
            "broker and graph are one server: a growing graph stops the queue, and its saves stop both",
            "Let FALKORDB_URL name a server of its own.",
        )
    ]


def _info(client: redis.Redis, section: str) -> dict[str, Any]:
    """Give a section of INFO; empty where a managed service refuses it."""
    try:
        answer = client.info(section)
    except redis.RedisError:
        return {}
    return {_text(key): value for key, value in answer.items()}


def _setting(client: redis.Redis, name: str) -> str | None:
    """Give a setting of the server; None where a managed service does not tell it."""
    try:
        answer = client.config_get(name)
    except redis.RedisError:
        return None
    return next((_text(value) for value in answer.values()), None)


def _pairs(entry: Any) -> dict[str, Any]:
    """Read one module of MODULE LIST, a map in RESP3 and a flat list in RESP2."""
    if isinstance(entry, dict):
        return {_text(key): value for key, value in entry.items()}
    return {_text(entry[i]): entry[i + 1] for i in range(0, len(entry), 2)}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _unchecked(server: str, what: str, fix: str = "") -> Finding:
    return Finding(Level.WARNING, f"{server}: could not check {what} (the server does not tell)", fix)
