"""Which workers live: each announces itself with its queues and processes, and is forgotten when silent."""

from dataclasses import asdict, dataclass
from typing import cast

import orjson
import redis

from scheduler.scripts import reaching_ledger

SILENCE_SECONDS = 30.0
KEY = "gm:workers"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker works with, as far as whoever hands it files must know."""

    store: str = ""
    """Id of the artifact folder that it uses."""
    extractors: tuple[str, ...] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker as it last announced itself."""

    name: str
    queues: tuple[str, ...]
    processes: int
    pid: int
    offer: Offer
    seen: float
    """Seconds since 1970, by the clock of Redis: those of the hosts may differ."""


class Workers:
    """The living workers of all hosts."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def announce(self, name: str, queues: list[str], processes: int, pid: int, offer: Offer) -> None:
        """Say that a worker lives."""
        row = {"queues": queues, "processes": processes, "pid": pid, "offer": asdict(offer), "seen": self._now()}
        self._redis.hset(KEY, name, orjson.dumps(row).decode())

    def leave(self, name: str) -> None:
        """Say that a worker ends."""
        self._redis.hdel(KEY, name)

    @reaching_ledger()
    def living(self) -> list[Worker]:
        """List the workers that announced themselves lately, and forget the others."""
        rows = cast("dict[str, str]", self._redis.hgetall(KEY))
        oldest = self._now() - SILENCE_SECONDS
        living, silent = [], []
        for name, raw in sorted(rows.items()):
            row = orjson.loads(raw)
            if row["seen"] < oldest:
                silent.append(name)
            else:
                offer = row.get("offer", {})  # an earlier release told less
                offer = Offer(**{**offer, "extractors": tuple(offer.get("extractors", ()))})
                worker = Worker(name, tuple(row["queues"]), row["processes"], row["pid"], offer, row["seen"])
                living.append(worker)
        if silent:
            self._redis.hdel(KEY, *silent)
        return living

    def _now(self) -> float:
        seconds, microseconds = self._redis.time()
        return seconds + microseconds / 1e6

    def processes(self, queue: str) -> int:
        """Count the processes that read a queue."""
        return sum(worker.processes for worker in self.living() if queue in worker.queues)
