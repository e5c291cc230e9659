"""Measure what an ingest waits for beside a long run of updates, as one JSON line.

    python bench/beside.py [UPDATES]

UPDATES (2,000) small files are ingested, changed, and ingested again; meanwhile folders of 20 new files come one after
the other, as they did before, when nothing else was to be done. Real workers on an embedded stack with its data in a
temporary folder; the models cost nothing (`bench/revise.py`).
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from scheduler.records import RunStatus
from workers.running import INGEST_QUEUES, System, open_system
from workers.settings import Settings

GRAPH = "bench"
FILES = 20
ALONE = 5
PAUSE_SECONDS = 2.0


def write_files(folder: Path, count: int, version: int) -> Path:
    """Write small files that share every fiftieth name."""
    for i in range(count):
        path = folder / f"{i // 1000:03}" / f"{i:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Shared{i % 50} knows Own{folder.name[:1]}{i} since edition {version}.", "utf-8")
    return folder


def submit(system: System, folder: Path, root: Path) -> str:
    """Make a run of a folder, without a finalize at its end."""
    return system.client.submit([folder], root, graph=GRAPH, finalize="never")


def follow(system: System, run: str) -> RunStatus:
    """Drive everything that is to be done until a run has ended."""
    while not (status := system.client.status(run)).over:
        system.supervise()
        system.client.tick()
        time.sleep(0.05)
    return status


def ingest_small(system: System, root: Path, number: int) -> float:
    """Ingest a folder of new files; gives the seconds that it took."""
    folder = write_files(root / f"small{number}", FILES, 1)
    began = time.monotonic()
    status = follow(system, submit(system, folder, root))
    if status.counts["written"] != FILES:
        raise SystemExit(f"{status.counts} instead of {FILES} written")
    return time.monotonic() - began


def measure(system: System, root: Path, updates: int) -> dict[str, object]:
    """Ingest small folders alone, then beside the updates."""
    many = write_files(root / "many", updates, 1)
    began = time.monotonic()
    follow(system, submit(system, many, root))
    first = time.monotonic() - began
    alone = [ingest_small(system, root, i) for i in range(ALONE)]
    write_files(many, updates, 2)
    began = time.monotonic()
    run = submit(system, many, root)
    beside: list[float] = []
    while not system.client.status(run).over:
        seconds = ingest_small(system, root, ALONE + len(beside))
        if system.client.status(run).over:
            break
        beside.append(seconds)
        paused = time.monotonic()
        while time.monotonic() - paused < PAUSE_SECONDS:
            system.supervise()
            system.client.tick()
            time.sleep(0.05)
    status = follow(system, run)
    took = time.monotonic() - began
    return {
        "updates": status.counts["updated"],
        "updates_per_second": round(updates / took, 1),
        "ingested_per_second": round(updates / first, 1),
        "small_ingests_beside": len(beside),
        "seconds_alone": round(statistics.median(alone), 2),
        "seconds_beside": {"median": round(statistics.median(beside), 2), "longest": round(max(beside), 2)},
        "times_longer": round(statistics.median(beside) / statistics.median(alone), 1),
    }


def main() -> None:
    """Run the benchmark."""
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent)  # noqa: TID251 - for child processes
    os.environ["GRAPHMILL_EXTRACTOR"] = "revise:extract"  # noqa: TID251
    os.environ["GRAPHMILL_EMBED__EMBEDDER"] = "python:revise:embed"  # noqa: TID251
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as folder:
        settings = Settings(data_dir=Path(folder) / "data", redis_url=None, falkordb_url=None)
        (root := Path(folder) / "files").mkdir()
        with open_system(
            settings, lambda line: print(line, file=sys.stderr), roles=("all",), queues=INGEST_QUEUES, may_be_new=True
        ) as system:
            figures = measure(system, root, updates)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
