"""reStructuredText: plain text whose underlined titles are headings."""

import re

from pipeline.adapters.readers.text import decode_clean
from pipeline.models import Heading, LoadedText

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1*")
_MAX_TITLE = 200


def read_rst(data: bytes, max_chars: int) -> LoadedText:
    """Read a reStructuredText file; raises as `read_text` does."""
    text, decoded = decode_clean(data, max_chars)
    return LoadedText(
        text, "text/x-rst", encoding=decoded.encoding, headings=find_titles(text), warnings=decoded.warnings
    )


def find_titles(text: str) -> tuple[Heading, ...]:
    """Find section titles: a line at the margin, underlined in full, perhaps overlined too.

    Levels count in the order in which the styles (character, overlined or not) first appear, as
    reStructuredText has it.
    """
    lines = text.split("\n")
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    position = 0
    for index, line in enumerate(lines):
        above = lines[index - 1].rstrip() if index else ""
        below = lines[index + 1].rstrip() if index + 1 < len(lines) else ""
        title = line.strip()
        overlined = above == below and bool(above)
        if _is_title(line, title, below, overlined=overlined) and (overlined or not above):
            style = (below[0], overlined)
            if style not in styles:
                styles.append(style)
            start = position - len(lines[index - 1]) - 1 if overlined else position
            headings.append(Heading(level=styles.index(style) + 1, title=title[:_MAX_TITLE], start=start))
        position += len(line) + 1
    return tuple(headings)


def _is_title(line: str, title: str, below: str, *, overlined: bool) -> bool:
    if not title or len(below) < len(title) or not _RULE.fullmatch(below) or _RULE.fullmatch(title):
        return False
    return overlined or not line[0].isspace()
