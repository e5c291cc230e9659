"""`graphmill artifacts gc`: remove stage results that nothing uses any more."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, JsonOption, read_settings
from workers.cli.output import Output, as_row

if TYPE_CHECKING:
    from pipeline.models import GarbageReport

KEEP_DAYS = 30.0
_DAY = 86_400


def gc(
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="DAYS", min=0, help="Remove what was not used for so long.")
    ] = KEEP_DAYS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and remove nothing.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove stage results that nothing has used for long.

    Safe at any time. What a run or finalize that goes on may need stays, however old it is; what is gone and asked for
    again is made anew.
    """
    from scheduler.garbage import unneeded_since
    from workers.bootstrap import collect_artifacts
    from workers.running import open_system

    output = Output(as_json=as_json)
    now = time.time()
    with open_system(read_settings(data_dir=data_dir), output.note) as system:
        client, folder = system.client, system.settings.artifacts
        since = unneeded_since(client.ledger, client.finalizes, now, older_than * _DAY)
        if since < now - older_than * _DAY:
            day = time.strftime("%Y-%m-%d %H:%M", time.localtime(since))
            output.note(f"A run or finalize goes on that is older than that: what was used since {day} stays.")
        report = collect_artifacts(system.settings, since, dry_run=dry_run)
    if as_json:
        output.document({"folder": str(folder), "dry_run": dry_run, "unused_since": since, **as_row(report)})
    else:
        output.line(f"{folder}: {_describe(report, dry_run=dry_run)}")
    return ExitCode.OK


def _describe(report: "GarbageReport", *, dry_run: bool) -> str:
    verb = "would be removed" if dry_run else "removed"
    return (
        f"{report.removed:,} stage results, {report.drafts:,} unfinished files and {report.folders:,} empty folders "
        f"{verb} ({_megabytes(report.removed_bytes)}); {report.kept:,} stay ({_megabytes(report.kept_bytes)})."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
