"""The wiring: settings become ports, ports become resources. The only module that names adapters."""

from functools import cache, lru_cache
from importlib.metadata import entry_points

import structlog
from pydantic import ValidationError

from pipeline.adapters.artifact_gc import collect_garbage
from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.adapters.callables import as_embedder, as_extractor, load_attribute
from pipeline.adapters.falkor import (
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorReader,
    FalkorReviser,
    FalkorWriter,
    connect,
    index_states,
)
from pipeline.adapters.minilm import MiniLmEmbedder
from pipeline.adapters.readers import FileReader
from pipeline.adapters.readers.encoding import decode
from pipeline.config import RecipeConfig
from pipeline.errors import ArtifactsUnavailable, GraphMissing, ModelUnavailable
from pipeline.models import GarbageReport, StoredDocument
from pipeline.ports import ArtifactStore, Embedder, Extractor, GraphCurator, GraphInspector
from scheduler.curation import Curation
from scheduler.dropping import Dropping
from scheduler.errors import RecipeUnavailable
from scheduler.finalize import FinalizeLedger
from scheduler.ingest import IngestStages
from scheduler.leases import Leases
from scheduler.ledger import Ledger
from scheduler.preparing import Graphs
from scheduler.query import Questions
from scheduler.recipe import Recipe
from scheduler.seals import Seals
from scheduler.sessions import EvidenceSessions
from scheduler.tick import DispatchConfig
from scheduler.verbs import RunVerbs
from scheduler.verify import Verification
from scheduler.workers import Workers
from scheduler.writing import WriteStages
from tasks.canvas import CanvasSender
from tasks.resources import Resources
from workers.connections import connect_redis
from workers.settings import Settings

_log = structlog.get_logger(__name__)

EXTRACTOR_GROUP = "graphmill.extractors"
DEFAULT_FALKORDB = "redis://127.0.0.1:6379"
BATCHES_PER_PROCESS = 3
LEAST_WINDOW = 4
QUERY_TRIES = 3
"""Timeouts of the graph that fit into what a command waits for an answer."""


def build_ledger(settings: Settings) -> Ledger:
    """Make the ledger."""
    return Ledger(
        connect_redis(settings),
        lease_ms=int(settings.lease_seconds * 1000),
        queue_ttl_ms=int(settings.queue_seconds * 1000),
        max_starts=settings.max_starts,
    )


def build_verbs(settings: Settings, ledger: Ledger) -> RunVerbs:
    """Make what a person does with runs."""
    return RunVerbs(connect_redis(settings), ledger)


def build_finalizes(settings: Settings) -> FinalizeLedger:
    """Make the finalize records."""
    return FinalizeLedger(connect_redis(settings), ttl_ms=int(settings.finalize_seconds * 1000))


def list_extractors(settings: Settings) -> list[str]:
    """Name the extractors that runs may ask this process for: those installed, and the one configured here.

    Any other `module:attribute` is refused: a run must not choose what code a worker imports.
    """
    return sorted({*(point.name for point in entry_points(group=EXTRACTOR_GROUP)), settings.extractor})


def build_extractor(settings: Settings, name: str) -> Extractor:
    """Make an extractor: an entry point by its name, or `module:attribute` if it is the configured one."""
    if ":" in name and name == settings.extractor:
        return as_extractor(load_attribute(name), name)
    found = entry_points(group=EXTRACTOR_GROUP, name=name)
    if not found:
        raise ModelUnavailable(
            f"There is no extractor {name!r} here. Set GRAPHMILL_EXTRACTOR, also of the workers, to one of "
            f"{', '.join(list_extractors(settings))}, or to module:attribute."
        )
    return as_extractor(next(iter(found)).load(), name)


def build_embedder(settings: Settings) -> Embedder:
    """Make the configured embedder."""
    uri = settings.embed.embedder
    kind, _, rest = uri.partition(":")
    if uri == "bundled:minilm-int8":
        return MiniLmEmbedder()
    if kind == "python":
        return as_embedder(load_attribute(rest), uri)
    raise ModelUnavailable(
        f"There is no embedder {uri!r}. "
        "Set GRAPHMILL_EMBED__EMBEDDER to bundled:minilm-int8 or python:module:attribute."
    )


def open_graph(settings: Settings, graph: str, timeout: float = 0.0) -> FalkorGraph:
    """Connect to a graph, with a timeout in seconds of its own if given; nothing is made by that."""
    url = settings.falkordb_url.get_secret_value() if settings.falkordb_url else DEFAULT_FALKORDB
    return connect(url, graph, timeout=timeout or settings.graph_timeout)


def open_reader(settings: Settings, graph: str) -> FalkorReader:
    """Connect to a graph for questions: a lost connection is noticed while somebody still waits for the answer."""
    timeout = min(settings.graph_timeout, settings.query_timeout / QUERY_TRIES)
    return FalkorReader(open_graph(settings, graph, timeout))


def find_unready_indexes(settings: Settings) -> list[str]:
    """Name the graphs with indexes that are still being built, as after a restart: their searches miss things."""
    names = open_graph(settings, settings.graph).names()
    graphs = (open_graph(settings, name) for name in names)
    return [graph.name for graph in graphs if not all(state.operational for state in index_states(graph))]


def find_stored(settings: Settings, graph: str, document_id: str) -> StoredDocument | None:
    """Look a completely written document up; None where the graph, or the document in it, is not there."""
    opened = open_graph(settings, graph)
    try:
        return FalkorWriter(opened).stored([document_id]).get(document_id)
    except GraphMissing:
        return None
    finally:
        opened.close()


def curate(graph: FalkorGraph) -> GraphCurator:
    """Give finalize's side of a graph."""
    return FalkorCurator(graph)


def inspect_graph(graph: FalkorGraph) -> GraphInspector:
    """Give the side of a graph that comparisons read."""
    return FalkorInspector(graph)


def build_verification(graph: FalkorGraph, ledger: Ledger, finalizes: FinalizeLedger) -> Verification:
    """Make what compares a graph with the ledger."""
    return Verification(ledger, finalizes, inspect_graph(graph), FalkorWriter(graph), curate(graph))


def build_dropping(settings: Settings, graph: FalkorGraph) -> Dropping:
    """Make what drops a graph."""
    client = connect_redis(settings)
    leases = Leases(client, ttl_ms=int(settings.graph_lease_seconds * 1000))
    return Dropping(client, leases, FalkorWriter(graph))


def build_dispatch(settings: Settings, workers: Workers) -> DispatchConfig:
    """Size the window by the workers that live now."""
    processes = workers.processes("extract")
    return DispatchConfig(
        window=settings.window or max(LEAST_WINDOW, BATCHES_PER_PROCESS * processes),
        max_files=settings.batch_files,
        max_bytes=settings.batch_bytes,
        spread=2 * max(1, processes),
        memory_mark=settings.memory_mark,
        keep_seconds=settings.keep_runs_days * 86_400,
    )


def check_parts(settings: Settings) -> None:
    """Raise what is wrong with the configured extractor, ontology or embedder, before anything relies on them."""
    build_extractor(settings, settings.recipe.extractor)
    build_embedder(settings)


def open_artifacts(settings: Settings) -> ArtifactStore:
    """Open this host's folder of stage results; raises `ArtifactsUnavailable`."""
    return FolderArtifactStore(settings.artifacts)


def decode_given(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Make text of bytes in any usual encoding, with warnings of what was lost; raises `LoadError`."""
    decoded = decode(data)
    return decoded.text, decoded.warnings


def identify_artifacts(settings: Settings) -> str:
    """Tell which artifact folder this host sees; '' where it cannot be used (its tasks then say why)."""
    try:
        return FolderArtifactStore(settings.artifacts).store_id
    except ArtifactsUnavailable as error:
        _log.warning("artifacts_unavailable", reason=str(error))
        return ""


def collect_artifacts(settings: Settings, unused_since: float, *, dry_run: bool) -> GarbageReport:
    """Remove stage results that were last used before an instant; raises `ArtifactStoreMissing`."""
    return collect_garbage(settings.artifacts.absolute(), unused_since, dry_run=dry_run)


def build_resources(settings: Settings) -> Resources:
    """Make everything that the task shells of one process work with; models load on first use."""
    ledger, finalizes = build_ledger(settings), build_finalizes(settings)
    workers = Workers(connect_redis(settings))
    leases = Leases(connect_redis(settings), ttl_ms=int(settings.graph_lease_seconds * 1000))
    artifacts = FolderArtifactStore(settings.artifacts)
    embedder = build_embedder(settings)
    graph_of = cache(lambda graph: open_graph(settings, graph))
    writer_of = cache(lambda graph: FalkorWriter(graph_of(graph)))
    curator_of = cache(lambda graph: curate(graph_of(graph)))
    reader_of = cache(lambda graph: open_reader(settings, graph))

    @cache
    def root_of(run: str) -> str:
        return ledger.status(run).root

    curation = Curation(
        ledger=ledger,
        finalizes=finalizes,
        leases=leases,
        artifacts=artifacts,
        seals=Seals(artifacts, finalizes),
        embedder=embedder,
        writer_of=writer_of,
        curator_of=curator_of,
        stores_in_use=lambda: {worker.offer.store for worker in workers.living()},
        page_size=settings.embed.page_size,
    )
    extractor_of = cache(lambda name: build_extractor(settings, name))

    @lru_cache(maxsize=64)
    def recipe_of(run: str) -> Recipe:
        carried = ledger.recipe(run)
        try:
            config = RecipeConfig.model_validate_json(carried) if carried else settings.recipe
            return Recipe(FileReader(config.load), extractor_of(config.extractor), config)
        except (ModelUnavailable, ValidationError) as error:
            raise RecipeUnavailable(f"This worker cannot make the files of run {run}: {error}") from error

    graphs = Graphs(writer_of, cache(lambda graph: FalkorReviser(graph_of(graph))), curation.check_record)
    ingest = IngestStages(
        root_of=root_of,
        files_root=settings.files_root,
        recipe_of=recipe_of,
        artifacts=artifacts,
        graphs=graphs,
        turn_seconds=settings.soft_time_limit / 2,
    )
    writing = WriteStages(root_of=root_of, recipe_of=recipe_of, artifacts=artifacts, graphs=graphs, leases=leases)
    sessions = EvidenceSessions(connect_redis(settings), expiry_seconds=settings.session_seconds)
    return Resources(
        ledger=ledger,
        verbs=build_verbs(settings, ledger),
        finalizes=finalizes,
        stages={
            "load": ingest.load,
            "chunk": ingest.chunk,
            "extract": ingest.extract,
            "write": writing.write,
            "discard": writing.discard,
        },
        finalize_steps=curation,
        queries=Questions(reader_of, embedder, sessions),
        sender=CanvasSender(),
        dispatch=lambda: build_dispatch(settings, workers),
    )
