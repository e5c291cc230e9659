"""The finalize of a graph as a record: single-flight, in phases of bounded shards, re-driven when it stops.

It belongs to the graph, not to a run: a run is done when a finalize that began after its last write
has ended. Rules: the architecture's "Finalize belongs to the graph"; protocol: ADR 0002.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import orjson
import redis

from scheduler.keys import spell_name
from scheduler.records import FinalizeStatus
from scheduler.scripts import Scripts, reaching_ledger

MAX_SHARDS = 64
"""A chord collects its parts in one message and one process; with few, and no results, that is cheap."""


class Phase(StrEnum):
    """The steps of a finalize, in order."""

    PLAN = "plan"
    """Make the search indexes, wait until what was written is on disk, send files round again that the graph lost."""
    NAMES = "names"
    """Make the vectors of new and changed names, by which those that look alike are found."""
    JUDGE = "judge"
    """Decide which entities are one, and seal the plan; meanwhile, store the vectors of names, and embed passages."""
    MERGE = "merge"
    """Apply the sealed merges in short exclusive grants."""
    DERIVE = "derive"
    """Recompute names, descriptions and aliases of entities that changed, and the vectors of new names."""
    FACTS = "facts"
    """Recompute facts and their provenance, and give each new fact its vector.

    They spell the names that the phase before settled.
    """
    INDEX = "index"
    """Await the search indexes, then forget what was pending."""


PHASES = tuple(Phase)


def next_phase(phase: Phase) -> Phase | None:
    """Tell what follows a phase; None after the last."""
    position = PHASES.index(phase) + 1
    return PHASES[position] if position < len(PHASES) else None


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of one phase of one finalize of a graph; this is all that its message carries."""

    graph: str
    number: int
    phase: Phase
    shard: int


class FinalizeLedger:
    """The finalize records of all graphs."""

    def __init__(self, client: "redis.Redis", *, ttl_ms: int) -> None:
        """Use a Redis; a phase without progress for `ttl_ms` is dispatched again."""
        self._redis = client
        self._scripts = Scripts(client, "common")
        self._ttl_ms = ttl_ms

    @reaching_ledger()
    def graphs(self) -> list[str]:
        """List the graphs that ever waited for a finalize."""
        return sorted(str(graph) for graph in cast("set[str]", self._redis.smembers("gm:graphs")))

    def begin(self, graph: str, *, forced: bool = False) -> int:
        """Begin where runs wait (or when forced) and none runs; gives its number, or 0."""
        return int(self._scripts.call("finalize_begin", graph, self._ttl_ms, "1" if forced else "0"))

    def move(self, shard: Shard, to: Phase, shards: int, seal: str) -> bool:
        """Go on to the next phase; True for the one caller whose call moved it. `seal` names its shards' lists."""
        args = (shard.graph, shard.number, shard.phase.value, to.value, shards, self._ttl_ms, seal)
        return bool(self._scripts.call("finalize_move", *args, patient=True))

    @reaching_ledger()
    def seal(self, shard: Shard, phase: Phase) -> str:
        """Tell under which name the lists of a phase were stored."""
        return str(self._redis.hget(f"gm:graph:{spell_name(shard.graph)}", f"seal:{phase.value}") or "")

    def claim(self, shard: Shard) -> bool:
        """Claim a shard for one execution; False when it is over, or at work elsewhere."""
        args = (shard.graph, shard.number, shard.phase.value, shard.shard, self._ttl_ms)
        return bool(self._scripts.call("finalize_claim", *args))

    def end_shard(self, shard: Shard, report: Mapping[str, int]) -> int:
        """Record a shard's end with its counts; gives how many are left, or -1 for a stale one."""
        rows = orjson.dumps(dict(report)).decode()
        args = (shard.graph, shard.number, shard.phase.value, shard.shard, self._ttl_ms, rows)
        return int(self._scripts.call("finalize_shard", *args, patient=True))

    def touch(self, shard: Shard, *, again_after: float | None = None) -> bool:
        """Say that a shard moves, or that it gives up and is due again soon; False when there is nothing to do."""
        ttl = self._ttl_ms if again_after is None else int(again_after * 1000)
        args = (shard.graph, shard.number, shard.phase.value, shard.shard, ttl)
        return bool(self._scripts.call("finalize_touch", *args, patient=True))

    def redrive(self, graph: str) -> list[Shard]:
        """Give the shards that stopped moving; one numbered -1 when only the step after the phase was lost."""
        reply = self._scripts.call("finalize_redrive", graph, self._ttl_ms)
        if not reply:
            return []
        number, phase = int(reply[0]), str(reply[1])
        if phase not in PHASES:
            # It would stand in the way of every later one, and of this tick's other graphs.
            reason = f"another release left it in phase {phase!r}; `graphmill finalize` begins anew"
            self._scripts.call("finalize_end", graph, number, phase, reason)
            return []
        return [Shard(graph, number, Phase(phase), int(shard)) for shard in reply[2:]]

    @reaching_ledger()
    def name_vectors(self, graph: str, model: str) -> list[str]:
        """List the artifacts that hold the vectors of a graph's names by that model."""
        raw = self._redis.hget(f"gm:graph:{spell_name(graph)}", f"names:{model}")
        return list(orjson.loads(cast("str", raw))) if raw else []

    @reaching_ledger()
    def keep_name_vectors(self, graph: str, model: str, parts: Sequence[str]) -> None:
        """Write down the artifacts that hold the vectors of a graph's names; dropping the graph forgets them."""
        self._redis.hset(f"gm:graph:{spell_name(graph)}", f"names:{model}", orjson.dumps(list(parts)).decode())

    @reaching_ledger()
    def serving(self, graph: str) -> list[str]:
        """List the runs that the current finalize of a graph will end."""
        return [str(run) for run in self._redis.zrange(f"gm:graph:{spell_name(graph)}:serving", 0, -1)]

    def end(self, shard: Shard, error: str = "") -> bool:
        """End the finalize after its last phase, or with an error; True for the one caller that did."""
        args = (shard.graph, shard.number, PHASES[-1].value, error)
        return bool(self._scripts.call("finalize_end", *args, patient=True))

    @reaching_ledger()
    def status(self, graph: str) -> FinalizeStatus:
        """Tell where the finalize of a graph stands."""
        key = f"gm:graph:{spell_name(graph)}"
        pipe = self._redis.pipeline(transaction=True)
        pipe.hgetall(key)
        pipe.zcard(f"{key}:left")
        pipe.zcard(f"{key}:waiting")
        meta, left, waiting = pipe.execute()
        state = meta.get("state", "idle")
        raw = meta.get("report" if state == "running" else "last_report", "{}")
        return FinalizeStatus(
            graph=graph,
            state=state,
            number=int(meta.get("number", 0)),
            phase=meta.get("phase", ""),
            shards=int(meta.get("shards", 0)),
            left=int(left),
            report={name: int(value) for name, value in orjson.loads(raw).items()},
            error=meta.get("error", ""),
            waiting=int(waiting),
            began_at=int(meta.get("began_at", 0)) / 1000,
        )
