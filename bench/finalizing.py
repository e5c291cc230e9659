"""What a finalize of a graph costs, and one of the same graph with one in a hundred entities new, as a JSON line.

    PYTHONPATH=bench GRAPHMILL_EXTRACTOR=finalizing:extract python bench/finalizing.py [ENTITIES]

ENTITIES (10,000) of distinct invented names come into a graph, ten to a passage, each related to the next; then a
hundredth as many more. An embedded stack with real workers and the bundled embedder does it, with its data in a
temporary folder; the extractor is this file's own, of no cost. Seconds are those of each run's finalize, from its last
write to its end.
"""

import json
import random
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from scheduler.records import RunStatus
from workers.running import INGEST_QUEUES, INGEST_ROLES, System, open_system
from workers.settings import Settings

GRAPH = "bench"
OF_PASSAGE, OF_FILE = 10, 100
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "or", "un")]


def extract(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Take what stands between semicolons for the names of persons, each related to the next."""
    names = [part.strip() for part in text.split(";") if part.strip()]
    entities = [{"name": name, "type": "Person", "description": f"{name} is named."} for name in names]
    related = [
        {"source": a, "target": b, "type": "NEAR", "description": f"{a} is near {b}."} for a, b in pairwise(names)
    ]
    return entities, related


def write_files(folder: Path, names: list[str], first: int) -> None:
    """Write names to files, a passage a heading."""
    for start in range(0, len(names), OF_FILE):
        some = names[start : start + OF_FILE]
        parts = ["; ".join(some[n : n + OF_PASSAGE]) + ";" for n in range(0, len(some), OF_PASSAGE)]
        (folder / f"{first + start:07}.md").write_text("".join(f"# .\n\n{part}\n\n" for part in parts), "utf-8")


def invent(count: int) -> list[str]:
    """Invent distinct names of two words."""
    chance = random.Random(7)
    found: dict[str, None] = {}
    while len(found) < count:
        words = ("".join(chance.sample(_SYLLABLES, 3)).capitalize() for _ in range(2))
        found[" ".join(words)] = None
    return list(found)


def ingest(system: System, folder: Path) -> RunStatus:
    """Ingest the folder and wait for its finalize."""
    run = system.client.submit([folder], folder, graph=GRAPH)
    while not (status := system.client.status(run)).over:
        system.client.tick()
        system.supervise()
        time.sleep(0.1)
    return status


def main() -> None:
    """Run the benchmark."""
    entities = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    names = invent(entities + entities // 100)
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as name:
        folder = Path(name) / "files"
        folder.mkdir()
        settings = Settings(data_dir=Path(name) / "data", graph=GRAPH)
        with open_system(settings, print, roles=INGEST_ROLES, queues=INGEST_QUEUES, may_be_new=True) as system:
            seconds, reports = [], []
            for first, some in ((0, names[:entities]), (entities, names[entities:])):
                write_files(folder, some, first)
                status = ingest(system, folder)
                seconds.append(round((status.ended_at or 0) - (status.ingested_at or 0), 1))
                reports.append(system.client.finalize_status(GRAPH).report)
            told = {"entities": entities, "full_s": seconds[0], "one_percent_s": seconds[1]}
            print(json.dumps({**told, "share": round(seconds[1] / seconds[0], 3), "reports": reports}))


if __name__ == "__main__":
    main()
