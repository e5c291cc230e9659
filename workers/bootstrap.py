"""The wiring: settings become ports, ports become resources. Parts of it stand beside it in modules of their own."""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter

import structlog
from celery import current_app
from pydantic import ValidationError

from pipeline.adapters.artifact_gc import collect_garbage
from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.adapters.callables import as_embedder, load_attribute
from pipeline.adapters.falkor import (
    FalkorGraph,
    FalkorMerges,
    FalkorOntologies,
    FalkorReviser,
    FalkorWriter,
)
from pipeline.adapters.minilm import MiniLmEmbedder
from pipeline.adapters.readers import FileReader
from pipeline.adapters.readers.encoding import decode
from pipeline.config import RecipeConfig
from pipeline.errors import ArtifactsUnavailable, ModelUnavailable
from pipeline.models import GarbageReport
from pipeline.ports import (
    ArtifactStore,
    ChatModel,
    Embedder,
    GraphWriter,
)
from pipeline.resolve.judging import judge_by_rules
from scheduler.accounts import Accounts
from scheduler.assembling import Assembler
from scheduler.calls import Calls
from scheduler.curation import Curation
from scheduler.dropping import Dropping
from scheduler.errors import RecipeUnavailable
from scheduler.extracting import ExtractStage
from scheduler.finalize import FinalizeLedger
from scheduler.flights import Flights
from scheduler.gate import GatedChat
from scheduler.ingest import IngestStages
from scheduler.judging import Judging
from scheduler.leases import Leases
from scheduler.ledger import Ledger
from scheduler.name_vectors import NameVectors
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe
from scheduler.seals import Seals
from scheduler.tick import DispatchConfig
from scheduler.verbs import RunVerbs
from scheduler.verify import Verification
from scheduler.workers import Workers
from scheduler.writing import WriteStages
from tasks.canvas import CanvasSender
from tasks.resources import Resources
from workers.connections import connect_redis
from workers.extractors import build_extractor, check_extractor
from workers.graphs import curate, inspect_graph, open_graph, open_reader
from workers.jobs import build_jobs
from workers.judges import Judges, check_judge
from workers.querying import build_questions
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


def build_verbs(settings: Settings, ledger: Ledger) -> RunVerbs:
    """Make what a person does with runs."""
    return RunVerbs(connect_redis(settings), ledger)


def build_leases(settings: Settings) -> Leases:
    """Make the leases of graphs and documents."""
    return Leases(connect_redis(settings), ttl_ms=int(settings.graph_lease_seconds * 1000))


def build_writer(settings: Settings, graph: str) -> GraphWriter:
    """Make what writes to a graph."""
    return FalkorWriter(open_graph(settings, graph))


def build_judging(settings: Settings, graph: str) -> Judging:
    """Make what decides by rules which entities of a graph are one, outside of any finalize."""
    opened, record = FalkorMerges(open_graph(settings, graph)), open_reader(settings, graph).record()
    width = record.dimension if record else 1
    return Judging(
        merges_of=lambda _: opened,
        judge_of=lambda _, grouped: judge_by_rules(grouped),
        # All of them from the graph: this host may not see the artifact store.
        vectors_of=lambda _, merges, names, __: merges.name_vectors([identity for identity, _ in names], width),
    )


def build_finalizes(settings: Settings) -> FinalizeLedger:
    """Make the finalize records."""
    return FinalizeLedger(connect_redis(settings), ttl_ms=int(settings.finalize_seconds * 1000))


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


def check_parts(settings: Settings) -> None:
    """Raise what is wrong with the configured parts (extractor, ontology, judge, embedder), before they are used."""
    check_extractor(settings, settings.recipe)
    check_judge(settings)
    build_embedder(settings)


def build_recipe(settings: Settings, config: RecipeConfig) -> Recipe:
    """Make what files would be made with, outside of any run: its language models are called without leave."""
    return Recipe(FileReader(config.load), build_extractor(settings, config, itemgetter(0)), config)


def find_artifacts(settings: Settings) -> ArtifactStore | None:
    """Open this host's folder of stage results if there is one; none is made."""
    return FolderArtifactStore(settings.artifacts) if (settings.artifacts / "store").is_dir() else None


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


def _open_gate(calls: Calls, settings: Settings, run: str, models: Sequence[ChatModel]) -> ChatModel:
    return GatedChat(models, calls, settings.calls, run)


def build_resources(settings: Settings) -> Resources:
    """Make everything that the task shells of one process work with; models load on first use."""
    ledger, finalizes = build_ledger(settings), build_finalizes(settings)
    workers = Workers(connect_redis(settings))
    leases = build_leases(settings)
    artifacts = FolderArtifactStore(settings.artifacts)
    embedder = build_embedder(settings)
    graph_of = cache(lambda graph: open_graph(settings, graph))
    writer_of = cache(lambda graph: FalkorWriter(graph_of(graph)))
    curator_of = cache(lambda graph: curate(graph_of(graph)))
    reader_of = cache(lambda graph: open_reader(settings, graph))

    @cache
    def root_of(run: str) -> str:
        return ledger.status(run).root

    calls = build_calls(settings)
    accounts = Accounts(connect_redis(settings), keep_seconds=settings.keep_runs_days * _DAY_SECONDS)
    curation = Curation(
        ledger=ledger,
        finalizes=finalizes,
        leases=leases,
        artifacts=artifacts,
        seals=Seals(artifacts, finalizes),
        embedder=embedder,
        judging=Judging(
            merges_of=cache(lambda graph: FalkorMerges(graph_of(graph))),
            judge_of=Judges(settings, calls, accounts, finalizes, artifacts).open,
            vectors_of=NameVectors(artifacts, finalizes, embedder.model_id, embedder.dimension).read,
        ),
        writer_of=writer_of,
        curator_of=curator_of,
        stores_in_use=lambda: {worker.offer.store for worker in workers.living()},
        page_size=settings.embed.page_size,
        keep_days=settings.keep_superseded_days,
    )

    @lru_cache(maxsize=64)
    def recipe_of(run: str) -> Recipe:
        carried = ledger.recipe(run)
        try:
            config = RecipeConfig.model_validate_json(carried) if carried else settings.recipe
            gate = partial(_open_gate, calls, settings, run)
            return Recipe(FileReader(config.load), build_extractor(settings, config, gate, artifacts), config)
        except (ModelUnavailable, ValidationError) as error:
            raise RecipeUnavailable(f"This worker cannot make the files of run {run}: {error}") from error

    graphs = Graphs(
        writer_of,
        cache(lambda graph: FalkorReviser(graph_of(graph), keep_superseded=settings.keep_superseded_days > 0)),
        cache(lambda graph: FalkorOntologies(graph_of(graph))),
        curation.check_record,
    )
    ingest = IngestStages(
        root_of=root_of,
        files_root=settings.files_root,
        recipe_of=recipe_of,
        artifacts=artifacts,
        graphs=graphs,
    )
    extracting = ExtractStage(
        recipe_of=recipe_of,
        artifacts=artifacts,
        flights=Flights(connect_redis(settings), ttl_ms=int(settings.lease_seconds * 1000)),
        turn_seconds=settings.soft_time_limit / 2,
    )
    writing = WriteStages(Assembler(root_of, recipe_of, artifacts), graphs, leases)
    return Resources(
        ledger=ledger,
        verbs=build_verbs(settings, ledger),
        finalizes=finalizes,
        stages={
            "load": ingest.load,
            "chunk": ingest.chunk,
            "extract": extracting.extract,
            "write": writing.write,
            "discard": writing.discard,
        },
        finalize_steps=curation,
        queries=build_questions(settings, calls, embedder, reader_of),
        jobs=build_jobs(settings, current_app),
        warm_up=lambda: embedder.embed(["a question"]),
        sender=CanvasSender(),
        dispatch=lambda: build_dispatch(settings, workers),
    )
