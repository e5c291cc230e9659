"""The rows of a CSV text, with the line that each stands in; whatever does not fit is refused with line and fix."""

import csv
import io
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.errors import LoadCode, LoadError, TableInvalid
from pipeline.tables.order import TableOrder

MAX_KEY_CHARS = 256
"""Two keys and a relation's type must fit into one id."""
MAX_NAME_CHARS = 500
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_SHOWN_COLUMNS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the line in which it begins, from 1, and its cells without the white space around them."""

    line: int
    cells: tuple[str, ...]


def read_rows(text: str, order: TableOrder) -> tuple[tuple[str, ...], list[Row]]:
    """Give the columns' names and the rows.

    Raises:
        LoadError: `EMPTY_DOCUMENT` where there is no row.
        TableInvalid: a column is missing, a row or a key is not as it must be.
    """
    delimiter = _find_delimiter(text, order)
    records = _read_records(text, delimiter)
    header = next(records, None)
    rows = list(records)
    if header is None or not rows:
        raise LoadError(LoadCode.EMPTY_DOCUMENT, "The table has no rows.")
    _check_header(header.cells, delimiter, order)
    _check_rows(header.cells, rows, order)
    return header.cells, rows


def _find_delimiter(text: str, order: TableOrder) -> str:
    """Choose what splits the first line into the most columns, the key's among them."""

    def fitness(delimiter: str) -> tuple[bool, int]:
        try:
            first = next(_read_records(text, delimiter), None)
        except TableInvalid:
            return False, 0
        return (order.key in first.cells, len(first.cells)) if first else (False, 0)

    return max(_DELIMITERS, key=fitness)


def _read_records(text: str, delimiter: str) -> Iterator[Row]:
    """Read records; those of empty cells alone are passed over."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = tuple(unicodedata.normalize("NFC", cell.strip()) for cell in next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            raise TableInvalid(_explain(error, line)) from error
        if any(cells):
            yield Row(line, cells)


def _explain(error: csv.Error, line: int) -> str:
    if "field larger" in str(error):
        return (
            f"Line {line}: a cell has more than {csv.field_size_limit():,} characters. Is a quote left open there? "
            "If not, shorten it, or ingest such texts as files."
        )
    if "unexpected end" in str(error):
        return f"Line {line}: a quote is opened and never closed. Close it, or write quotes in a cell twice."
    return f"Line {line}: {error}. Quotes in a quoted cell are written twice."


def _check_header(header: Sequence[str], delimiter: str, order: TableOrder) -> None:
    columns = ", ".join(repr(column) for column in header[:_SHOWN_COLUMNS])
    if len(header) > _SHOWN_COLUMNS:
        columns += f" and {len(header) - _SHOWN_COLUMNS} more"
    wanted = [("--key", order.key), *([("--name", order.name)] if order.name else [])]
    for option, column in [*wanted, *(("--ref", column) for column in order.refs)]:
        if column not in header:
            raise TableInvalid(
                f"There is no column {column!r} ({option}). The first line, split at the {_DELIMITERS[delimiter]}, "
                f"names {columns}."
            )
    for place, column in enumerate(header, start=1):
        if not column:
            raise TableInvalid(f"Column {place} has no name in the first line. Name it, or leave the column out.")
        if column in header[: place - 1]:
            raise TableInvalid(f"Two columns are called {column!r}. Rename one of them.")


def _check_rows(header: Sequence[str], rows: Sequence[Row], order: TableOrder) -> None:
    key_at = header.index(order.key)
    name_at = header.index(order.name) if order.name else key_at
    pointing = [header.index(column) for column in order.refs]
    lines: dict[str, int] = {}
    for row in rows:
        if len(row.cells) != len(header):
            raise TableInvalid(
                f"Line {row.line} has {len(row.cells)} cells, the first line {len(header)}. Quote cells that hold the "
                "delimiter, and write empty cells, too."
            )
        key = row.cells[key_at]
        if not key:
            raise TableInvalid(f"Line {row.line} has no {order.key!r}. Each row needs a key (--key names its column).")
        if key in lines:
            raise TableInvalid(
                f"Line {row.line}: the key {key!r} is that of line {lines[key]}. Keys must differ; remove one of the "
                "rows, or name another column (--key)."
            )
        lines[key] = row.line
        for place in (key_at, *pointing):
            _check_key(row.cells[place], header[place], row.line)
        if name_at != key_at and len(row.cells[name_at]) > MAX_NAME_CHARS:
            raise TableInvalid(
                f"Line {row.line}: its {order.name!r} has {len(row.cells[name_at]):,} characters, a name at most "
                f"{MAX_NAME_CHARS}. Name another column (--name)."
            )


def _check_key(key: str, column: str, line: int) -> None:
    if len(key) > MAX_KEY_CHARS:
        raise TableInvalid(
            f"Line {line}: its {column!r} has {len(key):,} characters, a key at most {MAX_KEY_CHARS}. Shorten it."
        )
    if any(unicodedata.category(char) == "Cc" for char in key):
        raise TableInvalid(f"Line {line}: its {column!r} holds a line end or a control character. Keys hold none.")
