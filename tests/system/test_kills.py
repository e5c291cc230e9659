"""Processes die at random moments; every file has one outcome all the same."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import redis

from scheduler.finalize import FinalizeLedger
from scheduler.ledger import Ledger
from scheduler.records import NewFile
from scheduler.states import RunState

FILES = 1500
WORKER_KILLS = 25
REDIS_KILLS = 2


class RestartableRedis:
    """A redis-server with an append-only file that is killed and started again on the same port."""

    def __init__(self, folder, port, binary):
        self.command = [
            str(binary),
            "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder),
            "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction",
        ]  # fmt: skip
        self.client = redis.Redis(port=port, decode_responses=True, retry=None, protocol=2)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if self.client.ping():
                    return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(0.02)
        raise AssertionError("redis-server did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Fleet:
    """Celery workers that are replaced when they die."""

    def __init__(self, size, environment, log):
        self.environment, self.log = environment, log
        self.workers = [self._start() for _ in range(size)]

    def _start(self):
        return subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "skeleton_app", "worker", "-c", "2", "--without-gossip",
                "--without-mingle", "-Q", "load,extract,write,finalize", "-n", f"w{time.monotonic_ns()}@%h",
            ],
            cwd=Path(__file__).parent, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True,
        )  # fmt: skip

    def kill_one(self, chance):
        """Kill a worker's pool process, or its main process and what it leaves behind; True if one was there."""
        place = chance.randrange(len(self.workers))
        try:
            main = psutil.Process(self.workers[place].pid)
            children = main.children()
            if children and chance.random() < 0.6:
                chance.choice(children).kill()
            else:
                main.kill()
                for child in children:
                    child.kill()
        except psutil.NoSuchProcess:
            return False
        return True

    def heal(self):
        for place, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.workers[place] = self._start()

    def stop(self):
        for worker in self.workers:
            try:
                os.killpg(worker.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for worker in self.workers:
            worker.wait()


@pytest.mark.timeout(280)
def test_every_file_has_one_outcome_and_finalize_runs_once_whatever_dies(tmp_path, engine):
    """1,500 files, 25 kills of worker processes, 2 of Redis: nothing is lost, doubled, or done twice."""
    chance = random.Random(20261130)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free_port = probe.getsockname()[1]
    server = RestartableRedis(tmp_path, free_port, engine.server)
    server.start()
    environment = {
        **os.environ,  # noqa: TID251 - a child process needs a PATH
        "REDIS_URL": f"redis://127.0.0.1:{free_port}/0",
        "GRAPHMILL_LEASE_SECONDS": "2",
        "GRAPHMILL_QUEUE_SECONDS": "3",
        "GRAPHMILL_FINALIZE_SECONDS": "2",
        "GRAPHMILL_SOFT_TIME_LIMIT": "10",
        "GRAPHMILL_TIME_LIMIT": "15",
        "GRAPHMILL_VISIBILITY_TIMEOUT": "20",
        "GRAPHMILL_BATCH_FILES": "6",
    }
    with (tmp_path / "workers.log").open("wb") as log:
        fleet = Fleet(3, environment, log)
        try:
            _storm(server, fleet, chance)
        finally:
            fleet.stop()
            server.kill()


def _storm(server, fleet, chance):
    ledger = Ledger(server.client, lease_ms=2000, queue_ttl_ms=3000, max_starts=3)
    finalizes = FinalizeLedger(server.client, ttl_ms=2000)
    run = ledger.open_run("kb", "/nowhere", finalize="auto", options={})
    for first in range(0, FILES, 500):
        ledger.append(run, first, [NewFile(f"f{i}", 100) for i in range(first, first + 500)])
    ledger.seal(run)

    sys.path.insert(0, str(Path(__file__).parent))
    os.environ.update(fleet.environment)  # noqa: TID251 - the sender below reads its settings there
    import skeleton_app

    resources = skeleton_app.build()
    kills = redis_kills = 0
    deadline = time.monotonic() + 240
    # By how far the run has come: it must not end before all of them.
    moments = sorted(chance.uniform(0, 0.95) for _ in range(WORKER_KILLS))
    while True:
        assert time.monotonic() < deadline, f"not done: {ledger.status(run)}, {finalizes.status('kb')}"
        try:
            with skeleton_app.app.connection_or_acquire():
                resources.tick()
            status = ledger.status(run)
        except Exception as error:
            # The control loop of the product goes on with the next tick, too.
            if not _is_outage(error):
                raise
            status = None
        if status and status.state is RunState.DONE:
            break
        fleet.heal()
        done = status.ended / FILES if status else 0
        if kills < WORKER_KILLS and done >= moments[kills] and fleet.kill_one(chance):
            kills += 1
        if redis_kills < REDIS_KILLS and done > 0.25 * (redis_kills + 1):
            server.kill()
            server.start()
            redis_kills += 1
        time.sleep(0.05)

    status = ledger.status(run)
    reports = list(ledger.files(run))
    writes = server.client.hgetall(f"skeleton:{run}:writes")
    print(f"\n{kills} kills of worker processes, {redis_kills} of Redis; {status.counts}")  # noqa: T201 - what was survived
    assert (kills, redis_kills) == (WORKER_KILLS, REDIS_KILLS)
    assert len(reports) == status.ended == FILES
    assert [r.relative for r in reports if r.state != "written"] == []
    assert len(writes) == FILES
    assert finalizes.status("kb").number == 1, "finalize started more than once"
    assert finalizes.status("kb").report == {
        "plan": 1, "names": 6, "judge": 6, "merge": 6, "derive": 6, "facts": 6, "index": 6,
    }  # fmt: skip
    assert server.client.hlen(f"gm:run:{run}:active") == server.client.zcard(f"gm:run:{run}:clock") == 0


def _is_outage(error):
    outages = ("OperationalError", "ConnectionError", "LedgerUnavailable", "BusyLoadingError", "TimeoutError")
    return any(cls.__name__ in outages for cls in type(error).__mro__)
