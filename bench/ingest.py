"""Measure a whole ingest: documents/s, CPU seconds of workers and servers, peak memory, as one JSON line.

    python bench/ingest.py FOLDER [--models STUBS.py] [--concurrency N]

With `--models` the functions `extract` and `embed` of a Python file stand in for the models, so that
what is measured is the pipeline; without it the offline default parts do the work. A stub file that
lies at ../shared/bench/stub_models.py beside the checkout is taken by itself; `--real` says no.
Everything runs on the embedded stack with its data in a temporary folder.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psutil

from scheduler.states import FileState, RunState
from workers.running import INGEST_QUEUES, System, open_system
from workers.settings import Settings

STUBS = Path(__file__).parents[2] / "shared" / "bench" / "stub_models.py"
SAMPLE_SECONDS = 0.25
PHASE_FIGURES = ("seconds", "workers_cpu", "servers_cpu")


@dataclass
class Usage:
    """CPU seconds and memory of the processes below this one, sampled while they live."""

    seconds: dict[int, tuple[str, float]] = field(default_factory=dict)
    peak_mb: dict[str, float] = field(default_factory=dict)

    def sample(self) -> None:
        """Look once."""
        memory: dict[str, float] = {}
        for process in psutil.Process().children(recursive=True):
            try:
                with process.oneshot():
                    kind = "servers" if "redis-server" in process.name() else "workers"
                    times = process.cpu_times()
                    self.seconds[process.pid] = (kind, times.user + times.system)
                    memory[kind] = memory.get(kind, 0.0) + process.memory_info().rss / 2**20
            except psutil.Error:
                continue
        for kind, value in memory.items():
            self.peak_mb[kind] = max(self.peak_mb.get(kind, 0.0), value)

    def total(self, kind: str) -> float:
        """Sum up the CPU seconds of a kind of process."""
        return sum(seconds for of, seconds in self.seconds.values() if of == kind)


def time_loop() -> float:
    """Time a fixed loop on one core, in seconds: machines differ by it, and so do one machine's hours."""
    began, total = time.process_time(), 0
    for number in range(5_000_000):
        total += number * number  # something that no interpreter leaves out
    return time.process_time() - began


def measure(system: System, folder: Path, usage: Usage) -> dict[str, object]:
    """Ingest the folder and finalize; gives the figures."""
    before = {kind: usage.total(kind) for kind in ("workers", "servers")}
    started = time.monotonic()
    run = system.client.submit([folder], folder, graph="bench", sealed=system.client.tick)
    phases: dict[str, tuple[float, float, float]] = {}
    """By phase, when it began: seconds, and CPU seconds of workers and servers until then."""
    ingested = None
    while True:
        system.supervise()
        system.client.tick()
        status = system.client.status(run)
        now = time.monotonic() - started
        if status.state is not RunState.RUNNING and ingested is None:
            ingested = now
        if status.state is RunState.FINALIZING:
            phase = system.client.finalize_status("bench").phase
            if phase not in phases:
                usage.sample()
                phases[phase] = (now, usage.total("workers"), usage.total("servers"))
        if status.state is RunState.DONE:
            break
        time.sleep(0.2)
    both = time.monotonic() - started
    usage.sample()
    for report in system.client.files(run):
        if report.state != FileState.WRITTEN:
            print(f"{report.relative}: {report.state} ({report.code}) {report.message}", file=sys.stderr)
    marks = [*phases.values(), (both, usage.total("workers"), usage.total("servers"))]
    spans = pairwise(marks)
    return {
        "documents": status.total,
        "counts": {state: n for state, n in status.counts.items() if n},
        "seconds": {"ingest": round(ingested or both, 2), "finalize": round(both - (ingested or both), 2)},
        "finalize_phases": {
            phase: {name: round(end - begin, 2) for name, begin, end in zip(PHASE_FIGURES, *span, strict=True)}
            for phase, span in zip(phases, spans, strict=True)
        },
        "documents_per_second": {
            "ingest": round(status.total / (ingested or both), 1),
            "finalize": round(status.total / max(both - (ingested or both), 1e-9), 1),
            "both": round(status.total / both, 1),
        },
        "cpu_seconds": {kind: round(usage.total(kind) - before[kind], 2) for kind in ("workers", "servers")}
        | {"client": round(resource.getrusage(resource.RUSAGE_SELF).ru_utime, 2)},
        "peak_mb": {kind: round(value) for kind, value in usage.peak_mb.items()},
        "report": system.client.finalize_status("bench").report,
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, default=STUBS if STUBS.exists() else None)
    parser.add_argument("--real", action="store_true", help="use the offline default parts")
    parser.add_argument("--keep", type=Path, help="folder for the data and logs, kept afterwards")
    parser.add_argument("--concurrency", type=int, default=2)
    arguments = parser.parse_args()
    overrides: dict[str, object] = {"concurrency": arguments.concurrency}
    models = None if arguments.real else arguments.models
    if models is not None:
        # The workers find the file by its folder.
        os.environ["PYTHONPATH"] = str(models.resolve().parent)  # noqa: TID251 - for child processes
        sys.path.insert(0, str(models.resolve().parent))
        overrides |= {"extractor": f"{models.stem}:extract", "embed": {"embedder": f"python:{models.stem}:embed"}}
        os.environ["GRAPHMILL_EXTRACTOR"] = f"{models.stem}:extract"  # noqa: TID251
        os.environ["GRAPHMILL_EMBED__EMBEDDER"] = f"python:{models.stem}:embed"  # noqa: TID251
    with tempfile.TemporaryDirectory(prefix="graphmill-bench-") as data:
        data_dir = arguments.keep or Path(data)
        settings = Settings(**overrides, data_dir=data_dir, redis_url=None, falkordb_url=None)
        usage, over = Usage(), threading.Event()

        def watch() -> None:
            while not over.wait(SAMPLE_SECONDS):
                usage.sample()

        with open_system(
            settings, lambda line: print(line, file=sys.stderr), roles=("all",), queues=INGEST_QUEUES, may_be_new=True
        ) as system:
            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            figures = measure(system, arguments.folder.resolve(), usage)
            over.set()
            watcher.join()
    described = {"models": models.stem if models else "default", "loop_seconds": round(time_loop(), 2)}
    print(json.dumps(described | figures))


if __name__ == "__main__":
    main()
