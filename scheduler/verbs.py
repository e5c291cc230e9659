"""What a person does with runs: pause, let go on, cancel, try again; and what time does: forget."""

from collections import defaultdict
from itertools import batched

import redis

from scheduler.errors import RunOver
from scheduler.ledger import Ledger
from scheduler.records import MemoryUse, RunStatus
from scheduler.reports import SEGMENT
from scheduler.scripts import Scripts, reaching_ledger
from scheduler.states import FileState, RunState

_MAY_BE_PARTIAL = (FileState.WRITTEN, FileState.UPDATED, FileState.UNCHANGED)
EXPIRED_AT_ONCE = 20
"""Runs that one tick forgets at most: each may have a million files."""


class RunVerbs:
    """Moves runs by compare-and-set; each may be repeated."""

    def __init__(self, client: "redis.Redis", ledger: Ledger) -> None:
        self._redis = client
        self._ledger = ledger
        self._scripts = Scripts(client, "common")

    def pause(self, run: str, reason: str) -> RunStatus:
        """Stop dispatching a run; work in hand ends its stage. Raises `RunNotFound`, `RunOver`."""
        self._refuse_over(run, "paused")
        self._ledger.halt(run, reason)
        return self._ledger.status(run)

    def go_on(self, run: str) -> RunStatus:
        """Let a paused run go on; any other is left as it is."""
        self._ledger.status(run)
        self._scripts.call("pause", run, "go", "", 0, patient=True)
        return self._ledger.status(run)

    def cancel(self, run: str) -> int:
        """Cancel a run, a portion of its files a call; gives how many are still without outcome."""
        self._refuse_over(run, "cancelled")
        return int(self._scripts.call("cancel", run, SEGMENT, "1", patient=True))

    def go_on_cancelling(self, run: str) -> int:
        """Cancel the next portion of a run that is being cancelled; the tick calls it."""
        return int(self._scripts.call("cancel", run, SEGMENT, "0", patient=True))

    def retry(self, run: str, code: str | None = None) -> int:
        """Send files of a run round again that failed, or some of whose passages could not be read; gives how many.

        All of them, or those with a code. Raises `RunNotFound`, `RunOver` where the run was cancelled, is not listed
        yet, or its graph was dropped.
        """
        status = self._ledger.status(run)
        if status.dropped:
            raise RunOver(f"The graph of run {run} was dropped since. Ingest {status.root} again as a new run.")
        if status.state in {RunState.OPEN, RunState.CANCELLING, RunState.CANCELLED}:
            raise RunOver(f"Run {run} is {status.state}: its files cannot be tried again. Ingest the folder anew.")
        again: defaultdict[FileState, list[int]] = defaultdict(list)
        for f in self._ledger.files(run, [FileState.FAILED, *_MAY_BE_PARTIAL]):
            if f.state == FileState.FAILED:
                codes = {f.code}
            else:
                codes = {"partial", *f.details.get("unread", {})} if f.details.get("chunks_unread") else set()
            if codes and (code is None or code in codes):
                again[FileState(f.state)].append(f.index)
        return sum(
            self._ledger.reopen(run, page, state) for state, files in again.items() for page in batched(files, SEGMENT)
        )

    @reaching_ledger()
    def expire(self, keep_seconds: float) -> int:
        """Forget runs that ended longer ago than that; gives how many went."""
        now, _ = self._redis.time()
        return int(self._scripts.call("expire", int((now - keep_seconds) * 1000), EXPIRED_AT_ONCE))

    @reaching_ledger()
    def memory(self, mark: float) -> MemoryUse:
        """Tell how much the Redis of ledger and queues holds, and whether that is above a share of its limit."""
        info = self._redis.info("memory")
        return MemoryUse(int(info.get("used_memory", 0)), int(info.get("maxmemory", 0)), mark)

    def _refuse_over(self, run: str, verb: str) -> None:
        status = self._ledger.status(run)
        if status.over or status.state is RunState.FINALIZING:
            raise RunOver(f"Run {run} is {status.state}: nothing is left that could be {verb}.")
