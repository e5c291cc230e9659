"""A running system for tests: real servers, a real worker process with models of no cost, a client."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scheduler.workers import KEY
from workers.app import create_app
from workers.client import Client
from workers.connections import connect_redis
from workers.graphs import open_graph
from workers.settings import Settings

QUEUES = "load,extract,write,finalize,query"
HERE = Path(__file__).parent


@dataclass
class System:
    """Everything that a test of the whole needs."""

    client: Client
    settings: Settings
    environment: dict[str, str]
    log: Path
    started: list[subprocess.Popen] = field(default_factory=list)

    def start_worker(self, *arguments):
        """Start one more worker process; it ends with the system at the latest."""
        with self.log.open("ab") as log:
            worker = subprocess.Popen(
                [
                    sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-c", "2", "-Q", QUEUES,
                    "-n", f"test{time.monotonic_ns()}@%h", "--without-gossip", "--without-mingle", *arguments,
                ],
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.started.append(worker)
        return worker

    def ingest(self, folder, graph, **options):
        """Submit a folder and drive the run to its end; gives its status."""
        return self.finish(self.client.submit([folder], folder, graph=graph, **options))

    def finish(self, run, seconds=60, meanwhile=lambda: None):
        """Drive a run to its end."""
        deadline = time.monotonic() + seconds
        while not (status := self.client.status(run)).over:
            assert time.monotonic() < deadline, f"{status}\n{self.log.read_text('utf-8', 'replace')[-3000:]}"
            self.client.tick()
            meanwhile()
            time.sleep(0.05)
        return status

    def outcomes(self, run):
        """Give the state and code of each file by its path."""
        return {r.relative: (r.state, r.code) for r in self.client.files(run)}

    def graphs(self):
        """Name the graphs of the server."""
        return open_graph(self.settings, "any").names()

    def rows(self, graph, cypher):
        """Read the graph."""
        return open_graph(self.settings, graph).ro_query(cypher)


def wait_for_workers(client, queues, seconds):
    """Wait until each queue has a living worker; False when it took too long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if {queue for worker in client.workers() for queue in worker.queues}.issuperset(queues):
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def more_environment():
    """Settings of a module's worker beyond the usual ones; a module has its own where it needs some."""
    return {}


@pytest.fixture(scope="module")
def system(request, redis_server, graph_server, tmp_path_factory, more_environment):
    """A system with one worker, which ends with the module's tests; a module's EXTRACTOR is used where it names one."""
    folder = tmp_path_factory.mktemp("system")
    environment = {
        **os.environ,  # noqa: TID251 - a child process needs a PATH
        "PYTHONPATH": str(HERE),
        "REDIS_URL": redis_server.url,
        "FALKORDB_URL": graph_server.url,
        "GRAPHMILL_DATA_DIR": str(folder),
        "GRAPHMILL_EXTRACTOR": getattr(request.module, "EXTRACTOR", "tiny_models:extract"),
        "GRAPHMILL_EMBED__EMBEDDER": "python:tiny_models:embed",
        "GRAPHMILL_LEASE_SECONDS": "3",
        "GRAPHMILL_QUEUE_SECONDS": "5",
        "GRAPHMILL_FINALIZE_SECONDS": "3",
        "REMAP_SIGTERM": "SIGQUIT",
        **more_environment,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        settings = Settings()
        app = create_app(settings)
        app.set_default()
        app.set_current()
        running = System(Client(settings, app), settings, environment, folder / "worker.log")
        with connect_redis(settings) as client:
            # The worker of the module before was ended at once, and is not to be taken for ours.
            client.delete(KEY)
        running.start_worker()
        try:
            assert wait_for_workers(running.client, QUEUES.split(","), 60), running.log.read_text("utf-8", "replace")
            yield running
        finally:
            # A pool dies with its worker; that a worker ends in good order is tested elsewhere, and takes seconds.
            for worker in running.started:
                worker.kill()
                worker.wait()
