"""The wiring: settings become ports, ports become resources. Parts of it stand beside it in modules of their own."""

import structlog

from pipeline.adapters.artifact_gc import collect_garbage
from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.adapters.falkor import (
    FalkorGraph,
    FalkorWriter,
)
from pipeline.errors import ArtifactsUnavailable
from pipeline.models import GarbageReport
from pipeline.ports import (
    ArtifactStore,
    GraphWriter,
)
from scheduler.accounts import Accounts
from scheduler.calls import Calls
from scheduler.dropping import Dropping
from scheduler.finalize import FinalizeLedger
from scheduler.leases import Leases
from scheduler.ledger import Ledger
from scheduler.tick import DispatchConfig
from scheduler.verbs import RunVerbs
from scheduler.verify import Verification
from scheduler.workers import Workers
from workers.connections import connect_redis
from workers.graphs import curate, inspect_graph, open_graph
from workers.settings import Settings

_log = structlog.get_logger(__name__)

BATCHES_PER_PROCESS = 3
LEAST_WINDOW = 4
_DAY_SECONDS = 86_400


def build_ledger(settings: Settings) -> Ledger:
    """Make the ledger."""
    return Ledger(
        connect_redis(settings),
        lease_ms=int(settings.lease_seconds * 1000),
        queue_ttl_ms=int(settings.queue_seconds * 1000),
        max_starts=settings.max_starts,
    )


def build_calls(settings: Settings) -> Calls:
    """Make what gives leave to call language models."""
    return Calls(connect_redis(settings))


def build_accounts(settings: Settings) -> Accounts:
    """Make the accounts of calls of language models that belong to no run."""
    return Accounts(connect_redis(settings), keep_seconds=settings.keep_runs_days * _DAY_SECONDS)


def build_verbs(settings: Settings, ledger: Ledger) -> RunVerbs:
    """Make what a person does with runs."""
    return RunVerbs(connect_redis(settings), ledger)


def build_leases(settings: Settings) -> Leases:
    """Make the leases of graphs and documents."""
    return Leases(connect_redis(settings), ttl_ms=int(settings.graph_lease_seconds * 1000))


def build_writer(settings: Settings, graph: str) -> GraphWriter:
    """Make what writes to a graph."""
    return FalkorWriter(open_graph(settings, graph))


def build_finalizes(settings: Settings) -> FinalizeLedger:
    """Make the finalize records."""
    return FinalizeLedger(connect_redis(settings), ttl_ms=int(settings.finalize_seconds * 1000))


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
        keep_seconds=settings.keep_runs_days * _DAY_SECONDS,
    )


def find_artifacts(settings: Settings) -> ArtifactStore | None:
    """Open this host's folder of stage results if there is one; none is made."""
    return FolderArtifactStore(settings.artifacts) if (settings.artifacts / "store").is_dir() else None


def open_artifacts(settings: Settings) -> ArtifactStore:
    """Open this host's folder of stage results; raises `ArtifactsUnavailable`."""
    return FolderArtifactStore(settings.artifacts)


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
