"""The real queue, ledger, shells and canvas around stages that do nothing: what kills must not break.

Started as `celery -A skeleton_app worker` by test_kills.py; each stage leaves a mark in Redis.
"""

import time

from celery import signals

from scheduler.finalize import FinalizeLedger, next_phase
from scheduler.ledger import Ledger
from scheduler.records import Outcome
from scheduler.scripts import reaching_ledger
from scheduler.stages import each_file
from scheduler.states import STAGES, FileState
from scheduler.tick import DispatchConfig
from scheduler.verbs import RunVerbs
from tasks.canvas import CanvasSender
from tasks.resources import Resources, bind
from workers.app import create_app
from workers.connections import connect_redis
from workers.settings import load_settings

WORK_SECONDS = 0.004
settings = load_settings()
app = create_app(settings)


class MarkingStages:
    def __init__(self, client):
        self.client = client

    def _pass(self, name):
        def work(run, f):
            # The time that a stage takes, so that kills hit files at work.
            time.sleep(WORK_SECONDS)
            before = {} if name == "load" else f.ref
            return {**before, name: "done"}

        return each_file(work)

    def load(self, run):
        self._pass("load")(run)

    def chunk(self, run):
        self._pass("chunk")(run)

    def extract(self, run):
        self._pass("extract")(run)

    def write(self, run):
        def work(run, f):
            assert set(f.ref) == {"load", "chunk", "extract"}, "a stage was left out"
            with reaching_ledger():
                self.client.hincrby(f"skeleton:{run.batch.run}:writes", f.index, 1)
            return Outcome(FileState.WRITTEN, stage="write")

        each_file(work)(run)


class MarkingSteps:
    def __init__(self, client, finalizes):
        self.client = client
        self.finalizes = finalizes

    def run(self, shard):
        if not self.finalizes.claim(shard):
            return
        time.sleep(WORK_SECONDS)
        self.finalizes.end_shard(shard, {shard.phase.value: 1})

    def advance(self, shard):
        following = next_phase(shard.phase)
        if following is None:
            self.finalizes.end(shard)
            return []
        shards = 6
        if not self.finalizes.move(shard, following, shards, "seal"):
            return []
        return [type(shard)(shard.graph, shard.number, following, i) for i in range(shards)]


def build():
    client = connect_redis(settings)
    finalizes = FinalizeLedger(client, ttl_ms=int(settings.finalize_seconds * 1000))
    ledger = Ledger(
        client,
        lease_ms=int(settings.lease_seconds * 1000),
        queue_ttl_ms=int(settings.queue_seconds * 1000),
        max_starts=settings.max_starts,
    )
    window = DispatchConfig(
        window=12,
        max_files=settings.batch_files,
        max_bytes=settings.batch_bytes,
        spread=4,
        memory_mark=1.0,
        keep_seconds=3600,
    )
    stages = MarkingStages(client)
    return Resources(
        ledger=ledger,
        verbs=RunVerbs(client, ledger),
        finalizes=finalizes,
        stages={name: getattr(stages, name) for name in STAGES},
        finalize_steps=MarkingSteps(client, finalizes),
        queries=None,
        jobs=None,
        warm_up=lambda: None,
        sender=CanvasSender(),
        dispatch=lambda: window,
    )


@signals.worker_init.connect
def bind_resources(**_):
    bind(build)
