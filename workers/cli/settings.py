"""`graphmill settings`: what is in effect, and where it comes from."""

from enum import StrEnum
from typing import Annotated

import typer

from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, JsonOption, read_settings
from workers.cli.output import Output, as_row


class Form(StrEnum):
    """How settings are written."""

    TABLE = "table"
    ENV = "env"
    MARKDOWN = "markdown"


def settings(
    form: Annotated[
        Form, typer.Option("--format", help="A table of what is in effect, or a file of all defaults.")
    ] = Form.TABLE,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show every setting.

    Its variable, its value (passwords masked), where the value is from, and what it is for.
    """
    from workers.cli.entries import list_entries, render_env, render_markdown

    output = Output(as_json=as_json)
    entries = list_entries(read_settings(data_dir=data_dir), flags=() if data_dir is None else ("data_dir",))
    if as_json:
        output.document([as_row(entry) for entry in entries])
    elif form is Form.ENV:
        output.line(render_env(entries).rstrip("\n"))
    elif form is Form.MARKDOWN:
        output.line(render_markdown(entries).rstrip("\n"))
    else:
        rows = [(entry.name, entry.value or "-", entry.source, entry.description) for entry in entries]
        output.table(("variable", "value", "source", "what it is for"), rows)
    return ExitCode.OK
