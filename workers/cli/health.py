"""`graphmill health`: whether everything that a run needs is there and in order."""

import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.addresses import mask_url, spell_for_redis
from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, JsonOption, read_settings
from workers.cli.output import Output, one_line
from workers.cli.serving import check_role

if TYPE_CHECKING:
    import redis

    from scheduler.workers import Worker
    from workers.running import System
    from workers.selfcheck import Finding
    from workers.settings import Settings

FRESH_SECONDS = 20.0
"""A worker announces itself every five seconds; one that was silent for so long is not well."""
_STYLES = {"warning": "yellow", "error": "red"}


def _check_optional_role(name: str | None) -> str | None:
    return None if name is None else check_role(name)


def health(
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            callback=_check_optional_role,
            help="Ask only whether a worker of this role lives on this host.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Check engine, servers, workers, stores.

    Exit status 0: in order; 1: an error was found, or no worker of --role lives here; 3: a server does not answer.
    """
    output = Output(as_json=as_json)
    settings = read_settings(data_dir=data_dir)
    return _check_role(output, settings, role) if role is not None else _check_all(output, settings)


def _check_role(output: Output, settings: "Settings", role: str) -> ExitCode:
    workers, now = _list_workers(output, settings)
    fresh = fresh_workers(workers, role, socket.gethostname(), now)
    if output.as_json:
        output.document({"role": role, "workers": [worker.name for worker in fresh]})
    elif fresh:
        output.line(f"ok: {', '.join(worker.name for worker in fresh)}")
    else:
        output.line(f"No worker of role {role} has told that it lives on this host in the last {FRESH_SECONDS:.0f} s.")
    return ExitCode.OK if fresh else ExitCode.FAILED


def _list_workers(output: Output, settings: "Settings") -> "tuple[Sequence[Worker], float]":
    """List the living workers; the second value is the time by the clock that they announce themselves by."""
    if settings.configured:
        # Every container asks twice a minute: without the second of imports that a whole system costs.
        from scheduler.workers import Workers
        from workers.connections import connect_redis, require_redis

        require_redis(settings)
        with connect_redis(settings) as client:
            return Workers(client).living(), float(client.time()[0])
    from workers.running import open_system

    with open_system(settings, output.note) as system:
        return system.workers(), time.time()


def fresh_workers(workers: "Sequence[Worker]", role: str, host: str, now: float) -> "list[Worker]":
    """Choose the workers of a role on a host that announced themselves lately.

    Their own word is taken rather than a ping: it is given by the loop that reads the queues, and each
    ping from a new process leaves a reply queue in Redis.
    """
    return [
        worker
        for worker in workers
        if worker.name.startswith(f"{role}-")
        and worker.name.partition("@")[2] == host
        and now - worker.seen <= FRESH_SECONDS
    ]


def _check_all(output: Output, settings: "Settings") -> ExitCode:
    from workers.running import has_data, open_system
    from workers.selfcheck import Finding, Level

    findings: list[Finding] = []
    with _trial_folder(settings, keep=settings.configured or has_data(settings)) as tried:
        if not settings.configured:
            findings.append(_find_engine(settings))
        with open_system(tried, output.note, may_be_new=True) as system:
            reachable, found = _check_servers(system.settings)
            findings += [*found, *_check_workers(system), *_check_memory(system)]
    findings.append(_check_artifacts(settings.artifacts))
    worst = max((finding.level for finding in findings), key=list(Level).index)
    if output.as_json:
        rows = [{"level": f.level.value, "what": f.what, "fix": f.fix} for f in findings]
        output.document({"status": worst.value, "findings": rows})
    else:
        for finding in findings:
            _show(output, finding)
    if worst is not Level.ERROR:
        return ExitCode.OK
    return ExitCode.FAILED if reachable else ExitCode.UNREACHABLE


@contextmanager
def _trial_folder(settings: "Settings", *, keep: bool) -> Iterator["Settings"]:
    """Give settings to try the system with: a look at a new data folder must not make one."""
    if keep:
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="graphmill-health-") as folder:
        yield settings.model_copy(update={"data_dir": Path(folder)})


def _find_engine(settings: "Settings") -> "Finding":
    from workers.embedded import find_engine
    from workers.selfcheck import Finding, Level

    paths = [str(path) if path is not None else None for path in (settings.redis_server, settings.falkordb_module)]
    engine = find_engine(*paths)
    return Finding(Level.OK, f"embedded: engine of {engine.source} ({engine.server})")


def _check_servers(settings: "Settings") -> "tuple[bool, list[Finding]]":
    """Check the servers; the first value tells whether each answers."""
    from workers.connections import connect_redis, redis_url
    from workers.graphs import DEFAULT_FALKORDB
    from workers.selfcheck import Finding, Level, check_broker, check_servers

    graph_url = settings.falkordb_url.get_secret_value() if settings.falkordb_url else DEFAULT_FALKORDB
    ledger = connect_redis(settings)
    graph = connect_redis(_pointed_at(settings, spell_for_redis(graph_url)))
    clients = [ledger, graph]
    found = [
        Finding(Level.OK, f"broker: {mask_url(redis_url(settings))}"),
        Finding(Level.OK, f"graph: {mask_url(graph_url)}"),
        *check_servers(ledger, graph),
    ]
    queues_url = settings.broker_url.get_secret_value() if settings.broker_url else redis_url(settings)
    if queues_url != redis_url(settings):
        queues = connect_redis(_pointed_at(settings, queues_url))
        clients.append(queues)
        found += [Finding(Level.OK, f"queues: {mask_url(queues_url)}"), *check_broker(queues)]
    return all(_answers(client) for client in clients), found


def _answers(client: "redis.Redis") -> bool:
    import redis

    try:
        client.ping()
    except redis.exceptions.RedisError:
        return False
    finally:
        client.close()
    return True


def _pointed_at(settings: "Settings", url: str) -> "Settings":
    from pydantic import SecretStr

    changed: dict[str, Any] = {"redis_url": SecretStr(url)}
    return settings.model_copy(update=changed)


def _check_workers(system: "System") -> "list[Finding]":
    from workers.celeryconfig import QUEUES
    from workers.cli.driving import role_for
    from workers.selfcheck import Finding, Level

    if system.owned:
        return [Finding(Level.OK, "workers: none run; the embedded ones start with the commands that need them")]
    processes = dict.fromkeys(QUEUES, 0)
    for worker in system.workers():
        for queue in worker.queues:
            processes[queue] = processes.get(queue, 0) + worker.processes
    findings = [Finding(Level.OK, f"queue {name}: {count} processes") for name, count in processes.items() if count]
    # Without a control worker the watching commands do the control work.
    unread = [name for name, count in processes.items() if not count and name != "control"]
    return findings + [
        Finding(Level.WARNING, f"queue {name}: no living worker reads it", f"graphmill worker {role_for([name])}")
        for name in unread
    ]


def _check_memory(system: "System") -> "list[Finding]":
    from workers.cli.driving import ROOM_FIX
    from workers.selfcheck import Finding, Level

    memory = system.client.memory()
    if not memory.above_mark:
        return []
    what = f"broker: {memory}: nothing new is dispatched, and submission waits"
    return [Finding(Level.WARNING, what, f"It goes on by itself; {ROOM_FIX}")]


def _check_artifacts(folder: Path) -> "Finding":
    """Look at the store of stage results without making one."""
    from workers.selfcheck import Finding, Level

    try:
        store_id = (folder / "store" / "id").read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return Finding(Level.OK, f"artifacts: {folder} is made with the first run")
    except OSError as error:
        return Finding(
            Level.ERROR, f"artifacts: {folder} cannot be read ({error.strerror})", "Make it readable and writable."
        )
    return Finding(Level.OK, f"artifacts: {folder} (store {store_id})")


def _show(output: Output, finding: "Finding") -> None:
    output.line(f"{finding.level.value:<8} {one_line(finding.what)}", _STYLES.get(finding.level.value))
    if finding.fix:
        output.paragraph(finding.fix, indent=9)
