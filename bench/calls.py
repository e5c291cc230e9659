"""How many calls of a language model a second come about, for each number that may be under way, as a table.

    python bench/calls.py [--passages 1000] [--latency 1.0] [--in-flight 8 32 128] [--concurrency 4]

For each number a stack of its own is started, with its data in a temporary folder, and a scripted server on loopback
that answers each call after the latency (`tests/system/harness/scripted_llm.py`). Real workers ingest a corpus of
distinct passages with the extractor `llm`: two fifths of them in files of one passage, the others in files of about 25.

Before that a few files are ingested, so that the workers have litellm imported and the model is known to answer: that
takes some seconds, once. Calls a second are counted by the server: `all` from the first arrival to the last answer, so
beginning and end are in them, and `middle` between the arrivals of the second tenth and of the last. The shares are of
what so many calls under way make possible: in flight / latency.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pipeline.chunk import chunk
from pipeline.config import ChunkConfig
from pipeline.models import LoadedText
from workers.running import INGEST_QUEUES, System, open_system
from workers.settings import Settings

SERVER = Path(__file__).resolve().parents[1] / "tests" / "system" / "harness" / "scripted_llm.py"
GRAPH = "bench"
SMALL_SHARE = 0.4
LARGE_FILE_PARAGRAPHS = 25
SENTENCES = 20
"""Of a paragraph: about 300 tokens, so that no two share a passage."""
FIRST_PASSAGES = 6
_PLACES = ("London", "Paris", "Vienna", "Lisbon", "Oslo", "Turin", "Delft", "Krakow")
_VERBS = ("met", "wrote to", "worked for", "taught", "argued with", "painted")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one number of calls under way came to."""

    in_flight: int
    calls: int
    most: int
    seconds: float
    middle: float
    """Calls a second without the first and the last tenth."""
    run_seconds: float
    cpu_seconds: float

    def row(self, latency: float) -> str:
        """Spell the row of a Markdown table."""
        rates = (self.calls / self.seconds, self.middle)
        cells = (
            *(f"{self.in_flight:,}", f"{self.calls:,}", f"{self.most:,}"),
            *(f"{rate:.1f} = {rate * latency / self.in_flight:.2f}" for rate in rates),
            *(f"{self.run_seconds:.1f}", f"{self.cpu_seconds:.1f}"),
        )
        return f"| {' | '.join(cells)} |"


def write_corpus(folder: Path, passages: int, first: int = 0) -> int:
    """Write files with at least so many distinct passages; gives how many these are. Other numbers, other passages."""
    folder.mkdir()
    chance, written, config = random.Random(first), 0, ChunkConfig()
    for number in itertools.count(first):
        if written >= passages:
            return written
        paragraphs = 1 if written < SMALL_SHARE * passages else min(LARGE_FILE_PARAGRAPHS, passages - written)
        text = "\n\n".join(_paragraph(chance, number, i) for i in range(paragraphs))
        (folder / f"{number:05}.txt").write_text(text, "utf-8")
        written += len(chunk(LoadedText(text, "text/plain"), config))
    raise AssertionError


def _paragraph(chance: random.Random, number: int, nth: int) -> str:
    """Make prose that no other paragraph has."""
    sentences = []
    for i in range(SENTENCES):
        who, whom = (f"{name}{number}{chr(97 + nth)}" for name in chance.sample(("Ada", "Bela", "Cora", "Dana"), 2))
        sentences.append(f"{who} {chance.choice(_VERBS)} {whom} in {chance.choice(_PLACES)} in {1800 + i}.")
    return " ".join(sentences)


@contextmanager
def scripted_server(latency: float) -> Iterator[str]:
    """Run the server while the block lasts; gives its address."""
    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or not (address := process.stdout.readline().strip()):
                raise SystemExit("The scripted server does not start.")
            yield address
        finally:
            process.terminate()


def read_count(address: str) -> dict[str, Any]:
    """Ask the server what it saw."""
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}/count", timeout=60) as answer:  # noqa: S310 - loopback
        found: dict[str, Any] = json.load(answer)
        return found


def ingest(system: System, what: Path) -> float:
    """Ingest a folder or file without a finalize; gives the seconds that it took."""
    began = time.monotonic()
    run = system.client.submit([what], what if what.is_dir() else what.parent, graph=GRAPH, finalize="never")
    while not (status := system.client.status(run)).over:
        system.supervise()
        system.client.tick()
        time.sleep(0.05)
    if status.counts["written"] != status.total:
        raise SystemExit(f"Not all is written: {status.counts} {status.reason}")
    return time.monotonic() - began


def cpu_seconds() -> float:
    """Sum up the CPU seconds of the workers that live below this process."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        line = " ".join(process.cmdline())
        if "redis-server" not in line and SERVER.name not in line:
            times = process.cpu_times()
            total += times.user + times.system
    return total


def measure(in_flight: int, passages: int, latency: float, concurrency: int) -> Figures:
    """Ingest a corpus with so many calls under way."""
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as place, scripted_server(latency) as address:
        given = {
            "GRAPHMILL_EXTRACTOR": "llm",
            "GRAPHMILL_LLM__MODEL": "openai/scripted",
            "GRAPHMILL_LLM_API_KEY": "none-is-needed",
            "GRAPHMILL_CALLS__API_BASE": address,
            "GRAPHMILL_CALLS__IN_FLIGHT": str(in_flight),
        }
        os.environ.update(given)  # noqa: TID251 - for child processes
        settings = Settings(data_dir=Path(place) / "data", concurrency=concurrency, redis_url=None, falkordb_url=None)
        written = write_corpus(Path(place) / "files", passages)
        write_corpus(Path(place) / "first", FIRST_PASSAGES, passages)
        with open_system(
            settings, lambda line: print(line, file=sys.stderr), roles=("all",), queues=INGEST_QUEUES, may_be_new=True
        ) as system:
            for file in (Path(place) / "first").iterdir():
                ingest(system, file)
            asked, before = read_count(address)["requests"], cpu_seconds()
            run_seconds = ingest(system, Path(place) / "files")
            used = cpu_seconds() - before
        seen = read_count(address)
    arrivals = sorted(seen["arrivals"])[asked:]
    if len(arrivals) != written:
        print(f"Careful: {len(arrivals)} calls for {written} passages.", file=sys.stderr)
    tenth = len(arrivals) // 10
    return Figures(
        in_flight=in_flight,
        calls=len(arrivals),
        most=seen["most_in_flight"],
        seconds=arrivals[-1] + latency - arrivals[0],
        middle=(len(arrivals) - 2 * tenth) / (arrivals[-tenth - 1] - arrivals[tenth]),
        run_seconds=run_seconds,
        cpu_seconds=used,
    )


def main() -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=1_000)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--concurrency", type=int, default=4, help="worker processes, that mostly wait")
    given = parser.parse_args()
    print("| may be under way | calls | most at once | calls/s, all | calls/s, middle | run, s | workers' CPU s |")
    print(f"|{' --- |' * 7}")
    for in_flight in given.in_flight:
        figures = measure(in_flight, given.passages, given.latency, given.concurrency)
        print(figures.row(given.latency), flush=True)


if __name__ == "__main__":
    main()
