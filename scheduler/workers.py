"""Which workers live: each announces itself with its queues and processes, and is forgotten when silent."""

import time
from dataclasses import dataclass
from typing import cast

import orjson
import redis

SILENCE_SECONDS = 30.0
KEY = "gm:workers"


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker as it last announced itself."""

    name: str
    queues: tuple[str, ...]
    processes: int
    pid: int
    seen: float


class Workers:
    """The living workers of all hosts."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def announce(self, name: str, queues: list[str], processes: int, pid: int) -> None:
        """Say that a worker lives."""
        row = orjson.dumps({"queues": queues, "processes": processes, "pid": pid, "seen": time.time()})
        self._redis.hset(KEY, name, row.decode())

    def leave(self, name: str) -> None:
        """Say that a worker ends."""
        self._redis.hdel(KEY, name)

    def living(self) -> list[Worker]:
        """List the workers that announced themselves lately, and forget the others."""
        rows = cast("dict[str, str]", self._redis.hgetall(KEY))
        oldest = time.time() - SILENCE_SECONDS
        living, silent = [], []
        for name, raw in sorted(rows.items()):
            row = orjson.loads(raw)
            if row["seen"] < oldest:
                silent.append(name)
            else:
                living.append(Worker(name, tuple(row["queues"]), row["processes"], row["pid"], row["seen"]))
        if silent:
            self._redis.hdel(KEY, *silent)
        return living

    def processes(self, queue: str) -> int:
        """Count the processes that read a queue."""
        return sum(worker.processes for worker in self.living() if queue in worker.queues)
