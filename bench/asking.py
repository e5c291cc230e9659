"""Measure questions through the queue: one JSON line for each size of graph and load.

    python bench/asking.py [PASSAGES ...]

Graphs of so many PASSAGES (1000 10000 50000) are written by the graph's own writer and get vectors of no cost; then
clients of one process ask, 1 and 16 at once, on an idle stack and beside ingests of one folder after the other into
the same graph. The stack is an embedded one with its data in a temporary folder. `queue` is what a question waited
for a process to take it up, by the records; `around` is all that is neither that nor the work itself: to submit, to
be told, to fetch.
"""

import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.adapters.falkor import FalkorCurator, FalkorWriter
from pipeline.embed import embed_distinct, text_hash
from pipeline.ids import content_hash, file_document_id
from pipeline.models import Chunk, Document, Extraction, GraphRecord, Mention
from pipeline.ontology import DEFAULT_ONTOLOGY
from workers.graphs import open_graph
from workers.parts import build_embedder
from workers.running import INGEST_QUEUES, INGEST_ROLES, QUERY_QUEUES, System, open_system
from workers.settings import Settings

SIZES = (1_000, 10_000, 50_000)
PASSAGES_OF_A_DOCUMENT = 10
WARM_UP, QUESTIONS = 20, 300
FILES_BESIDE = 40
NAMES = 2_000
WIDTH = 384
_TABLE = np.random.default_rng(7).standard_normal((4_096, WIDTH)).astype(np.float32)


def embed(texts: list[str]) -> list[list[float]]:
    """Give the sum of one random vector a word, of unit length."""
    vectors = []
    for text in texts:
        # `hash` differs between processes.
        rows = [int.from_bytes(word.encode()[-4:], "big") * 2654435761 % len(_TABLE) for word in text.split()] or [0]
        vector = _TABLE[rows].sum(axis=0)
        vectors.append((vector / np.linalg.norm(vector)).tolist())
    return vectors


def extract(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Take every word of the form Name123 for an entity."""
    entities, place = [], 0
    for word in text.split(" "):
        if word.startswith("Name"):
            span = {"start": place, "end": place + len(word)}
            entities.append({"name": word, "type": "Concept", **span, "description": text[:100], "score": 1.0})
        place += len(word) + 1
    return entities, []


def write_text(rng: random.Random, number: int) -> str:
    """Write some 60 words with three names."""
    words = " ".join(f"word{rng.randrange(20_000)}" for _ in range(50))
    names = " saw ".join(f"Name{rng.randrange(NAMES)}" for _ in range(3))
    return f"{names} in part {number}: {words}."


def make_document(rng: random.Random, number: int) -> Document:
    """Make a document of ten passages."""
    texts = [write_text(rng, number * PASSAGES_OF_A_DOCUMENT + index) for index in range(PASSAGES_OF_A_DOCUMENT)]
    chunks, extractions, place = [], [], 0
    for index, text in enumerate(texts):
        chunks.append(Chunk(index, place, place + len(text), text))
        mentions = [Mention(e["name"], e["type"], e["start"], e["end"], e["description"]) for e in extract(text)[0]]
        extractions.append(Extraction(tuple(mentions), ()))
        place += len(text) + 2
    whole, path = "\n\n".join(texts), f"part{number:06}.txt"
    return Document(
        id=file_document_id(path),
        path=path,
        content_hash=content_hash(whole),
        source_hash=content_hash(whole),
        fingerprint="bench",
        media_type="text/plain",
        chunks=tuple(chunks),
        extractions=tuple(extractions),
    )


def fill(settings: Settings, name: str, passages: int) -> None:
    """Write a graph, and give all in it vectors and indexes."""
    graph, embedder, rng = open_graph(settings, name), build_embedder(settings), random.Random(passages)
    writer, curator = FalkorWriter(graph), FalkorCurator(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    for numbers in batched(range(passages // PASSAGES_OF_A_DOCUMENT), 50):
        writer.write([make_document(rng, number) for number in numbers], 1, lambda: None)
    curator.record_embedder(GraphRecord(embedder.model_id, embedder.dimension, ""))
    writer.build_search_indexes(embedder.dimension, lambda: None)
    for kind in ("chunk", "entity"):
        while things := curator.pending(kind, -1, 1_000):
            texts = curator.texts(kind, [thing.id for thing in things])
            vectors = embed_distinct(embedder, [text.text for text in texts])
            rows = [(text.id, text_hash(text.text), vector) for text, vector in zip(texts, vectors, strict=True)]
            curator.set_vectors(kind, rows, 1)
            curator.clear_pending(things, 1)
    graph.close()


class Ingest:
    """Folders of new files that are ingested into a graph, one after the other."""

    def __init__(self, system: System, graph: str, root: Path) -> None:
        self.files = 0
        self._system, self._graph, self._root = system, graph, root
        self._over = threading.Event()

    def drive(self) -> None:
        """Ingest until it is stopped; the last folder to its end."""
        client, rng = self._system.client, random.Random()
        while not self._over.is_set():
            folder = Path(tempfile.mkdtemp(dir=self._root))
            for number in range(FILES_BESIDE):
                text = "\n\n".join(write_text(rng, number) for _ in range(PASSAGES_OF_A_DOCUMENT))
                (folder / f"{number}.txt").write_text(text, "utf-8")
            run = client.submit([folder], self._root, graph=self._graph, finalize="never")
            while not (status := client.status(run)).over:
                client.tick()
                self._over.wait(0.05)
            if status.counts["written"] != FILES_BESIDE:
                raise SystemExit(f"{status.counts} instead of {FILES_BESIDE} written")
            self.files += FILES_BESIDE

    def stop(self) -> None:
        """Begin no more."""
        self._over.set()


@contextmanager
def beside(system: System, graph: str, root: Path, *, wanted: bool) -> Iterator[Ingest]:
    """Ingest into the graph while the block runs, where that is wanted."""
    ingest = Ingest(system, graph, root)
    with ThreadPoolExecutor(1) as pool:
        driven = pool.submit(ingest.drive) if wanted else None
        try:
            yield ingest
        finally:
            ingest.stop()
    if driven is not None:
        driven.result()


def ask(system: System, graph: str, number: int) -> dict[str, float]:
    """Ask one question; gives its times in milliseconds."""
    rng = random.Random(number)
    question = (
        f"What does Name{rng.randrange(NAMES)} know of word{rng.randrange(20_000)} and Name{rng.randrange(NAMES)}?"
    )
    began = time.perf_counter()
    reply = system.client.retrieve(question, graph=graph)
    total = (time.perf_counter() - began) * 1000
    if not reply["evidence"]:
        raise SystemExit("no evidence was found")
    queue, service = reply["queue_ms"], reply["service_ms"]
    return {"total": total, "queue": queue, "service": service, "around": total - queue - service}


def measure(system: System, graph: str, clients: int) -> dict[str, object]:
    """Ask many questions by so many clients at once."""
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda number: ask(system, graph, number), range(WARM_UP)))
        began = time.monotonic()
        times = list(pool.map(lambda number: ask(system, graph, number), range(QUESTIONS)))
        took = time.monotonic() - began
    spread = {name: spell([one[name] for one in times]) for name in times[0]}
    return {"clients": clients, "per_second": round(QUESTIONS / took, 1), **spread}


def spell(values: Sequence[float]) -> dict[str, float]:
    """Give median and 95th percentile."""
    cuts = statistics.quantiles(values, n=20)
    return {"p50": round(cuts[9], 1), "p95": round(cuts[18], 1)}


def main() -> None:
    """Run the benchmark."""
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent)  # noqa: TID251 - for child processes
    os.environ["GRAPHMILL_EXTRACTOR"] = "asking:extract"  # noqa: TID251
    os.environ["GRAPHMILL_EMBED__EMBEDDER"] = "python:asking:embed"  # noqa: TID251
    queues = (*INGEST_QUEUES, *QUERY_QUEUES)
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as folder:
        settings = Settings(data_dir=Path(folder) / "data", redis_url=None, falkordb_url=None)
        (files := Path(folder) / "files").mkdir()
        with open_system(
            settings, lambda line: print(line, file=sys.stderr), roles=INGEST_ROLES, queues=queues, may_be_new=True
        ) as system:
            for size in sizes:
                graph = f"bench{size}"
                began = time.monotonic()
                fill(system.settings, graph, size)
                print(f"{size} passages written in {time.monotonic() - began:.0f} s", file=sys.stderr)
                for wanted in (False, True):
                    for clients in (1, 16):
                        with beside(system, graph, files, wanted=wanted) as ingest:
                            figures = measure(system, graph, clients)
                        row = {"passages": size, "beside_ingest": wanted, **figures, "files_ingested": ingest.files}
                        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
