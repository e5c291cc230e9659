"""Where a command's results and remarks go: results to standard output, remarks to standard error."""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 400
"""Columns of tables that are piped: what reads them cuts lines itself."""
_PRECISE_BELOW_SECONDS = 10
# Control characters, and those that reorder what is shown: a terminal would obey them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
Note = Callable[[str], None]
"""Shows the user one remark."""


def printable(text: str) -> str:
    """Spell out what a terminal would obey rather than show."""
    return _UNPRINTABLE.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def one_line(text: str) -> str:
    """Make text fit for one line."""
    return printable(" ".join(text.split()))


class Output:
    """One command's output, as text or as JSON. With JSON, nothing else reaches standard output."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    @cached_property
    def remarks(self) -> "Console":
        """Standard error, for progress and remarks."""
        from rich.console import Console

        return Console(stderr=True, highlight=False)

    @cached_property
    def _results(self) -> "Console":
        from rich.console import Console

        console = Console(highlight=False)
        return console if console.is_terminal else Console(highlight=False, width=_WIDE)

    def document(self, value: object) -> None:
        """Write a value as one line of JSON."""
        encoding = (sys.stdout.encoding or "").lower().replace("-", "")
        sys.stdout.write(json.dumps(value, ensure_ascii=encoding != "utf8", allow_nan=False) + "\n")
        sys.stdout.flush()

    def line(self, text: str = "", style: str | None = None) -> None:
        """Write one result as text; no markup in it is obeyed."""
        self._results.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)

    def paragraph(self, text: str, indent: int = 4, style: str = "") -> None:
        """Write running text, wrapped to a terminal's width."""
        from rich.padding import Padding
        from rich.text import Text

        if self._results.is_terminal:
            self._results.print(Padding(Text(printable(text), style), (0, 0, 0, indent)))
        else:
            self.line(" " * indent + one_line(text))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> None:
        """Write a table without lines; the first column is never cut, those in `right` hold numbers."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=any(columns))
        for position, name in enumerate(columns):
            table.add_column(
                name, justify="right" if position in right else "left", overflow="fold", no_wrap=position == 0
            )
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        if self._results.is_terminal:
            self._results.print(table)
            return
        with self._results.capture() as captured:
            self._results.print(table)
        for line in captured.get().splitlines():
            self.line(line.rstrip())

    def start_again(self, title: str) -> None:
        """Begin anew what is shown repeatedly: on a clear screen, or below the last one where there is none."""
        if self._results.is_terminal:
            self._results.clear()
        self.line(title, "bold")

    def note(self, text: str, style: str | None = None) -> None:
        """Write one remark."""
        self.remarks.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)


def seconds_text(seconds: float) -> str:
    """Spell a duration: 0.4 s, 12 s, 3:05, 1:02:03."""
    if seconds < _PRECISE_BELOW_SECONDS:
        return f"{seconds:.1f} s"
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"


def count_text(count: int, one: str, many: str = "") -> str:
    """Spell a number of things: 1 run, 2 runs, 1,200 processes."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or f'{one}s'}"


def as_row(value: Any) -> dict[str, Any]:
    """Give a record as JSON values."""
    from dataclasses import asdict

    return asdict(value)
