"""What `graphmill ingest` is given besides folders: a text from standard input or a file, or a table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workers.cli.exits import UsageMistake
from workers.cli.output import Output

if TYPE_CHECKING:
    from pipeline.tables import TableOrder
    from workers.settings import Settings

STANDARD_INPUT = "-"


def check_text_options(text: str | None, identity: str | None, paths: object, root: object) -> None:
    """Refuse options of a text that do not go together, before anything is read or started.

    Raises `UsageMistake`, `DocumentIdInvalid`.
    """
    if identity is not None and text is None:
        raise UsageMistake("--id names the document of a text: give the text, too (--text - for standard input).")
    if text is None:
        if not paths:
            raise UsageMistake("Nothing to ingest. Name files or folders, or give a text (--text - --id ID).")
        return
    if paths or root:
        raise UsageMistake(
            "--text is ingested alone: leave out the paths, --root and --table, or ingest them by themselves."
        )
    if identity is None:
        raise UsageMistake("A text has no name of its own: give its document an id (--id ID).")
    from scheduler.given import check_document_id

    check_document_id(identity)


def read_order(
    table: bool, label: str | None, key: str | None, name: str | None, refs: Sequence[str]
) -> "TableOrder | None":
    """Make the order of a table of its options; None where none was asked for.

    Raises `UsageMistake`, `TableInvalid`.
    """
    if not table:
        given = {"--label": label, "--key": key, "--name": name, "--ref": refs}
        if alone := [option for option, value in given.items() if value]:
            raise UsageMistake(f"{alone[0]} is for tables: add --table.")
        return None
    if not label or not key:
        raise UsageMistake("Say what the rows of the table are and what tells them apart: --label LABEL --key COLUMN.")
    from pipeline.tables import TableOrder

    pairs = [ref.rpartition("=") for ref in refs]
    if wrong := [ref for ref, (column, _, of) in zip(refs, pairs, strict=True) if not column or not of]:
        raise UsageMistake(f"--ref {wrong[0]} is not COLUMN=LABEL, as in --ref employer=Company.")
    return TableOrder(label, key, name or "", {column: of for column, _, of in pairs})


def check_table(places: Sequence[Path], root: Path, order: "TableOrder") -> None:
    """Refuse what is not one file beneath the root, before anything is started; raises `LoadError` likewise."""
    from workers.giving import prepare_table

    if len(places) != 1:
        raise UsageMistake("Tables are ingested one by one, as each has columns of its own: name one PATH.")
    prepare_table(places[0], root, order)


def read_text(output: Output, settings: "Settings", source: str) -> str:
    """Read the text that `--text` means; raises `LoadError` for what is no text, `UsageMistake` for no file."""
    from pipeline.errors import LoadCode, LoadError
    from workers.resources import decode_given

    limit = settings.load.max_file_bytes
    try:
        if source == STANDARD_INPUT:
            if sys.stdin.isatty():
                output.note("Reading the text from the terminal; Ctrl-D on an empty line ends it.")
            data = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(limit + 1)
    except OSError as error:
        raise UsageMistake(
            f"--text {source} cannot be read: {error.strerror}. `--text -` reads standard input."
        ) from None
    if len(data) > limit:
        raise LoadError(
            LoadCode.TOO_LARGE, f"The text has more than {limit:,} bytes. Raise max_file_bytes or split it."
        )
    text, warnings = decode_given(data)
    for warning in warnings:
        output.note(warning)
    return text
