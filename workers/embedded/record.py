"""What the owner of an embedded stack tells other processes: `stack.json` in the data folder."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Self

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

RECORD_NAME = "stack.json"
# Boot time, from which the kernel's start times count, moves a little when the clock is set.
_CLOCK_TOLERANCE_SECONDS = 5.0


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProcessIdentity(_Value):
    """A process beyond its pid, which the system gives to others later."""

    pid: int
    created: float
    """Start time, seconds since 1970."""

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Identify a running process; None when it has ended."""
        try:
            return cls(pid=pid, created=psutil.Process(pid).create_time())
        except psutil.Error:
            return None

    def matches(self, created: float) -> bool:
        """Tell whether a process of this pid with that start time is the same one."""
        return abs(self.created - created) < _CLOCK_TOLERANCE_SECONDS


class StackUrls(_Value):
    """Addresses of the two servers, passwords included."""

    redis: str
    """Broker, results and ledger, as a redis:// URL of database 0."""
    graph: str
    """FalkorDB, as a redis:// URL."""

    def environment(self) -> dict[str, str]:
        """Give the variables that workers read."""
        return {"REDIS_URL": self.redis, "CELERY_BROKER_URL": self.redis, "FALKORDB_URL": self.graph}


class StackState(StrEnum):
    """Where the owner is with its stack."""

    STARTING = "starting"
    """Processes come up; nobody may join yet."""
    READY = "ready"
    """Others may join."""
    LEAVING = "leaving"
    """The owner ends and waits for those who joined; nobody may join any more."""


class StackRecord(_Value):
    """Content of `stack.json`."""

    state: StackState
    owner: int
    """The owner's pid."""
    owner_created: float
    """Start time of the owner, seconds since 1970."""
    started: str
    """When the owner began, ISO 8601 in UTC."""
    redis_url: str | None = None
    graph_url: str | None = None
    """Both only while the stack is ready: nobody shall use it before or after."""
    children: dict[str, ProcessIdentity] = {}

    @property
    def owner_identity(self) -> ProcessIdentity:
        """The process that owns the stack."""
        return ProcessIdentity(pid=self.owner, created=self.owner_created)

    @property
    def urls(self) -> StackUrls | None:
        """The servers' addresses, while others may join."""
        if self.state is not StackState.READY or self.redis_url is None or self.graph_url is None:
            return None
        return StackUrls(redis=self.redis_url, graph=self.graph_url)


def read_record(data_dir: Path) -> StackRecord | None:
    """Read the record; None where there is none, or an unreadable one of a crashed or other release."""
    try:
        return StackRecord.model_validate_json((data_dir / RECORD_NAME).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_record(data_dir: Path, record: StackRecord) -> None:
    """Replace the record in one step; only the user may read it, as it holds passwords."""
    target = data_dir / RECORD_NAME
    draft = target.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(record.model_dump_json(indent=2, exclude_none=True))
    draft.replace(target)


def remove_record(data_dir: Path) -> None:
    """Take the record away: there is no stack any more."""
    (data_dir / RECORD_NAME).unlink(missing_ok=True)
