"""The work of a finalize, phase by phase, over the graph's curator and the embedder.

Only pending things are looked at. Each phase's parts are sealed as artifacts before they are sent,
so that a part that runs twice does the same thing twice. Rules: the architecture's "Finalize".
"""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import batched

import structlog

from pipeline.errors import (
    ArtifactMissing,
    ArtifactsUnavailable,
    HaltsRun,
    LeaseLost,
    PermanentError,
    TransientError,
    is_time_limit,
)
from pipeline.models import GraphRecord, Pending, StoredDocument
from pipeline.ports import ArtifactStore, Embedder, GraphCurator, GraphWriter
from pipeline.resolve.resolution import Plan
from scheduler.applying import Applying
from scheduler.embedding import Embedding
from scheduler.errors import ShardOver
from scheduler.finalize import FinalizeLedger, Phase, Shard, next_phase
from scheduler.judging import Judging
from scheduler.leases import Access, GraphLease, Leases
from scheduler.ledger import Ledger
from scheduler.plan_report import PlanReport, report_plan
from scheduler.records import FileReport, begun
from scheduler.seals import SEALED_KINDS, Seals
from scheduler.stages import defer_seconds
from scheduler.states import FileState
from scheduler.superseded import does_something, leave_newest, wants_it

_log = structlog.get_logger(__name__)

PAGE = 500
"""Pending things looked up or derived at once."""
RETRY_SECONDS = 1.0
BLOCK = 20_000
"""Suspected files that are held at once; more of them are looked into block by block."""
_LOST = "a sealed part is missing in the artifact store; `graphmill finalize` begins anew"
_CHANGING = (FileState.WRITTEN, FileState.UPDATED, FileState.REMOVED)


@dataclass(slots=True)
class Curation:
    """What the phases work with; one per process."""

    ledger: Ledger
    finalizes: FinalizeLedger
    leases: Leases
    artifacts: ArtifactStore
    seals: Seals
    embedder: Embedder
    embedding: Embedding
    judging: Judging
    writer_of: Callable[[str], GraphWriter]
    curator_of: Callable[[str], GraphCurator]
    stores_in_use: Callable[[], set[str]]
    """Ids of the artifact folders that living workers use."""
    keep_days: int
    """For how long superseded passages are kept."""

    def run(self, shard: Shard) -> None:
        """Do one part; a transient error makes it due again soon, any other ends the finalize with its reason."""
        if not self.finalizes.claim(shard):
            return
        phases = {
            Phase.PLAN: self._plan,
            Phase.NAMES: self._names,
            Phase.JUDGE: self._judge,
            Phase.MERGE: self._merge,
            Phase.DERIVE: self._derive,
            Phase.FACTS: self._derive,
            Phase.INDEX: self._index,
        }
        began = time.monotonic()
        try:
            report = phases[shard.phase](shard)
        except ShardOver as error:
            _log.info("finalize_shard_over", graph=shard.graph, reason=str(error))
        except ArtifactMissing:
            self.finalizes.end(shard, _LOST)
        except LeaseLost as error:
            # Where Redis lost its counter the fence is ahead of every grant: go past it.
            access = Access.EXCLUSIVE if shard.phase is Phase.MERGE else Access.SHARED
            self.leases.reseed(shard.graph, self.writer_of(shard.graph).fence(), access)
            self._wait(shard, error)
        except HaltsRun as error:
            # Of a judge that is a language model: a person must act, and then finalize again.
            self.finalizes.end(shard, str(error))
        except TransientError as error:
            self._wait(shard, error, defer_seconds(error, 0) if error.retry_after else RETRY_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever it was, the runs that wait must learn of it
            if is_time_limit(error):
                # Only its process's time is over; an index may take hours to build.
                self._wait(shard, error)
                return
            _log.exception("finalize_failed", graph=shard.graph, phase=shard.phase.value)
            self.finalizes.end(shard, f"{shard.phase.value}: {error}")
        else:
            # Of the try that got it done alone.
            took = round((time.monotonic() - began) * 1000)
            work = "embed" if shard.phase is Phase.JUDGE and shard.shard else shard.phase.value
            self.finalizes.end_shard(shard, {**report, f"{work}_ms": took})

    def _wait(self, shard: Shard, error: Exception, seconds: float = RETRY_SECONDS) -> None:
        _log.warning("finalize_shard_waits", graph=shard.graph, phase=shard.phase.value, reason=str(error))
        self.finalizes.touch(shard, again_after=seconds)

    def advance(self, shard: Shard) -> list[Shard]:
        """Once a phase is over, seal the next one and give its parts to the one caller that moved it."""
        following = next_phase(shard.phase)
        try:
            if following is None:
                self.finalizes.end(shard)
                return []
            if self.finalizes.status(shard.graph).left:
                return []
            seal, count = self.seals.seal(shard, following, self.curator_of(shard.graph))
            if self.finalizes.move(shard, following, count, seal):
                return [Shard(shard.graph, shard.number, following, part) for part in range(count)]
        except ArtifactMissing:
            self.finalizes.end(shard, _LOST)
        except TransientError as error:
            # The record's deadline passes, and the tick sends this step again.
            _log.warning("finalize_step_waits", graph=shard.graph, phase=shard.phase.value, reason=str(error))
        except PermanentError as error:
            self.finalizes.end(shard, f"{shard.phase.value}: {error}")
        return []

    # The phases

    def _plan(self, shard: Shard) -> dict[str, int]:
        """Send files round again that the graph lost, and prepare the graph for what follows."""
        writer = self.writer_of(shard.graph)
        writer.fence()  # What follows would make an empty graph of one that was dropped.
        self.check_record(shard.graph)
        with ThreadPoolExecutor(1) as beside:
            durable = beside.submit(writer.make_durable)
            # Before the first vectors come: each is then put in place while the next ones are computed.
            writer.build_search_indexes(self.embedder.dimension, lambda: self._touched(shard))
        durable.result()
        return {"files_lost": self._reopen_lost(shard)}

    def _names(self, shard: Shard) -> dict[str, int]:
        pages = _pages(self.seals.part(shard, shard.phase, shard.shard)["entity"])
        return {"names_embedded": self.embedding.embed_names(shard, pages)}

    def _judge(self, shard: Shard) -> dict[str, int]:
        """Seal which entities are one, in the first part; the others see to names and passages meanwhile.

        Where no entity is pending, nothing is read.
        """
        if shard.shard:
            return self._embed_beside(shard)
        if not self.seals.has_entities(shard):
            self.seals.seal_plan(shard, Plan(), PlanReport(), (), {})
            return {"merges_planned": 0}
        fresh = self.embedding.find_fresh(shard)
        decision = self.judging.decide(shard.graph, lambda: self._touched(shard), fresh)
        report = report_plan(decision.plan, self.judging.merges_of(shard.graph))
        self.seals.seal_plan(shard, decision.plan, report, decision.verdicts, decision.told)
        return {"merges_planned": len(decision.plan.merges), **decision.counts}

    def _embed_beside(self, shard: Shard) -> dict[str, int]:
        """Store the vectors that one part of the phase before has made, and embed passages."""
        part = shard.shard - 1
        if part < self.seals.parts(shard, Phase.NAMES):
            self.embedding.store_names(shard, part, _pages(self.seals.part(shard, Phase.NAMES, part)["entity"]))
        passages = _pages(self.seals.part(shard, shard.phase, shard.shard)["chunk"])
        return {"chunk_embedded": self.embedding.embed(shard, "chunk", passages)}

    def _reopen_lost(self, shard: Shard) -> int:
        """Compare what the served runs wrote with what the graph holds: a crash may have cost its last second."""
        writer = self.writer_of(shard.graph)
        lost = 0
        for run in self.finalizes.serving(shard.graph):
            suspects: list[FileReport] = []
            for page in batched(self.ledger.files(run, _CHANGING), PAGE):
                stored = writer.stored([report.document for report in page])
                suspects += [r for r in page if _is_undone(run, r.state, stored.get(r.document))]
                if len(suspects) >= BLOCK:
                    lost += self._reopen_newest(run, suspects)
                    suspects = []
                self.finalizes.touch(shard)
            lost += self._reopen_newest(run, suspects)
            self.finalizes.touch(shard)
        return lost

    def _reopen_newest(self, run: str, suspects: Sequence[FileReport]) -> int:
        """Reopen files whose work is undone, but for those that a newer run has undone, or is about to."""
        if not suspects:
            return 0
        newer = self.ledger.newer_runs(run)
        lost = 0
        for state in _CHANGING:
            undone = [report for report in suspects if report.state == state]
            counts = wants_it if state is FileState.REMOVED else does_something
            if left := leave_newest(self.ledger, newer, (report.document for report in undone), counts):
                lost += self.ledger.reopen(run, [r.index for r in undone if r.document in left], state)
        return lost

    def _merge(self, shard: Shard) -> dict[str, int]:
        graph, leases = shard.graph, self.leases
        curator, writer, merges = self.curator_of(graph), self.writer_of(graph), self.judging.merges_of(graph)
        applying = Applying(graph, curator, writer, merges, leases, lambda: self._touched(shard))
        separated = applying.separate(self.seals.list_rows(shard))
        applied = applying.apply(self.seals.plan(shard))
        self.seals.seal_outdated(shard, {member for pair in applied.outdated for member in pair})
        return {"merged": applied.merged, "merges_outdated": len(applied.outdated), "separated": separated}

    def _derive(self, shard: Shard) -> dict[str, int]:
        """Derive the texts that a part lists, of entities or of relations, and embed those that are others now."""
        curator = self.curator_of(shard.graph)
        (kind,) = SEALED_KINDS[shard.phase]
        derive = curator.derive_entities if kind == "entity" else curator.derive_relations
        changed = 0

        def derive_pages() -> Iterator[list[str]]:
            nonlocal changed
            for ids in _pages(self.seals.part(shard, shard.phase, shard.shard)[kind]):
                with self._grant(shard, Access.SHARED) as lease:
                    changed += derive(ids, lease.epoch)
                yield ids

        embedded = self.embedding.embed(shard, kind, derive_pages())
        return {f"{kind}_derived": changed, f"{kind}_embedded": embedded}

    def _index(self, shard: Shard) -> dict[str, int]:
        """Await the search indexes, then forget what was pending, unless it is pending anew, or held.

        What is held stays pending, so that the next finalize asks about it again.
        """
        curator, writer = self.curator_of(shard.graph), self.writer_of(shard.graph)
        writer.build_search_indexes(self.embedder.dimension, lambda: self._touched(shard))
        cleared = 0
        for done in self.seals.done(shard):
            for page in batched(done, PAGE):
                with self._grant(shard, Access.SHARED) as lease:
                    cleared += curator.clear_pending(page, lease.epoch)
            self.finalizes.touch(shard)
        with self._grant(shard, Access.SHARED) as lease:
            forgotten = self.judging.merges_of(shard.graph).forget_verdicts(lease.epoch)
        expired = self._expire_superseded(shard)
        return {"pending_cleared": cleared, "verdicts_forgotten": forgotten, "superseded_forgotten": expired}

    def _expire_superseded(self, shard: Shard) -> int:
        curator, expired = self.curator_of(shard.graph), 0
        while True:
            with self._grant(shard, Access.SHARED) as lease:
                went = curator.forget_superseded(self.keep_days, lease.epoch)
            self.finalizes.touch(shard)
            if not went:
                return expired
            expired += went

    def _touched(self, shard: Shard) -> None:
        self.finalizes.touch(shard)

    def _grant(self, shard: Shard, access: Access) -> GraphLease:
        return GraphLease.hold(self.leases, shard.graph, access, secrets.token_hex(8))

    def check_record(self, graph: str) -> None:
        """Refuse to work on a graph that was made with another embedder, or with a folder that only we see.

        A lost artifact folder costs nothing but time, so a new one is recorded; but two folders in use at
        once would send files to and fro between hosts for ever. Raises `EmbedderMismatch`,
        `ArtifactsUnavailable`.
        """
        mine = GraphRecord(self.embedder.model_id, self.embedder.dimension, self.artifacts.store_id)
        curator = self.curator_of(graph)
        stored = curator.record_embedder(mine)
        if stored.store_id != mine.store_id:
            if stored.store_id in self.stores_in_use():
                raise ArtifactsUnavailable(
                    "This worker's artifact folder is not the one that other workers use: "
                    "mount the same folder on all hosts (GRAPHMILL_ARTIFACTS_DIR)."
                )
            curator.record_store(mine.store_id)


def _is_undone(run: str, state: str, stored: StoredDocument | None) -> bool:
    """Tell whether the graph is as before a run's work on a document; newer runs have later names."""
    before = stored is not None and begun(stored.run_id) < begun(run)
    return before if state == FileState.REMOVED else stored is None or before


def _pages(things: Sequence[Pending]) -> Iterator[list[str]]:
    """Yield the ids of what is listed, page by page."""
    for page in batched(things, PAGE):
        yield [one.id for one in page]
