"""What the ledger tells: where runs stand, and the fate of each file."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

import orjson
import redis

from pipeline.ids import file_document_id
from pipeline.models import Usage
from scheduler.errors import RunNotFound
from scheduler.records import Budget, FileReport, RunStatus
from scheduler.scripts import reaching_ledger
from scheduler.states import FileState, RunState

SEGMENT = 1000
"""Files in one manifest segment; the scripts use the same number."""
_NAME = re.compile(r"[\w-]+", re.ASCII)
"""What a run may be called: with a colon, the key of a part of a run would be read as one."""
_LOOKED_AT = 1000
"""Newest runs among which the one that was meant is looked for."""
_CLOSE = 0.9
"""Likeness of two names: two letters may differ, but not the time of day."""


class RunReports:
    """Reads runs and files; changes nothing."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def _meta(self, run: str) -> dict[str, str]:
        meta = cast("dict[str, str]", self._redis.hgetall(f"gm:run:{run}")) if _NAME.fullmatch(run) else None
        if not meta:
            raise self._not_found(run)
        return meta

    def _not_found(self, run: str) -> RunNotFound:
        """Make the error, with the name that was meant where one is near."""
        newest = cast("list[str]", self._redis.zrevrange("gm:runs", 0, _LOOKED_AT - 1))
        parts = [name for name in newest if run and (name.startswith(run) or name.endswith(run))]
        near = parts if len(parts) == 1 else difflib.get_close_matches(run, newest, 1, _CLOSE)
        hint = f" Did you mean {near[0]}?" if near else ""
        return RunNotFound(
            f"There is no run {run!r}, or it has been forgotten since.{hint} `graphmill runs` lists them."
        )

    @reaching_ledger()
    def status(self, run: str) -> RunStatus:
        """Tell where a run stands; raises `RunNotFound`."""
        if not _NAME.fullmatch(run):
            raise self._not_found(run)
        pipe = self._redis.pipeline(transaction=True)
        pipe.hgetall(f"gm:run:{run}")
        pipe.zcard(f"gm:run:{run}:clock")
        meta, in_flight = pipe.execute()
        if not meta:
            raise self._not_found(run)

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
            internal_errors=int(meta.get("internal_errors", 0)),
            dropped="dropped" in meta,
            usage=_usage(meta),
            tokens_lost=int(meta.get("llm_lost_tokens", 0)),
            budget=Budget(
                float(meta["max_usd"]) if "max_usd" in meta else None,
                int(meta["max_tokens"]) if "max_tokens" in meta else None,
            ),
            passages_read=int(meta.get("passages_read", 0)),
            passages_cached=int(meta.get("passages_cached", 0)),
        )

    @reaching_ledger()
    def recipe(self, run: str) -> str:
        """Read the settings that a run's files are made with; '' where it carries none."""
        fingerprint = self._meta(run).get("recipe", "")
        return str(self._redis.hget("gm:recipes", fingerprint) or "")

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


def _usage(meta: dict[str, str]) -> Usage:
    calls, tokens_in, tokens_out = (int(meta.get(f"llm_{name}", 0)) for name in ("calls", "tokens_in", "tokens_out"))
    priced = not int(meta.get("llm_unpriced", 0))
    return Usage(calls, tokens_in, tokens_out, float(meta.get("llm_usd", 0)) if priced else None)


def _report(index: int, entry: str, outcome: str | None, record: str | None) -> FileReport:
    """Tell of one file: its outcome, or where it stands and what it waits for."""
    relative, size, *order = orjson.loads(entry)
    row = orjson.loads(outcome or record or '{"state": "pending"}')
    details = {name: row[name] for name in ("worker", "starts", "defers", "times", "spent") if row.get(name)}
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
        (order[0].get("id") if order else "") or file_document_id(relative),
        order[0].get("from", "") if order else "",
    )
