"""The two servers of the embedded stack: one for queue and ledger, one for the graph.

They are two, because a growing graph would trip the queue's memory mark, and the fork that rewrites
its append-only file would stop the queue.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import string
import time
from pathlib import Path

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from workers.embedded.engine import Engine
from workers.embedded.errors import StartFailed
from workers.embedded.processes import Child
from workers.embedded.pulse import Pulse

HOST = "127.0.0.1"
QUERY_TIMEOUT_MS = 30_000
LONGEST_QUERY_TIMEOUT_MS = 60_000
MOST_QUEUED_QUERIES = 200

_CONFIG_NAME = "redis.conf"
_LOG_NAME = "server.log"
_PORT_ATTEMPTS = 5
_POLL_SECONDS = 0.02
_PLAIN = frozenset(string.ascii_letters + string.digits + " /._-+=:,@")
_SMALLEST_MEMORY_BYTES = 256 * 2**20
_LEAST_DISK_BYTES = 2**20
_DISK_FULL = "The disk is full: make room, or choose another data folder."
# What a server's log says, and what that means for the user.
_HINTS = (
    (
        re.compile(r"No space left on device", re.IGNORECASE),
        _DISK_FULL,
    ),
    (re.compile(r"GLIBC(XX)?_[\d.]+. not found"), "The FalkorDB module was built for a newer system than this one."),
    (
        re.compile(r"cannot open shared object file"),
        "A system library is missing (on Debian: apt-get install libgomp1 libssl3).",
    ),
    (
        re.compile(r"handle RDB format version|unknown (or unsupported )?command|encoding version", re.IGNORECASE),
        "The data was written by a newer engine: install that one again, or start with an empty data folder.",
    ),
    (
        re.compile(r"Bad file format reading the append only file", re.IGNORECASE),
        "The append-only file is damaged: repair it with redis-check-aof --fix, or restore a copy of the data folder.",
    ),
)


class _PortTaken(Exception):
    """Another program got the port between our look and our start."""


class Server:
    """One redis-server of ours with its data in `folder`; the password is new at each `start`.

    `directives` are lines of its configuration beyond those that both servers share.
    """

    def __init__(self, name: str, folder: Path, engine: Engine, directives: list[str]) -> None:
        self.child = Child(
            name,
            # The configuration is a file of the user's own, as anybody may list command lines.
            [engine.server, _CONFIG_NAME],
            folder / _LOG_NAME,
            folder=folder,
            death_signal=signal.SIGTERM,  # it writes its append-only file out and ends
        )
        self.pulse = Pulse(self.child, lambda: (HOST, self._port))
        """Whether it hangs."""
        self._folder = folder
        self._directives = directives
        self._password = ""
        self._port = 0

    @property
    def url(self) -> str:
        """Where it listens, with the password; database 0."""
        return f"redis://:{self._password}@{HOST}:{self._port}/0"

    def start(self, timeout_seconds: float) -> None:
        """Start it and wait until it answers and all its data is loaded.

        Raises:
            StartFailed: it ended, or did not answer in time; with the end of its log.
        """
        for _ in range(_PORT_ATTEMPTS):
            self._password = secrets.token_urlsafe(24)
            self._port = _free_port()
            self._write_config()
            self.child.start()
            try:
                self._wait(timeout_seconds)
            except _PortTaken:
                continue
            return
        raise StartFailed(f"The {self.child.name} server found no free port in {_PORT_ATTEMPTS} attempts.")

    def _write_config(self) -> None:
        path = self._folder / _CONFIG_NAME
        path.unlink(missing_ok=True)
        lines = [
            f"bind {HOST}",
            "protected-mode yes",
            f"port {self._port}",
            f"requirepass {self._password}",
            f"dir {_quote(os.fsencode(self._folder))}",
            'logfile ""',  # standard output, which is the log: the loader's complaints land there as well
            "daemonize no",
            "timeout 0",
            "tcp-keepalive 60",
            'save ""',
            "appendonly yes",
            "appendfsync everysec",
            "maxmemory-policy noeviction",
            *self._directives,
        ]
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def _wait(self, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        # One try each: a retry inside the client would hide that the process has ended.
        with redis.Redis(
            host=HOST,
            port=self._port,
            password=self._password,
            socket_timeout=5,
            socket_connect_timeout=5,
            retry=Retry(NoBackoff(), 0),
        ) as client:
            while not self._answers(client):
                if self.child.returncode is not None:
                    self._explain_end()
                if time.monotonic() > deadline:
                    raise StartFailed(
                        f"The {self.child.name} server did not get ready within {timeout_seconds:.0f} s.\n"
                        f"End of {self.child.log_file}:\n{self.child.tail()}"
                    )
                time.sleep(_POLL_SECONDS)

    def _answers(self, client: redis.Redis) -> bool:
        try:
            pid = client.info("server")["process_id"]
            client.ping()
        except redis.AuthenticationError as error:
            raise _PortTaken from error
        except (redis.ConnectionError, redis.TimeoutError):  # BusyLoadingError is one of them
            return False
        if self.child.identity is not None and pid != self.child.identity.pid:
            raise _PortTaken
        return True

    def _explain_end(self) -> None:
        tail = self.child.tail()
        if "Address already in use" in tail or "Failed listening" in tail:
            raise _PortTaken
        hint = next((fix + "\n" for pattern, fix in _HINTS if pattern.search(tail)), "")
        if not hint and shutil.disk_usage(self._folder).free < _LEAST_DISK_BYTES:
            hint = _DISK_FULL + "\n"  # there was no room for the log either
        raise StartFailed(
            f"The {self.child.name} server ended at its start (status {self.child.returncode}).\n{hint}"
            f"End of {self.child.log_file}:\n{tail}"
        )


def broker_server(folder: Path, engine: Engine) -> Server:
    """Describe the server of queue, results and ledger."""
    return Server("broker", folder, engine, [f"maxmemory {_share_of_memory(4)}"])


def graph_server(folder: Path, engine: Engine) -> Server:
    """Describe the server of the graph: FalkorDB with limits on time, memory and waiting queries."""
    arguments = {
        "TIMEOUT_DEFAULT": QUERY_TIMEOUT_MS,
        "TIMEOUT_MAX": LONGEST_QUERY_TIMEOUT_MS,
        "MAX_QUEUED_QUERIES": MOST_QUEUED_QUERIES,
        "QUERY_MEM_CAPACITY": _share_of_memory(4),
        "THREAD_COUNT": os.cpu_count() or 1,
        # What a write changed goes into the append-only file, not the query: while a server replays its file,
        # indexes are not in use, so every MERGE scans. Three minutes for 100 documents became half a second.
        "EFFECTS_THRESHOLD": 0,
    }
    listed = " ".join(f"{name} {value}" for name, value in arguments.items())
    return Server(
        "graph",
        folder,
        engine,
        [
            f"maxmemory {_share_of_memory(2)}",
            # A rewrite forks the server and takes a core for seconds; 256 MB of effects are replayed in four.
            "auto-aof-rewrite-min-size 256mb",
            f"loadmodule {_quote(os.fsencode(engine.module.absolute()))} {listed}",
        ],
    )


def _share_of_memory(divisor: int) -> int:
    """Give a share of the machine's memory in bytes, never less than what an empty server needs."""
    return max(psutil.virtual_memory().total // divisor, _SMALLEST_MEMORY_BYTES)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _quote(raw: bytes) -> str:
    r"""Quote a value of redis.conf: plain characters as they are, all else as \xHH."""
    return '"' + "".join(chr(b) if chr(b) in _PLAIN else f"\\x{b:02x}" for b in raw) + '"'
