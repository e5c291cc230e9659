"""A worker whose main loop stands still ends, so that a supervisor starts another; its pool ends with it."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

HARNESS = Path(__file__).parent / "harness"
SERVICE = Path(__file__).parents[1] / "service"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_worker_that_went_deaf_ends_with_its_pool_and_says_where_it_stood(redis_server, graph_server, tmp_path):
    environment = {
        **os.environ,  # noqa: TID251 - a child process needs a PATH
        "PYTHONPATH": os.pathsep.join(map(str, (HARNESS, SERVICE))),
        "REDIS_URL": redis_server.url,
        "FALKORDB_URL": graph_server.url,
        "GRAPHMILL_DATA_DIR": str(tmp_path),
        "GRAPHMILL_REDIS_TIMEOUT": "2",
        "GRAPHMILL_EXTRACTOR": "tiny_models:extract",
        "GRAPHMILL_EMBED__EMBEDDER": "python:tiny_models:embed",
    }
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "deaf_app", "worker", "-c", "2", "-Q", "load", "-n", "deaf@%h"],
            env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        pool = []
        while worker.poll() is None:
            pool = psutil.Process(worker.pid).children() or pool
            try:
                worker.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
    finally:
        worker.kill()
    said = (tmp_path / "log").read_text("utf-8", "replace")
    assert worker.returncode == 70, said
    assert "worker_deaf" in said
    assert "deaf_app.py" in said, "where the main thread stood"
    assert len(pool) == 2
    psutil.wait_procs(pool, timeout=10)
    assert not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in pool)
