"""`graphmill worker`, `up` and `flower`: processes that stay in the foreground until they are ended."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from workers.addresses import mask_url
from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output
from workers.roles import ROLES, worker_arguments

if TYPE_CHECKING:
    from workers.running import System
    from workers.settings import Settings

FLOWER_PORT = 5555
_FLOWER_CONF = Path("ops") / "flower" / "flowerconfig.py"
# What ops/flower/flowerconfig.py sets, for an installation without the folder.
_FLOWER_DEFAULTS = ("--address=127.0.0.1", "--read_only=True", "--max_tasks=20000", "--purge_offline_workers=600")


def check_role(name: str) -> str:
    """Refuse a role that is none, and name those that are."""
    if name not in ROLES:
        raise typer.BadParameter(f"{name!r} is no role. Roles: {', '.join(ROLES)}.")
    return name


def worker(
    role: Annotated[str, typer.Argument(metavar="ROLE", callback=check_role, help=f"One of {', '.join(ROLES)}.")],
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-c", min=1, metavar="N", help="Processes. Default: the role's own.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Run a worker of one role.

    It stays in the foreground until it is ended. For clusters, or to add processes to a running embedded stack.
    """
    from workers.connections import require_redis

    output = Output(as_json=as_json)
    settings = _running_settings(data_dir)
    require_redis(settings)
    chosen = ROLES[role] if concurrency is None else replace(ROLES[role], concurrency=concurrency)
    output.note(f"Worker {role}: {chosen.purpose} (queues {', '.join(chosen.queues)}).")
    _become_celery(settings, worker_arguments(chosen, settings.concurrency))


def flower(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port on 127.0.0.1.")] = FLOWER_PORT,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show workers and tasks in a browser (Flower)."""
    output = Output(as_json=as_json)
    settings = _running_settings(data_dir)
    conf = Path(__file__).parents[2] / _FLOWER_CONF
    arguments = ["flower", f"--port={port}"]
    if conf.is_file():
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        arguments += [f"--conf={conf}", f"--db={settings.data_dir / 'flower.db'}"]
    else:
        arguments += _FLOWER_DEFAULTS
    output.note(f"Flower: http://127.0.0.1:{port} (Ctrl-C ends it)")
    _become_celery(settings, arguments)


def up(
    show_passwords: Annotated[
        bool, typer.Option("--show-passwords", help="Show the servers' addresses with their passwords.")
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Keep the embedded stack running.

    Until Ctrl-C, other commands use its servers and workers, rather than start their own.
    """
    from workers.celeryconfig import QUEUES
    from workers.cli.driving import drive
    from workers.running import INGEST_ROLES, open_system

    output = Output(as_json=as_json)
    settings = read_settings(data_dir=data_dir)
    if settings.configured:
        raise UsageMistake(
            "`up` runs the embedded stack, but REDIS_URL or FALKORDB_URL names servers that run already. "
            "Unset them, or start workers for those servers: graphmill worker all"
        )
    queues = [queue for queue in QUEUES if queue != "control"]
    with open_system(settings, output.note, roles=INGEST_ROLES, queues=queues, may_be_new=True) as system:
        _show_stack(output, system, data_dir_flag(data_dir), show_passwords=show_passwords)
        if not system.owned:
            output.note("Another graphmill process runs this stack already.")
            return ExitCode.OK
        try:
            drive(
                system,
                output.note,
                look=lambda: None,
                show=lambda _: None,
                over=lambda _: False,
                needed=lambda _: (),
            )
        except KeyboardInterrupt:
            # How `up` is meant to end: in good order, after the commands that use the stack.
            output.note("Stopping; Ctrl-C again forces it.")
    return ExitCode.OK


def _show_stack(output: Output, system: "System", flags: str, *, show_passwords: bool) -> None:
    spell = str if show_passwords else mask_url
    settings = system.settings
    if settings.redis_url is None or settings.falkordb_url is None:
        raise RuntimeError("an embedded stack has two servers")
    redis_url = spell(settings.redis_url.get_secret_value())
    graph_url = spell(settings.falkordb_url.get_secret_value())
    if output.as_json:
        output.document({"redis_url": redis_url, "falkordb_url": graph_url, "data_dir": str(settings.data_dir)})
        return
    output.line("graphmill is up. Ctrl-C ends it.", "bold")
    output.line(f"  REDIS_URL={redis_url}")
    output.line(f"  FALKORDB_URL={graph_url}")
    output.line("From another shell, in the same folder:" if not flags else "From another shell:")
    output.line(f"  graphmill ingest FOLDER{flags}")
    output.line(f'  graphmill ask "QUESTION"{flags}')
    output.line(f"  graphmill flower{flags}")


def _running_settings(data_dir: Path | None) -> "Settings":
    """Read settings that name servers: configured ones, or those of a running embedded stack."""
    from workers.embedded import StackLost
    from workers.settings import load_settings

    settings = read_settings(data_dir=data_dir)
    if settings.configured:
        return settings
    running = load_settings(data_dir=settings.data_dir)
    if not running.configured:
        raise StackLost(
            f"No servers: REDIS_URL and FALKORDB_URL are not set, and no embedded stack runs on {settings.data_dir}. "
            f"Start one: graphmill up{data_dir_flag(data_dir)}"
        )
    return running


def _become_celery(settings: "Settings", arguments: Sequence[str]) -> NoReturn:
    """Replace this process, so that signals and the process id are the worker's own."""
    from workers.settings import child_environment

    command = [sys.executable, "-m", "celery", "-A", "workers.app", *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command, child_environment(settings))  # noqa: S606 - no shell is wanted
