"""Measure the ledger's memory: bytes per queued, per finished file, and per run, as one JSON line.

    python bench/ledger.py [FILES]

Starts a Redis of its own (the embedded stack's engine) with its data in a temporary folder.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import redis

from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.reports import SEGMENT
from scheduler.states import FileState
from workers.embedded import find_engine
from workers.embedded.servers import broker_server
from workers.settings import Settings

PATH = "department/2026/quarter-3/report-{:07d}.txt"
DETAILS = {"chunks": 4, "mentions": 170, "relations": 64}


def used(client: redis.Redis) -> int:
    """Tell the memory that data takes."""
    return int(client.info("memory")["used_memory"])


def measure(client: redis.Redis, files: int) -> dict[str, object]:
    """Submit a run and end its files; gives the figures."""
    ledger = Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
    # The first run loads the scripts, which are no part of a run.
    recipe = Settings().recipe
    carried = (recipe.fingerprint, recipe.model_dump_json())
    warm = ledger.open_run("kb", "/files", finalize="never", options={"paths": ["/files"]}, recipe=carried)
    ledger.seal(warm)
    a_run = int(client.memory_usage(f"gm:run:{warm}"))
    before = used(client)
    run = ledger.open_run("kb", "/files", finalize="never", options={})
    started = time.monotonic()
    for first in range(0, files, SEGMENT):
        ledger.append(run, first, [NewFile(PATH.format(i), 6000) for i in range(first, min(files, first + SEGMENT))])
    ledger.seal(run)
    listed = time.monotonic() - started
    queued = used(client) - before
    started = time.monotonic()
    outcome = Outcome(FileState.WRITTEN, stage="write", details=DETAILS)
    while batch := ledger.take(window=8, max_files=20, max_bytes=256_000, spread=1):
        claimed = ledger.claim(batch, "load", "holder", "all-1@host")
        ledger.settle(run, "holder", ended={f.index: outcome for f in claimed})
    worked = time.monotonic() - started
    finished = used(client) - before
    return {
        "files": files,
        "queued_mb": round(queued / 2**20, 1),
        "bytes_per_queued_file": round(queued / files),
        "bytes_per_finished_file": round(finished / files),
        "bytes_per_run": a_run,
        "bytes_per_recipe": int(client.memory_usage("gm:recipes")),
        "listed_files_per_second": round(files / listed),
        "moves_files_per_second": round(files / worked),
    }


def main() -> None:
    """Run the benchmark."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as folder:
        place = Path(folder) / "broker"
        place.mkdir()
        server = broker_server(place, find_engine(None, None))
        server.start(60)
        try:
            client = redis.Redis.from_url(server.url, decode_responses=True, retry=None, protocol=2)
            print(json.dumps(measure(client, files)))
        finally:
            server.child.kill()


if __name__ == "__main__":
    main()
