"""What the ledger tells: where runs stand, and the fate of each file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

import orjson
import redis

from scheduler.errors import RunNotFound
from scheduler.records import FileReport, RunStatus
from scheduler.scripts import reaching_ledger
from scheduler.states import FileState, RunState

SEGMENT = 1000
"""Files in one manifest segment; the scripts use the same number."""


class RunReports:
    """Reads runs and files; changes nothing."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def _meta(self, run: str) -> dict[str, str]:
        meta = cast("dict[str, str]", self._redis.hgetall(f"gm:run:{run}"))
        if not meta:
            raise RunNotFound(f"There is no run {run!r}. `graphmill runs` lists them.")
        return meta

    @reaching_ledger()
    def status(self, run: str) -> RunStatus:
        """Tell where a run stands; raises `RunNotFound`."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.hgetall(f"gm:run:{run}")
        pipe.zcard(f"gm:run:{run}:clock")
        meta, in_flight = pipe.execute()
        if not meta:
            raise RunNotFound(f"There is no run {run!r}. `graphmill runs` lists them.")

        def seconds(name: str) -> float | None:
            return int(meta[name]) / 1000 if name in meta else None

        total, ended = int(meta["total"]), int(meta["ended"])
        return RunStatus(
            run=run,
            state=RunState(meta["state"]),
            graph=meta["graph"],
            root=meta["root"],
            total=total,
            pending=total - ended - in_flight,
            in_flight=in_flight,
            counts={state.value: int(meta.get(f"count:{state.value}", 0)) for state in FileState},
            created_at=seconds("created_at") or 0.0,
            sealed_at=seconds("sealed_at"),
            ingested_at=seconds("ingested_at"),
            ended_at=seconds("ended_at"),
            error=meta.get("error", ""),
            reason=meta.get("reason", ""),
            priority=int(meta.get("priority", 0)),
            options=orjson.loads(meta["options"]),
        )

    def stages(self, run: str) -> dict[str, int]:
        """Count the dispatched files by the stage that works on them, or as `queued` or `waiting`.

        Reads their records, of which there are as many as the window holds.
        """
        raws = cast("list[str]", self._redis.hvals(f"gm:run:{run}:active"))
        records = [orjson.loads(raw) for raw in raws]
        return dict(Counter(r["stage"] if r["state"] == "running" else r["state"] for r in records))

    @reaching_ledger()
    def runs(self, limit: int = 50) -> list[RunStatus]:
        """List the newest runs, newest first."""
        return [self.status(str(run)) for run in self._redis.zrevrange("gm:runs", 0, limit - 1)]

    def files(self, run: str, states: Sequence[FileState] | None = None) -> Iterator[FileReport]:
        """Report the files of a run in manifest order; all, or those with an outcome in `states`."""
        with reaching_ledger():
            total = int(self._meta(run)["total"])
        for first in range(0, total, SEGMENT):
            k = first // SEGMENT
            pipe = self._redis.pipeline(transaction=True)
            pipe.lrange(f"gm:run:{run}:manifest:{k}", 0, -1)
            pipe.hgetall(f"gm:run:{run}:outcomes:{k}")
            pipe.hmget(f"gm:run:{run}:active", [str(i) for i in range(first, min(total, first + SEGMENT))])
            with reaching_ledger():
                entries, outcomes, records = pipe.execute()
            for offset, entry in enumerate(entries):
                report = _report(first + offset, entry, outcomes.get(str(first + offset)), records[offset])
                if states is None or report.state in {s.value for s in states}:
                    yield report


def _report(index: int, entry: str, outcome: str | None, record: str | None) -> FileReport:
    """Tell of one file: its outcome, or where it stands and what it waits for."""
    relative, size = orjson.loads(entry)
    row = orjson.loads(outcome or record or '{"state": "pending"}')
    details = {name: row[name] for name in ("worker", "starts", "defers", "times") if row.get(name)}
    said = row if outcome else row.get("error", {})
    return FileReport(
        index,
        relative,
        size,
        row["state"],
        said.get("code", ""),
        said.get("message", ""),
        row.get("stage", ""),
        details | row.get("details", {}),
    )
