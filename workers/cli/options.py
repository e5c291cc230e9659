"""Options that several commands share, with one meaning and one help text each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import UsageMistake

if TYPE_CHECKING:
    from scheduler.records import Budget
    from workers.settings import Settings

GraphOption = Annotated[
    str | None,
    typer.Option("--graph", "-g", metavar="NAME", help="Graph to use. Default: FALKORDB_GRAPH, or graphmill."),
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="Folder of the embedded stack. Default: GRAPHMILL_DATA_DIR, or .graphmill."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")]
MaxUsdOption = Annotated[
    float | None,
    typer.Option(
        "--max-usd", metavar="USD", min=0, help="Pause once calls of a language model have cost this much in all."
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=0, help="Pause once calls of a language model have used so many tokens in all."
    ),
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="Id of a run; `graphmill runs` lists them.")]


def read_budget(max_usd: float | None, max_tokens: int | None) -> "Budget | None":
    """Give what a run may spend; None where nothing is said."""
    from scheduler.records import Budget

    return None if max_usd is None and max_tokens is None else Budget(max_usd, max_tokens)


def read_settings(*, graph: str | None = None, data_dir: Path | None = None) -> "Settings":
    """Read the settings that flags and environment give; logs go to standard error from here on.

    The servers of a running embedded stack are not filled in: `open_system` joins them.
    """
    from workers.settings import Settings
    from workers.telemetry import configure_logging

    given: dict[str, Any] = {"graph": graph, "data_dir": data_dir}
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    # A command's own remarks say what matters: logs add warnings, and more only when asked.
    quiet = "log_level" not in settings.model_fields_set
    try:
        configure_logging(settings.model_copy(update={"log_level": "WARNING"}) if quiet else settings)
    except ValueError as error:
        raise UsageMistake(f"LOG_LEVEL: {error}. Use DEBUG, INFO, WARNING or ERROR.") from error
    return settings


def data_dir_flag(data_dir: Path | None) -> str:
    """Repeat the flag in a command that we suggest."""
    import shlex

    return f" --data-dir {shlex.quote(str(data_dir))}" if data_dir is not None else ""
