"""Markdown: the text stays its source, so that offsets are exact; the parser only finds the headings."""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.adapters.readers.text import decode_clean
from pipeline.models import Heading, LoadedText

# A YAML block at the very top, known by its first key; CommonMark would take its end for the
# underline of a heading.
_FRONT_MATTER = re.compile(r"---[^\S\n]*\n(?=[^\n:]+:)(?:(?!---|\.\.\.).*\n)*(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)")
_MAX_TITLE = 200
# The parser makes tokens of all it reads, at worst 300 bytes a character, 10 µs each.
_MAX_PARSED = 1_000_000
_MARKUP = re.compile(r"[^\w ,.:;()/-]")


def read_markdown(data: bytes, max_chars: int) -> LoadedText:
    """Read a Markdown file (CommonMark with tables); raises as `read_text` does."""
    text, decoded = decode_clean(data, max_chars)
    warnings = decoded.warnings
    if len(text) > _MAX_PARSED:
        warnings += (f"Headings after the first {_MAX_PARSED:,} characters are not recognised.",)
    return LoadedText(
        text, "text/markdown", encoding=decoded.encoding, headings=find_headings(text[:_MAX_PARSED]), warnings=warnings
    )


def find_headings(text: str) -> tuple[Heading, ...]:
    """Find the headings of the document itself: not in code, quotations, lists or front matter."""
    front = _FRONT_MATTER.match(text)
    skipped = front.end() if front else 0
    starts = _find_line_starts(text, skipped)
    tokens = _block_parser().parse(text[skipped:])
    return tuple(
        Heading(level=int(token.tag[1:]), title=title, start=starts[token.map[0]])
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map and (title := _read_title(inline))
    )


@cache
def _block_parser() -> MarkdownIt:
    # Inline parsing of whole documents is slow, and quadratic on brackets; titles get their own below.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


@cache
def _title_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _read_title(inline: Token) -> str:
    """Give a heading's words without their markup."""
    content = inline.content[:_MAX_TITLE]
    if not _MARKUP.search(content):
        return content
    tokens = _title_parser().parseInline(content)
    words = [
        child.content if child.type in {"text", "code_inline"} else " "
        for token in tokens
        for child in token.children or ()
        if child.type in {"text", "code_inline", "softbreak", "hardbreak"}
    ]
    return " ".join("".join(words).split())


def _find_line_starts(text: str, begin: int) -> list[int]:
    starts = [begin]
    while (end := text.find("\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts
