"""The ledger: the truth about every file of every run, in Redis.

The scripts in `lua/` hold the rules (claim protocol and key layout: ADR 0002); this is their typed
face. A file's fate is recorded once; a batch, a lease or a message may be lost at any time and
`sweep` brings the file back. Clients are given with `decode_responses=True`.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import orjson
import redis
import structlog

from scheduler.errors import RunNotOpen
from scheduler.records import Batch, Budget, ClaimedFile, NewFile, Outcome, Spent, Terms
from scheduler.reports import RunReports
from scheduler.scripts import Scripts, reaching_ledger
from scheduler.states import STAGES, FileState, RunState

_log = structlog.get_logger(__name__)

FIRST_LISTING = 1
"""Number of the listing with which a run is opened."""
SWEEP_LIMIT = 500
"""Files that one sweep of a run takes back at most; the next tick goes on."""


def _dumps(value: object) -> str:
    return orjson.dumps(value).decode()


@contextmanager
def _listing(run: str) -> Iterator[None]:
    try:
        yield
    except redis.exceptions.ResponseError as error:
        if "NOTOPEN" not in str(error):
            raise
        raise RunNotOpen(f"Run {run}: {str(error).removeprefix('NOTOPEN ')}.") from error


class Ledger(RunReports):
    """Runs, files and their outcomes."""

    def __init__(self, client: "redis.Redis", *, lease_ms: int, queue_ttl_ms: int, max_starts: int) -> None:
        """Use a Redis.

        Args:
            client: decodes responses; never retries by itself.
            lease_ms: how long a claimed file is left to its worker without a sign of progress.
            queue_ttl_ms: how long a dispatched message may stay unclaimed before it is taken for lost.
            max_starts: starts without a recorded end after which a file is a dead letter.
        """
        super().__init__(client)
        self._scripts = Scripts(client, "common")
        self._lease_ms = lease_ms
        self._queue_ttl_ms = queue_ttl_ms
        self._max_starts = max_starts

    @property
    def lease_seconds(self) -> float:
        """How long a claim lasts without renewal."""
        return self._lease_ms / 1000

    # Submission

    @reaching_ledger()
    def open_run(
        self,
        graph: str,
        root: str,
        *,
        finalize: str,
        options: dict[str, Any],
        priority: int = 0,
        most_failed: float = 1.0,
        recipe: tuple[str, str] = ("", ""),
        terms: Terms | None = None,
    ) -> str:
        """Make a run that takes files until it is sealed; gives its id.

        Higher priorities are dispatched first. Of at least 20 files that have ended, a share of failures
        above `most_failed` pauses the run. `recipe` is what its files are made with, under its fingerprint;
        `terms` are for one whose passages are read by calls that cost something.
        """
        now = time.time()
        run = time.strftime("%Y%m%d-%H%M%S-", time.gmtime(now)) + secrets.token_hex(3)
        fingerprint, settings = recipe
        pipe = self._redis.pipeline(transaction=True)
        if settings:
            # Once for all runs of the same settings: an ontology may be long.
            pipe.hsetnx("gm:recipes", fingerprint, settings)
        pipe.hset(
            f"gm:run:{run}",
            mapping={
                "state": RunState.OPEN.value,
                "graph": graph,
                "root": root,
                "finalize": finalize,
                "priority": priority,
                "most_failed": most_failed,
                "options": _dumps(options),
                "recipe": fingerprint,
                "generation": FIRST_LISTING,
                "created_at": int(now * 1000),
                "total": 0,
                "next": 0,
                "ended": 0,
                "tokens": 0,
                **cast("dict[Any, Any]", terms.as_fields() if terms else {}),
            },
        )
        pipe.zadd("gm:runs", {run: int(now * 1000)})
        pipe.execute()
        return run

    @reaching_ledger()
    def set_budget(self, run: str, budget: Budget) -> None:
        """Let a run spend so much in all; a limit that is None stays as it was."""
        if fields := budget.as_fields():
            self._redis.hset(f"gm:run:{run}", mapping=cast("dict[Any, Any]", fields))

    @reaching_ledger()
    def append(self, run: str, offset: int, files: Sequence[NewFile], *, listing: int = FIRST_LISTING) -> int:
        """Add files behind the first `offset` ones; gives the new total. A repeated call adds nothing.

        Raises `RunNotOpen` where the run is sealed, or is listed anew by somebody else (`clear_open`).
        """
        rows = [[f.relative, f.size, f.outcome.as_row() if f.outcome else None, f.order] for f in files]
        with _listing(run):
            total = int(self._scripts.call("append", run, offset, _dumps(rows), listing, patient=True))
        if total != offset + len(files):
            raise RunNotOpen(f"Run {run} is being listed by another process.")
        return total

    @reaching_ledger()
    def seal(self, run: str, *, listing: int = FIRST_LISTING) -> RunState:
        """Close the manifest, let the files be dispatched; raises `RunNotOpen` where it is listed anew elsewhere."""
        with _listing(run):
            return RunState(self._scripts.call("seal", run, listing, patient=True))

    @reaching_ledger()
    def make_durable(self, run: str) -> None:
        """Wait until all that was said of a run is on disk."""
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                # A write of this connection's own comes last, as WAITAOF waits for no other's.
                pipe.set("gm:durable", run, px=1)
                pipe.waitaof(1, 0, 3000)
                reached = pipe.execute()[-1]
            if not reached[0]:
                _log.warning("manifest_not_durable", run=run, reason="the disk is behind by more than 3 s")
        except redis.exceptions.ResponseError as error:
            # No append-only file, as the start-up check warns.
            _log.warning("manifest_not_durable", run=run, reason=str(error))

    @reaching_ledger()
    def clear_open(self, run: str) -> int:
        """Forget the files of a run whose listing was interrupted; gives the number of the listing that may follow.

        Raises `RunNotFound`, and `RunNotOpen` where it was sealed after all.
        """
        self.status(run)
        with _listing(run):
            return int(self._scripts.call("clear_open", run, patient=True))

    # Dispatch

    def take(self, *, window: int, max_files: int, max_bytes: int, spread: int) -> Batch | None:
        """Take the next batch to send, or None when the window is full or nothing is due.

        Args:
            window: batches that may be in flight over all runs.
            max_files: most files in a batch.
            max_bytes: input bytes at which a batch is full (one file may be larger).
            spread: parts into which the rest of a run is divided at least.
        """
        raw = self._scripts.call("take", window, max_files, max_bytes, self._queue_ttl_ms, spread)
        if not raw:
            return None
        row = orjson.loads(raw)
        return Batch(
            row["run"], row["generation"], row["graph"], row["token"], tuple(row["files"]), discard=row["discard"]
        )

    def halt(self, run: str, reason: str, *, seconds: float = 0.0) -> None:
        """Pause a run that runs, for a reason; any other is left as it is.

        So is one that a person has let go on in the last `seconds`, in which the work was done that found the reason.
        """
        self._scripts.call("pause", run, "pause", reason, int(seconds * 1000), patient=True)

    def sweep(self, run: str) -> tuple[int, int, int]:
        """Take back expired files of a run; gives lost messages, lost workers, dead letters."""
        messages, workers, dead = self._scripts.call("sweep", run, self._max_starts, SWEEP_LIMIT)
        return int(messages), int(workers), int(dead)

    def reopen(self, run: str, indices: Sequence[int], state: FileState) -> int:
        """Send files round again whose outcome is `state`; gives how many."""
        return int(self._scripts.call("reopen", run, _dumps(list(indices)), state.value, patient=True))

    @reaching_ledger()
    def active_runs(self) -> list[str]:
        """List runs that are not done, oldest first."""
        return [str(run) for run in self._redis.zrange("gm:active", 0, -1)]

    @reaching_ledger()
    def newer_runs(self, run: str) -> list[str]:
        """List the runs of the same graph that were opened after a run, newest first.

        Those whose list was never completed are left out: nobody may ever do what it says.
        """
        rank = cast("int | None", self._redis.zrank("gm:runs", run))
        if rank is None:
            return []
        names = [str(name) for name in self._redis.zrange("gm:runs", rank + 1, -1)]
        pipe = self._redis.pipeline(transaction=False)
        for name in [run, *names]:
            pipe.hmget(f"gm:run:{name}", "graph", "state")
        (graph, _), *others = pipe.execute()
        same = ((name, state) for name, (of, state) in zip(names, others, strict=True) if of == graph)
        return [name for name, state in same if state != RunState.OPEN][::-1]

    # Work

    def claim(self, batch: Batch, stage: str, holder: str, worker: str) -> list[ClaimedFile]:
        """Claim what is still to be done of a batch; everything else is somebody else's or over."""
        raw = self._scripts.call(
            "claim",
            batch.run,
            batch.generation,
            batch.token,
            stage,
            holder,
            self._lease_ms,
            self._max_starts,
            worker,
            _dumps(batch.files),
            STAGES.index(stage) if stage in STAGES else 0,
            patient=True,
        )
        claimed = []
        # A file that has not waited for anything has no error at the end of its row.
        for index, entry, ref, defers, starts, again, *error in orjson.loads(raw):
            relative, size, *order = orjson.loads(entry)
            waits = (error[0]["code"], int(error[0].get("times", 1))) if error else ("", 0)
            known = orjson.loads(ref) if ref else {}
            claimed.append(
                ClaimedFile(
                    int(index), relative, int(size), known, int(defers), int(starts),
                    waited_for=waits[0], waits=waits[1], order=order[0] if order else {}, round=int(again),
                )
            )  # fmt: skip
        return claimed

    def renew(self, run: str, holder: str, indices: Sequence[int]) -> list[int]:
        """Renew leases; gives the files that are no longer ours (or whose run no longer runs)."""
        if not indices:
            return []
        raw = self._scripts.call("renew", run, holder, self._lease_ms, _dumps(list(indices)), patient=True)
        return [int(index) for index in orjson.loads(raw)]

    def settle(  # noqa: PLR0913 - fates of files, and notes on them
        self,
        run: str,
        holder: str,
        *,
        ended: dict[int, Outcome] | None = None,
        passed: dict[int, dict[str, str]] | None = None,
        deferred: dict[int, float] | None = None,
        alone: dict[int, float] | None = None,
        seconds: dict[int, float] | None = None,
        errors: dict[int, dict[str, str]] | None = None,
        spent: dict[int, Spent] | None = None,
    ) -> list[int]:
        """End a stage: outcomes, files that go on (with their reference), files that wait (in seconds).

        Those in `alone` wait likewise, and travel without batch mates from then on. `seconds` is the time
        that the stage took for a file, `errors` what a file waits for, as code and message, `spent` what was
        extracted for it, which adds up over its turns.
        Gives the files whose lease was lost meanwhile: whoever holds them now decides their fate.
        """
        moves: list[tuple[int, str, Any]] = [(i, "end", outcome.as_row()) for i, outcome in (ended or {}).items()]
        moves += [(i, "next", _dumps(ref)) for i, ref in (passed or {}).items()]
        moves += [(i, "defer", int(wait * 1000)) for i, wait in (deferred or {}).items()]
        moves += [(i, "alone", int(wait * 1000)) for i, wait in (alone or {}).items()]
        if not moves:
            return []
        paid = {i: one.as_row() for i, one in (spent or {}).items()}
        rows = [
            [i, verb, what, (seconds or {}).get(i, 0.0), (errors or {}).get(i), paid.get(i)] for i, verb, what in moves
        ]
        raw = self._scripts.call("settle", run, holder, self._queue_ttl_ms, _dumps(rows), patient=True)
        return [int(index) for index in orjson.loads(raw)]
