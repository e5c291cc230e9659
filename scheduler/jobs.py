"""Query jobs: a question to the workers as a record in the ledger's Redis, found by its id from any host.

The message on the queue is the id alone; what was asked, when, and the replies are in the record, and all its times
are Redis's. A job ends once: `done`, `failed` (its one question was refused), or `expired`, when its deadline came
before its reply did. Each operation is one script.
"""

import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import Any

import redis
import structlog

from pipeline.errors import PermanentError, QueryInvalid, TransientError
from scheduler.errors import LedgerUnavailable
from scheduler.job_values import bound_reply, check_seconds, spell_json
from scheduler.scripts import Scripts, reaching_ledger

KEEP_SECONDS = 3_600
"""How long a job is known after its end."""
LEASE_SECONDS = 6.0
"""How long a claim outlives its last renewal: a worker that is silent for so long has died."""
PATIENCE_SECONDS = 5.0
"""How long a message may wait before it is sent again; twice as long each time."""
MAX_STARTS = 3
"""Starts without a reply after which a job is given up: it kills its workers."""
MAX_BATCH = 200
SLICE = 16
"""Most questions of a batch that one message answers; then other jobs have their turn."""
MAX_BYTES = 1_000_000
"""Longest arguments of a job, and longest reply, as JSON; to a question of a batch, a tenth."""
MAX_SECONDS = 3_600.0
"""Longest time that a job may be given."""
_WAITING = "gm:query:waiting"
_LOOK_SECONDS = 1.0
"""How often a waiting client sees after its job; less than the shortest timeout of a connection."""
_ID = re.compile(r"[0-9a-f]{24}")
_log = structlog.get_logger(__name__)


class JobUnknown(PermanentError):
    """There is no such job, or it ended too long ago."""


class JobFailed(TransientError):
    """A job had no reply because of its worker, not of what was asked."""


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    UNKNOWN = "unknown"

    @property
    def over(self) -> bool:
        """Whether it stays so."""
        return self not in {JobState.QUEUED, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where a job stands; times in milliseconds, `done` and `total` are questions."""

    state: JobState
    queue_ms: float = 0.0
    """Time on the queue; with it what a worker took that died."""
    service_ms: float = 0.0
    done: int = 0
    total: int = 0
    batch: bool = False
    """Whether its replies are a list."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job, or a slice of one, that a worker has taken up."""

    job: str
    kind: str
    arguments: Sequence[dict[str, Any]]
    seconds: float
    """Time left."""
    done: int
    """Questions that were answered before."""
    batch: bool
    slow: bool
    """Whether it has one of the places of slow jobs."""
    holder: str


class QueryJobs:
    """The jobs of all clients and query workers.

    All methods raise `LedgerUnavailable` where Redis does not answer; those of clients `QueryInvalid` for an id that
    is none.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        send: Puts a message on the queue: a job's id, and the seconds that it may take.
        processes: Counts the processes of all query workers.
    """

    def __init__(self, client: "redis.Redis", send: Callable[[str, float], None], processes: Callable[[], int]) -> None:
        self._redis = client
        self._scripts = Scripts(client, "query_common")
        self._send = send
        self._processes = processes

    def submit(self, kind: str, arguments: Mapping[str, Any], *, timeout_s: float, slow: bool = False) -> str:
        """Record a question of a kind, put it on the queue, and give the id of its job.

        `slow`: it takes seconds or minutes, as those that ask a language model; some processes are kept for others.
        Raises `QueryInvalid` for what no job can carry.
        """
        return self._submit(kind, [arguments], timeout_s, slow=slow, batch=False)

    def submit_batch(
        self, kind: str, arguments: Sequence[Mapping[str, Any]], *, timeout_s: float, slow: bool = False
    ) -> str:
        """Likewise for up to `MAX_BATCH` questions in one job."""
        if not 1 <= len(arguments) <= MAX_BATCH:
            raise QueryInvalid(f"a batch has 1 to {MAX_BATCH} questions, not {len(arguments)}")
        return self._submit(kind, arguments, timeout_s, slow=slow, batch=True)

    def _submit(
        self, kind: str, arguments: Sequence[Mapping[str, Any]], timeout_s: float, *, slow: bool, batch: bool
    ) -> str:
        check_seconds(timeout_s, MAX_SECONDS)
        spelled = [spell_json(one) for one in arguments]
        if (size := sum(len(one.encode()) for one in spelled)) > MAX_BYTES:
            raise QueryInvalid(f"what is asked has {size:,} bytes; at most {MAX_BYTES:,} are taken")
        job = secrets.token_hex(12)
        timeout_ms, keep_ms = max(1, int(timeout_s * 1000)), KEEP_SECONDS * 1000
        self._scripts.call("query_submit", job, kind, int(slow), int(batch), timeout_ms, keep_ms, *spelled)
        try:
            self._send(job, timeout_s)
        except BaseException:
            with suppress(LedgerUnavailable):  # what went wrong first is told; else the record expires by itself
                self.forget(job)
            raise
        return job

    def status(self, job: str) -> JobStatus:
        """Tell where a job stands. A message of it that was lost is sent again."""
        if not _ID.fullmatch(job):
            raise QueryInvalid(f"{job!r} is no id of a job: those are 24 hexadecimal digits, as a submit gives them")
        found = self._scripts.call("query_look", job, KEEP_SECONDS * 1000, int(PATIENCE_SECONDS * 1000))
        if found is None:
            return JobStatus(JobState.UNKNOWN)
        state, queue_ms, service_ms, done, total, batch, left_ms, lost = found
        if lost:
            self._send(job, float(left_ms) / 1000)
        return JobStatus(JobState(state), float(queue_ms), float(service_ms), int(done), int(total), bool(batch))

    @reaching_ledger()
    def result(self, job: str, timeout_s: float) -> tuple[JobStatus, list[dict[str, Any]]]:
        """Wait for a job's end; gives how it stands then, or after the timeout, and its replies.

        A reply is `{"ok": ...}` or `{"error": class name, "message": ...}`. Any number of clients may wait.
        """
        deadline = monotonic() + timeout_s
        while True:
            status = self.status(job)
            if status.state.over:
                return status, [json.loads(one) for one in self._redis.lrange(f"gm:query:{job}:replies", 0, -1)]
            if (left := deadline - monotonic()) <= 0:
                return status, []
            over = f"gm:query:{job}:over"
            # From the list to itself: it stays there for all others who wait.
            self._redis.blmove(over, over, max(0.01, min(left, _LOOK_SECONDS)))  # type: ignore[arg-type] # fractions work

    @reaching_ledger()
    def forget(self, job: str) -> None:
        """Remove a job that nobody will ask for; if it runs, its reply is dropped."""
        self._redis.delete(*(f"gm:query:{job}{part}" for part in ("", ":asked", ":replies", ":over")))

    # For workers

    def claim(self, job: str) -> Claim | None:
        """Take a job up; None where it must not be run.

        It has ended, another holds it, its deadline has come, or it is slow and so many of these run that the next
        would leave no process for quick ones; then its message is sent again when one of them ends.
        """
        holder = secrets.token_hex(8)
        given_up = {
            "error": JobFailed.__name__,
            "message": f"its workers ended {MAX_STARTS} times before they had a reply; their logs may tell why",
        }

        def take(places: int) -> Any:
            return self._scripts.call(
                "query_claim",
                *(job, holder, int(LEASE_SECONDS * 1000), SLICE, places, MAX_STARTS, KEEP_SECONDS * 1000),
                spell_json(given_up),
                patient=True,
            )

        outcome, *found = take(0)
        if outcome == "slow":
            outcome, *found = take(max(1, self._processes() - 1))
        if outcome == "refused":
            self._send_waiting(found)
            return None
        kind, left_ms, done, batch, slow, *asked = found
        arguments = [json.loads(one) for one in asked]
        return Claim(job, kind, arguments, float(left_ms) / 1000, int(done), bool(batch), bool(slow), holder)

    @contextmanager
    def renewing(self, claim: Claim) -> Iterator[None]:
        """Keep a claim, and its place where it is slow, from lapsing while the block runs, by a thread of its own."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(LEASE_SECONDS / 3):
                try:
                    if not self._scripts.call("query_renew", claim.job, claim.holder, int(LEASE_SECONDS * 1000)):
                        return
                except LedgerUnavailable as error:
                    _log.warning("query_claim_not_renewed", job=claim.job, reason=str(error))

        threading.Thread(target=renew, name="renew-claim", daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def end(self, claim: Claim, replies: Sequence[Mapping[str, Any]]) -> None:
        """Record replies to the first questions of a claim, and send on the message of a job that goes on.

        Of a batch there may be none. Nothing is recorded after the deadline, or where another worker was faster; the
        place is free in any case.
        """
        most = MAX_BYTES // 10 if claim.batch else MAX_BYTES
        kept = [bound_reply(one, most) for one in replies]
        failed = not claim.batch and "error" in kept[0]
        spelled = [spell_json(one) for one in kept]
        due = self._scripts.call(
            "query_end",
            *(claim.job, claim.holder, int(claim.slow), claim.done, KEEP_SECONDS * 1000, int(failed)),
            *spelled,
            patient=True,
        )
        self._send_waiting(job for job in due if job != claim.job)
        if claim.job in due:
            self._send(claim.job, claim.seconds)

    def _send_waiting(self, due: Iterable[str]) -> None:
        """Send messages of slow jobs that were given a place; where that fails they are the first to get the next."""
        for job in due:
            try:
                self._send(job, MAX_SECONDS)
            except BaseException:
                with reaching_ledger():
                    self._redis.zadd(_WAITING, {job: 0})
                    self._redis.expire(_WAITING, KEEP_SECONDS)
                raise
