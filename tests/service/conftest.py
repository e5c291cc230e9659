"""A running system for tests: real servers, a real worker process with models of no cost, a client."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from scheduler.workers import KEY
from workers.app import create_app
from workers.bootstrap import open_graph
from workers.client import Client
from workers.connections import connect_redis
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

    def start_worker(self, *arguments):
        """Start one more worker process; the caller ends it."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-c", "2", "-Q", QUEUES,
                    "-n", f"test{time.monotonic_ns()}@%h", "--without-gossip", "--without-mingle", *arguments,
                ],
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

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
def system(request, redis_server, graph_server, tmp_path_factory):
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
        worker = running.start_worker()
        try:
            assert wait_for_workers(running.client, QUEUES.split(","), 60), running.log.read_text("utf-8", "replace")
            yield running
        finally:
            # Its pool dies with it; that a worker ends in good order is tested elsewhere, and takes seconds.
            worker.kill()
            worker.wait()
