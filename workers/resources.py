"""Makes what tasks work with: part of the wiring, kept from commands, which need not load readers and models."""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter

from celery import current_app
from pydantic import ValidationError

from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.adapters.falkor import (
    FalkorMerges,
    FalkorOntologies,
    FalkorReviser,
    FalkorWriter,
)
from pipeline.adapters.readers import FileReader
from pipeline.adapters.readers.encoding import decode
from pipeline.config import RecipeConfig
from pipeline.errors import ModelUnavailable
from pipeline.ports import (
    ChatModel,
)
from pipeline.resolve.judging import judge_by_rules
from scheduler.assembling import Assembler
from scheduler.calls import Calls
from scheduler.curation import Curation
from scheduler.embedding import Embedding
from scheduler.errors import RecipeUnavailable
from scheduler.extracting import ExtractStage
from scheduler.flights import Flights
from scheduler.gate import GatedChat
from scheduler.ingest import IngestStages
from scheduler.judging import Judging
from scheduler.name_vectors import NameVectors
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe
from scheduler.seals import Seals
from scheduler.workers import Workers
from scheduler.writing import WriteStages
from tasks.canvas import CanvasSender
from tasks.resources import Resources
from workers.bootstrap import (
    build_accounts,
    build_calls,
    build_dispatch,
    build_finalizes,
    build_leases,
    build_ledger,
    build_verbs,
)
from workers.connections import connect_redis
from workers.extractors import build_extractor
from workers.graphs import curate, open_graph, open_reader
from workers.jobs import build_jobs
from workers.judges import Judges
from workers.parts import build_embedder
from workers.querying import build_questions
from workers.settings import Settings


def build_judging(settings: Settings, graph: str) -> Judging:
    """Make what decides by rules which entities of a graph are one, outside of any finalize."""
    opened, record = FalkorMerges(open_graph(settings, graph)), open_reader(settings, graph).record()
    width = record.dimension if record else 1
    return Judging(
        merges_of=lambda _: opened,
        judge_of=lambda _, grouped: judge_by_rules(grouped),
        # All of them from the graph: this host may not see the artifact store.
        vectors_of=lambda _, merges, names, *__: merges.name_vectors([identity for identity, _ in names], width),
    )


def build_recipe(settings: Settings, config: RecipeConfig) -> Recipe:
    """Make what files would be made with, outside of any run: its language models are called without leave."""
    return Recipe(FileReader(config.load), build_extractor(settings, config, itemgetter(0)), config)


def decode_given(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Make text of bytes in any usual encoding, with warnings of what was lost; raises `LoadError`."""
    decoded = decode(data)
    return decoded.text, decoded.warnings


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
    accounts = build_accounts(settings)
    seals, names = Seals(artifacts, finalizes), NameVectors(artifacts, finalizes, embedder.model_id, embedder.dimension)
    curation = Curation(
        ledger=ledger,
        finalizes=finalizes,
        leases=leases,
        artifacts=artifacts,
        seals=seals,
        embedder=embedder,
        embedding=Embedding(finalizes, seals, leases, embedder, names, curator_of, settings.embed.page_size),
        judging=Judging(
            merges_of=cache(lambda graph: FalkorMerges(graph_of(graph))),
            judge_of=Judges(settings, calls, accounts, finalizes, artifacts).open,
            vectors_of=names.read,
        ),
        writer_of=writer_of,
        curator_of=curator_of,
        stores_in_use=lambda: {worker.offer.store for worker in workers.living()},
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
