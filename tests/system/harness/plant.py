"""A whole deployment of graphmill on loopback: two servers, a worker of each role, beat; all may be broken."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import psutil
import redis
from proxy import Proxy

from pipeline.errors import TransientError
from scheduler.leases import Leases
from workers.app import create_app
from workers.client import Client
from workers.connections import connect_redis
from workers.roles import ROLES, worker_arguments
from workers.settings import Settings

HERE = Path(__file__).parent
ROLE_NAMES = ("ingest", "ingest", "finalize", "query", "control", "beat")
START_SECONDS = 60
SETTINGS = {
    "GRAPHMILL_EXTRACTOR": "fault_models:extract",
    "GRAPHMILL_EMBED__EMBEDDER": "python:fault_models:embed",
    "GRAPHMILL_BATCH_FILES": "5",
    "GRAPHMILL_LEASE_SECONDS": "3",
    "GRAPHMILL_QUEUE_SECONDS": "4",
    "GRAPHMILL_GRAPH_LEASE_SECONDS": "3",
    "GRAPHMILL_FINALIZE_SECONDS": "3",
    "GRAPHMILL_SOFT_TIME_LIMIT": "8",
    "GRAPHMILL_TIME_LIMIT": "10",
    "GRAPHMILL_VISIBILITY_TIMEOUT": "12",
    "GRAPHMILL_REDIS_TIMEOUT": "3",
    "GRAPHMILL_GRAPH_TIMEOUT": "4",
    # Longer than it takes to notice that a worker went deaf, and to replace it.
    "GRAPHMILL_QUERY_TIMEOUT": "60",
    # Kills at random may strike one file thrice; that is not its fault.
    "GRAPHMILL_MAX_STARTS": "6",
    "REMAP_SIGTERM": "SIGQUIT",
}


class Store:
    """A redis-server, with the FalkorDB module or without, that comes back on its port with its data."""

    def __init__(self, folder, engine, module=None):
        folder.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._command = [
            *(str(engine.server), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction", "--logfile", "server.log"),
            *(("--loadmodule", str(module), "EFFECTS_THRESHOLD", "0") if module else ()),
        ]
        self.client = redis.Redis(port=self.port, decode_responses=True, retry=None, protocol=2, socket_timeout=10)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                if self.client.ping():
                    return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(0.02)
        raise AssertionError("a server did not come back")

    def restart(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.client.close()


@dataclass
class Member:
    """One process that a supervisor keeps alive."""

    role: str
    command: list[str]
    environment: dict[str, str]
    process: subprocess.Popen | None = None
    starts: int = 0

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def children(self):
        return psutil.Process(self.process.pid).children() if self.alive else []

    def kill(self):
        """Kill it and its pool at once, as a machine does that loses its power."""
        for one in [*self.children(), self.process]:
            # A process of the pool may have just ended by itself.
            with suppress(psutil.NoSuchProcess):
                one.kill()


@dataclass
class Plant:
    """Starts everything in `folder`; use as a context."""

    folder: Path
    engine: object
    roles: tuple[str, ...] = ROLE_NAMES
    faults: str = ""
    proxied: bool = False
    own_environment: dict[int, dict[str, str]] = field(default_factory=dict)
    """What a member has in its environment beyond the others', by its place in `roles`."""
    clocks: dict[int, int] = field(default_factory=dict)
    """By how many seconds a member's clock is wrong, by its place in `roles`."""
    members: list[Member] = field(default_factory=list)

    def __enter__(self):
        try:
            return self._start()
        except BaseException:
            self.__exit__()
            raise

    def _start(self):
        self.proxies = []
        self._log = (self.folder / "workers.log").open("ab")
        self.redis = Store(self.folder / "redis", self.engine)
        self.graph = Store(self.folder / "graph", self.engine, self.engine.module)
        for store in self.stores:
            store.start()
        self.proxies = [Proxy(store.port) for store in self.stores] if self.proxied else []
        ports = [one.port for one in self.proxies or self.stores]
        direct = {"REDIS_URL": f"redis://127.0.0.1:{self.redis.port}", **self._named(self.graph.port)}
        shown = {"REDIS_URL": f"redis://127.0.0.1:{ports[0]}", **self._named(ports[1])}
        self.environment = SETTINGS | {"GRAPHMILL_DATA_DIR": str(self.folder / "data"), "PLANT_FAULTS": self.faults}
        base = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parents[1] / 'service'}"}  # noqa: TID251 - a child process needs a PATH
        with patch.dict(os.environ, self.environment | direct):  # noqa: TID251 - where settings are read
            self.settings = Settings()
        app = create_app(self.settings)
        app.set_default()
        app.set_current()
        self.client = Client(self.settings, app)
        for place, role in enumerate(self.roles):
            own = self.own_environment.get(place, {}) | self._clock(self.clocks.get(place))
            self.members.append(Member(role, self._command(place, role), base | self.environment | shown | own))
        self.heal()
        self._wait_for_workers()
        return self

    def __exit__(self, *_):
        for member in self.members:
            if member.alive:
                member.process.send_signal(signal.SIGCONT)
                member.kill()
                member.process.wait()
        for proxy in self.proxies:
            proxy.close()
        for store in self.stores:
            store.stop()
        self._log.close()

    @property
    def stores(self):
        return (self.redis, self.graph)

    def _clock(self, shift):
        if shift is None:
            return {}
        library = self.folder / "clock.so"
        if not library.exists():
            compiler = shutil.which("cc")
            subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "clock.c", "-ldl"], check=True)
        return {"LD_PRELOAD": str(library), "PLANT_CLOCK": str(shift)}

    def _named(self, port):
        return {"FALKORDB_URL": f"redis://127.0.0.1:{port}"}

    def _command(self, place, role):
        celery = [sys.executable, "-m", "celery", "-A", "fault_app"]
        if role == "beat":
            schedule = self.folder / f"beat{place}"
            return [*celery, "beat", f"--schedule={schedule}", "--pidfile="]
        return [*celery, *worker_arguments(ROLES[role], 2), f"--hostname={role}-{place}@%h"]

    def heal(self):
        """Start what is not alive, as a supervisor does."""
        for member in self.members:
            if not member.alive:
                member.process = subprocess.Popen(
                    member.command,
                    env=member.environment, stdout=self._log, stderr=self._log, start_new_session=True,
                )  # fmt: skip
                member.starts += 1

    def _wait_for_workers(self):
        wanted = {queue for role in self.roles if role in ROLES for queue in ROLES[role].queues}
        deadline = time.monotonic() + START_SECONDS
        while not {queue for worker in self.client.workers() for queue in worker.queues} >= wanted:
            assert time.monotonic() < deadline, self.tail()
            time.sleep(0.1)

    def member(self, chance, *roles):
        """Choose a living member, of some roles or of any."""
        return chance.choice([one for one in self.members if one.alive and (not roles or one.role in roles)])

    def look(self, run):
        """Give the run's status, or None while its server is out of reach."""
        try:
            return self.client.status(run)
        except TransientError:
            return None

    def phase(self, graph):
        """Tell in which phase a graph's finalize is; '' where nobody can tell."""
        try:
            return self.client.finalize_status(graph).phase
        except TransientError:
            return ""

    def tail(self):
        """Give the end of the workers' log."""
        return (self.folder / "workers.log").read_text("utf-8", "replace")[-6000:]

    def leases(self, graph):
        """List who holds or waits for a graph."""
        with connect_redis(self.settings) as client:
            return Leases(client, ttl_ms=1000).read(graph).uses


def make_corpus(folder, files=110):
    """Make files that share entities, of one to a few passages, with some that cannot be read; always the same."""
    chance = random.Random(7)
    firsts = ["Ada", "Bram", "Cleo", "Dov", "Esme", "Finn", "Gita", "Hugo", "Iris", "Jon"]
    lasts = ["Quill", "Oster", "Lark", "Moss", "Venn", "Pike"]
    firms = ["Larkspur Optics", "Northlight Press", "Tidewater Mills", "Amber Forge"]
    for i in range(files):
        sentences = []
        for _ in range(chance.choice([3, 4, 6, 40])):
            person = f"{chance.choice(firsts)} {chance.choice(lasts)}"
            firm = chance.choice(firms) + chance.choice(["", " Ltd", " Limited"])
            sentences.append(f"In spring {person} joined {firm} near Port {chance.choice(lasts)} and met it there.")
        (folder / f"note{i:03}.md").write_text(f"# Note {i}\n\n" + "\n\n".join(sentences), "utf-8")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n")


def make_rows(folder, season):
    """Write a table whose rows and their references differ by season; always alike."""
    rows = []
    for i in range(30 if season == "spring" else 26):
        name = "Ada Quill" if i % 5 else "Kora Bell"
        firm = 7 if season == "autumn" and i % 4 == 0 else i % 3
        rows.append(f"{i},{name},{firm},{season if i % 6 == 0 else ''}")
    (folder / "staff.csv").write_text("\n".join(["id,name,firm,joined", *rows]) + "\n", "utf-8")


def change_corpus(folder):
    """Change a third of the files in one passage, remove some, rename some, add some, empty one; always alike."""
    notes = sorted(folder.glob("note*.md"))
    for i, note in enumerate(notes):
        if i % 3 == 0:
            paragraphs = note.read_text("utf-8").split("\n\n")
            paragraphs[-1] = f"In autumn Kora Bell left Larkspur Optics for Amber Forge Ltd, as note {i} says."
            note.write_text("\n\n".join(paragraphs), "utf-8")
        elif i % 7 == 1:
            note.unlink()
        elif i % 7 == 2:
            note.rename(folder / f"moved{i:03}.md")
    for i in range(15):
        text = f"# New {i}\n\nIn winter Lena Moss joined Tidewater Mills Limited near Port Pike, number {i}.\n"
        (folder / f"new{i:02}.md").write_text(text, "utf-8")
    notes[0].write_text(" \n", "utf-8")
