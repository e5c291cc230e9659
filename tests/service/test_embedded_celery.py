"""The embedded stack with a real Celery worker: what a plain program in its place cannot show."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis

from workers.embedded import Engine, open_stack

ROOT = Path(__file__).parents[2]

APP = """
import os, time
from celery import Celery, signals
from workers.embedded import die_with_parent

app = Celery("nap", broker=os.environ["CELERY_BROKER_URL"])
app.conf.update(
    task_acks_late=True, worker_prefetch_multiplier=1, worker_soft_shutdown_timeout=1,
    broker_connection_retry_on_startup=True,
)

@signals.worker_process_init.connect
def tie(**_):
    die_with_parent()

@app.task(name="nap")
def nap():
    time.sleep(600)
"""

COMMAND = """
import os, sys, time
from pathlib import Path
import redis
from celery import Celery
from workers.embedded import Engine, open_stack
folder, server, module = sys.argv[1:]
worker = [sys.executable, "-m", "celery", "-A", "napping", "worker", "--concurrency=2", "--without-gossip"]
engine = Engine(Path(server), Path(module), "test")
with open_stack(Path(folder) / "data", engine, {"all": worker}, dict(os.environ)) as stack:
    app = Celery("nap", broker=stack.urls.redis)
    app.send_task("nap")
    app.send_task("nap")
    with redis.Redis.from_url(stack.urls.redis) as broker:
        while broker.hlen("unacked") < 2:
            time.sleep(0.05)
    print("both run", flush=True)
    while True:
        stack.supervise()
        time.sleep(0.05)
"""


@pytest.fixture
def owner(tmp_path, engine) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "napping.py").write_text(APP, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "REMAP_SIGTERM": "SIGQUIT"}  # noqa: TID251 - a program needs PATH and the like
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(tmp_path), str(engine.server), str(engine.module)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "both run\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_killed_owner_leaves_no_pool_process_and_no_server(owner) -> None:
    family = psutil.Process(owner.pid).children(recursive=True)
    assert len(family) == 5  # two servers, a worker, two pool processes
    owner.kill()
    owner.wait()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_ctrl_c_gives_running_messages_back_to_the_queue(owner, tmp_path, engine) -> None:
    family = psutil.Process(owner.pid).children(recursive=True)
    started = time.monotonic()
    owner.send_signal(signal.SIGINT)
    owner.wait(20)
    assert time.monotonic() - started < 15
    assert not any(process.is_running() for process in family)
    with (
        open_stack(tmp_path / "data", Engine(engine.server, engine.module, "test"), {}, {}) as stack,
        redis.Redis.from_url(stack.urls.redis) as broker,
    ):
        assert (broker.llen("celery"), broker.hlen("unacked")) == (2, 0)
