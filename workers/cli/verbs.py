"""`graphmill pause`, `cancel` and `retry`: what a person decides about a run."""

from typing import Annotated

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, JsonOption, RunArgument, data_dir_flag, read_settings
from workers.cli.output import Output
from workers.cli.progress import open_display


def pause(run: RunArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Pause a run: nothing new is begun, what is in hand ends its stage. `graphmill resume` lets it go on."""
    from workers.cli.summary import run_document
    from workers.running import open_system

    output = Output(as_json=as_json)
    with open_system(read_settings(data_dir=data_dir), output.note) as system:
        status = system.client.verbs.pause(run, "paused by hand")
    if as_json:
        output.document(run_document(status))
    else:
        output.line(f"Run {run} is paused. To go on: graphmill resume {run}{data_dir_flag(data_dir)}")
    return ExitCode.OK


def cancel(run: RunArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Cancel a run: what waits ends, half-written documents are removed, finished ones stay."""
    from workers.cli.driving import interruptible
    from workers.cli.summary import show_summary
    from workers.cli.watching import watch_run
    from workers.running import INGEST_QUEUES, INGEST_ROLES, open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(data_dir=data_dir), data_dir_flag(data_dir)
    # Removing what half-written documents left needs a worker.
    with open_system(settings, output.note, roles=INGEST_ROLES, queues=INGEST_QUEUES) as system:
        with open_display(output) as display, interruptible(lambda: f"graphmill cancel {run}{flags}", display.note):
            system.client.verbs.cancel(run)
            status = watch_run(system, display, run)
        show_summary(output, system.client, status, flags)
    return ExitCode.OK


def retry(
    run: RunArgument,
    failed: Annotated[bool, typer.Option("--failed", help="Its failed files; nothing else can be.")] = False,
    code: Annotated[
        str | None, typer.Option("--code", metavar="CODE", help="Only files that failed with this code.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Try the failed files of a run again, after what made them fail is mended."""
    from workers.cli.driving import interruptible
    from workers.cli.summary import show_summary
    from workers.cli.watching import watch_run
    from workers.running import INGEST_QUEUES, INGEST_ROLES, open_system

    if not failed:
        raise UsageMistake("Say what is to be tried again: --failed.")
    output = Output(as_json=as_json)
    settings, flags = read_settings(data_dir=data_dir), data_dir_flag(data_dir)
    with open_system(settings, output.note, roles=INGEST_ROLES, queues=INGEST_QUEUES) as system:
        with open_display(output) as display, interruptible(lambda: f"graphmill resume {run}{flags}", display.note):
            again = system.client.verbs.retry(run, code)
            if code and not again:
                raise UsageMistake(
                    f"No file of run {run} failed with {code!r}. `graphmill failures {run}{flags}` shows the codes."
                )
            display.note(f"{again:,} files are tried again.")
            status = watch_run(system, display, run)
        return show_summary(output, system.client, status, flags)
