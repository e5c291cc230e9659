"""Open a running system for a command: connect to the configured servers, or bring up the embedded stack."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil
import redis

from pipeline.errors import PermanentError
from scheduler.errors import LedgerUnavailable
from scheduler.workers import Worker
from workers.connections import require_redis
from workers.embedded import Death, Joined, Owned, StartFailed, find_engine, open_stack
from workers.embedded.owner import BROKER_FOLDER
from workers.embedded.record import read_record
from workers.parts import check_parts
from workers.readiness import Readiness
from workers.roles import ROLES, worker_options
from workers.settings import Settings, child_environment, with_servers

if TYPE_CHECKING:
    from workers.client import Client

INGEST_ROLES = ("all", "query")
"""Both, so that questions can be asked from elsewhere while files are ingested."""
INGEST_QUEUES = ("load", "extract", "write", "finalize")
QUERY_ROLES = ("query",)
QUERY_QUEUES = ("query",)
READ_WAIT_SECONDS = 10.0
"""How long a command that only reads lets others use the servers it started."""
WORKERS_WAIT_SECONDS = 120.0
"""How long a command waits for another's stack that runs without the workers it needs."""
SOFT_SHUTDOWN_SECONDS = 5.0
"""How long tasks may go on after Ctrl-C. Less than in a cluster: a person waits, and what is cut short comes back."""
_POLL_SECONDS = 0.2


class NothingStored(PermanentError):
    """The data folder holds no data of graphmill."""


@dataclass(frozen=True, slots=True)
class System:
    """A system that this process can use; `stack` is None where servers are configured."""

    settings: Settings
    client: "Client"
    stack: Owned | Joined | None

    @property
    def owned(self) -> bool:
        """Whether servers and workers end with this process."""
        return isinstance(self.stack, Owned)

    def workers(self) -> list[Worker]:
        """List the living workers. Those of an embedded stack are on this host, where the dead can be told."""
        living = self.client.workers()
        return living if self.stack is None else [worker for worker in living if psutil.pid_exists(worker.pid)]

    def supervise(self) -> list[Death]:
        """Look after an embedded stack; raises `StackLost` or `StartFailed` where it cannot go on."""
        return self.stack.supervise() if self.stack is not None else []


@contextmanager
def open_system(
    settings: Settings,
    note: Callable[[str], None],
    *,
    roles: Sequence[str] = (),
    queues: Sequence[str] = (),
    later: Sequence[str] = (),
    may_be_new: bool = False,
) -> Iterator[System]:
    """Give a command the system it needs, for the length of the block.

    Args:
        settings: As read from flags and environment, without the servers of a running stack.
        note: Shows the user what takes time.
        roles: Workers that an embedded stack gets if this process starts it.
        queues: Queues that must have a worker before the block begins (embedded only).
        later: Roles that `System.supervise` starts, some seconds after the block has begun.
        may_be_new: Whether an embedded stack may be made where none has been before.

    Raises:
        NothingStored: the data folder is new, and `may_be_new` is not set.
        LedgerUnavailable: a configured Redis does not answer.
        ArtifactsUnavailable: the workers of the embedded stack could not store what their stages make.
        SettingInvalid: an address that is none.
        PermanentError: a part that the settings name (extractor, ontology, judge, embedder) cannot work.
        EmbeddedError: the embedded stack does not start.
    """
    if settings.configured:
        yield _connect(settings, None)
        return
    if not may_be_new and not has_data(settings):
        raise NothingStored(
            f"There is no data in {settings.data_dir}. `graphmill ingest FOLDER` makes some; "
            "--data-dir names another folder."
        )
    if roles:
        # A mistake in them would stop every worker.
        check_parts(settings)
    stack = _open_embedded(settings, note, roles, queues, later)
    try:
        system = _connect(with_servers(settings, stack.urls), stack)
        if set(INGEST_QUEUES) <= set(queues):
            # Workers that cannot open it can do nothing with a message, not even tell why.
            from workers.bootstrap import open_artifacts

            open_artifacts(system.settings)
        yield system
    except BaseException as error:
        # Who leaves because of an error or a signal waits for nobody; the workers still end in good order.
        stack.__exit__(type(error), error, None)
        raise
    if isinstance(stack, Joined):
        stack.close()
    elif roles:
        stack.close(notice=note, at_rest=lambda: _are_at_rest(system))
    else:
        stack.close(joiner_wait_seconds=READ_WAIT_SECONDS)


def has_data(settings: Settings) -> bool:
    """Tell whether an embedded stack has ever run on the data folder."""
    return (settings.data_dir / BROKER_FOLDER).is_dir()


def _are_at_rest(system: System) -> bool:
    """Tell whether no worker has a message in hand; without an answer they cannot be waited for."""
    try:
        return not system.client.queues()["unacked"]
    except redis.exceptions.RedisError:
        return True


def _connect(settings: Settings, stack: Owned | Joined | None) -> System:
    # Loaded no sooner: where this process starts workers, they load as much at the same time.
    from workers.app import create_app
    from workers.client import Client

    try:
        require_redis(settings)
    except LedgerUnavailable as error:
        if stack is None:
            raise
        raise LedgerUnavailable(
            "The Redis of the embedded stack does not answer. One that hangs is started again by the command that runs "
            "the stack: give this one again in a minute or two."
        ) from error
    app = create_app(settings)
    # Tasks are shared tasks: they are sent through whichever app is current.
    app.set_current()
    app.set_default()
    return System(settings, Client(settings, app), stack)


def _open_embedded(
    settings: Settings,
    note: Callable[[str], None],
    roles: Sequence[str],
    queues: Sequence[str],
    later: Sequence[str],
) -> Owned | Joined:
    record = read_record(settings.data_dir)
    if record is None or record.urls is None:
        what = "the embedded stack" if roles else "the embedded servers"
        note(f"Starting {what} (data in {settings.data_dir}) ...")
    engine = find_engine(_text(settings.redis_server), _text(settings.falkordb_module))
    needed = [name for name in roles if set(ROLES[name].queues) & set(queues)]
    deadline = time.monotonic() + WORKERS_WAIT_SECONDS
    told = False
    while True:
        stack = open_stack(
            settings.data_dir,
            engine,
            _worker_commands(settings, roles),
            child_environment(settings) if roles else {},
            later=later,
            ready=Readiness(settings, queues, since=time.time()),
        )
        if isinstance(stack, Owned) or _runs_roles(settings, needed):
            return stack
        # Its owner runs no workers of the kind we need, and ends soon: then we are the next owner.
        stack.close()
        if time.monotonic() > deadline:
            raise StartFailed(
                f"Another graphmill command uses {settings.data_dir} without the workers that this one needs, and has "
                f"not ended within {WORKERS_WAIT_SECONDS:.0f} s. End it, or run `graphmill up` in its place."
            )
        if not told:
            note(f"Waiting for another graphmill command that uses {settings.data_dir} ...")
            told = True
        time.sleep(_POLL_SECONDS)


def _text(path: Any) -> str | None:
    return str(path) if path is not None else None


def _worker_commands(settings: Settings, roles: Sequence[str]) -> Mapping[str, Sequence[str]]:
    program = [sys.executable, "-m", "workers.worker"]
    soft = f"worker.soft_shutdown_timeout={SOFT_SHUTDOWN_SECONDS}"
    return {name: [*program, *worker_options(ROLES[name], settings.concurrency), soft] for name in roles}


def _runs_roles(settings: Settings, roles: Sequence[str]) -> bool:
    record = read_record(settings.data_dir)
    return record is not None and record.children.keys() >= set(roles)
