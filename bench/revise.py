"""Measure an update: what is extracted and embedded anew, and for how long the graph is held alone, as one JSON line.

    python bench/revise.py [PASSAGES] [OTHER_DOCUMENTS]

A document of PASSAGES (200) beside OTHER_DOCUMENTS (100) gets one changed paragraph and is ingested again; then it
is removed. Stages and finalize run in this process, on servers of their own with data in a temporary folder.
"""

import importlib
import itertools
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from scheduler.finalize import Shard
from scheduler.leases import Access, Leases
from scheduler.records import Batch, NewFile
from scheduler.stages import run_stage
from scheduler.states import STAGES
from scheduler.tick import tick
from tasks.resources import Resources
from workers.app import create_app
from workers.client import Client
from workers.embedded import find_engine
from workers.embedded.servers import broker_server, graph_server
from workers.resources import build_resources
from workers.settings import Settings

GRAPH = "bench"
WIDTH = 384
calls: Counter[str] = Counter()
held: list[float] = []


def extract(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Take every word of the form Name123 for an entity, related to the one before it."""
    calls["extracted"] += 1
    entities, relations, place = [], [], 0
    for word in text.split(" "):
        if word[:1].isupper() and word[-1:].isdigit():
            span = {"start": place, "end": place + len(word)}
            entities.append({"name": word, "type": "Concept", **span, "description": text, "score": 1.0})
        place += len(word) + 1
    for one, other in itertools.pairwise(entities):
        ends = {"span_start": one["start"], "span_end": other["end"]}
        relations.append({"source": one["name"], "target": other["name"], "type": "NEAR", "description": text, **ends})
    return entities, relations


def embed(texts: list[str]) -> list[list[float]]:
    """Give unit vectors along one axis each."""
    calls["embedded"] += len(texts)
    return [[float(i == hash(text) % WIDTH) for i in range(WIDTH)] for text in texts]


class Inline:
    """Does at once what it is to put on a queue."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def send_batch(self, batch: Batch) -> None:
        """Take a batch through its stages."""
        for stage in STAGES:
            if not run_stage(self.resources.ledger, batch, stage, self.resources.stages[stage], "bench"):
                return

    def send_phase(self, shards: list[Shard]) -> None:
        """Run a phase of a finalize, and the next ones."""
        for shard in shards:
            self.resources.finalize_steps.run(shard)
        if following := self.resources.finalize_steps.advance(shards[0]):
            self.send_phase(following)


def paragraph(document: int, number: int) -> str:
    """Write some 60 words about a few of a thousand names."""
    names = " and ".join(f"Name{(document * 131 + number * 17 + k * k) % 1000} saw it" for k in range(12))
    return f"In paragraph {number} of document {document} it is told that {names}, which nobody had thought possible."


def measure_exclusive_grants() -> None:
    """Note how long each exclusive grant lasts, from its beginning to its end."""
    began: dict[str, float] = {}
    take, give = Leases.try_graph, Leases.release_graph

    def try_graph(self: Leases, graph: str, access: Access, holder: str) -> int:
        epoch = take(self, graph, access, holder)
        if epoch and access is Access.EXCLUSIVE:
            began[holder] = time.monotonic()
        return epoch

    def release_graph(self: Leases, graph: str, access: Access, holder: str, *, return_ms: int = 0) -> bool:
        given = give(self, graph, access, holder, return_ms=return_ms)
        if access is Access.EXCLUSIVE and holder in began:
            held.append(time.monotonic() - began.pop(holder))
        return given

    Leases.try_graph, Leases.release_graph = try_graph, release_graph  # type: ignore[method-assign]


def drive(client: Client, resources: Resources, run: str) -> dict[str, object]:
    """Bring a run to its end; gives what it took."""
    models = importlib.import_module("revise")
    models.calls.clear()
    held.clear()
    started = time.monotonic()
    while not client.status(run).over:
        tick(client.ledger, client.verbs, client.finalizes, Inline(resources), resources.dispatch())
    grants = [round(seconds * 1000, 1) for seconds in held]
    return {**models.calls, "exclusive_ms": grants, "seconds": round(time.monotonic() - started, 2)}


def measure(client: Client, resources: Resources, folder: Path, passages: int, others: int) -> dict[str, object]:
    """Ingest, update and remove the document; gives the figures."""
    # Finalize merges in exclusive grants of its own; these names do not merge.
    for document in range(1, others + 1):
        text = "\n\n".join(paragraph(document, number) for number in range(20))
        (folder / f"other{document}.md").write_text(text, "utf-8")
    # A heading for each keeps a passage a paragraph.
    parts = [f"## Part {number}\n\n{paragraph(0, number)}" for number in range(passages)]
    path = folder / "large.md"
    path.write_text("\n\n".join(parts), "utf-8")
    first = drive(client, resources, client.submit([folder], folder, graph=GRAPH))
    parts[passages // 2] = f"## Part {passages // 2}\n\n{paragraph(0, passages)}"
    path.write_text("\n\n".join(parts), "utf-8")
    update = drive(client, resources, client.submit([path], folder, graph=GRAPH))
    removal = [NewFile("large.md", 0, order={"op": "delete"})]
    remove = drive(client, resources, client.submit_files(removal, folder, graph=GRAPH))
    return {"passages": passages, "other_documents": others, "first": first, "update": update, "remove": remove}


def main() -> None:
    """Run the benchmark."""
    passages, others = (int(sys.argv[n]) if len(sys.argv) > n else standard for n, standard in ((1, 200), (2, 100)))
    measure_exclusive_grants()
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        servers = []
        for kind, make in (("broker", broker_server), ("graph", graph_server)):
            (folder / kind).mkdir()
            servers.append(make(folder / kind, find_engine(None, None)))
            servers[-1].start(60)
        try:
            settings = Settings(
                redis_url=SecretStr(servers[0].url),
                falkordb_url=SecretStr(servers[1].url),
                data_dir=folder / "data",
                extractor="revise:extract",
                embed={"embedder": "python:revise:embed"},
            )
            app = create_app(settings)
            app.set_default()
            client = Client(settings, app)
            print(json.dumps(measure(client, build_resources(settings), folder / "files", passages, others)))
        finally:
            for server in servers:
                server.child.kill()


if __name__ == "__main__":
    main()
