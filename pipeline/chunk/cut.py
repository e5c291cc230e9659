"""Text to passages with exact offsets, pages and headings."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import pairwise

from pipeline.chunk.pack import pack
from pipeline.config import ChunkConfig
from pipeline.ids import fingerprint
from pipeline.models import Chunk, Heading, LoadedText

# Raise it when a rule in this folder changes where text is cut.
_RULES_VERSION = "1"
# Between a heading and the next, these say nothing: white space and underlines.
_UNDERLINES = " \t\n=-~^\"'`#*+_:."


# Asked for with every file, and the version is read from the package's files.
@lru_cache(maxsize=64)
def chunk_fingerprint(config: ChunkConfig) -> str:
    """Name the rules: changes when the same text may be cut otherwise."""
    return fingerprint((_RULES_VERSION, f"sentencex {version('sentencex')}", config.fingerprint))


def chunk(loaded: LoadedText, config: ChunkConfig) -> tuple[Chunk, ...]:
    """Cut a text into passages of at most `max_tokens` estimated tokens.

    Each passage is a stretch of the text without the white space around it; together they hold
    every visible character. Sentences stay whole unless one alone is too long.
    """
    text = loaded.text
    headings = sorted(loaded.headings, key=lambda heading: heading.start)
    page_starts = [page.start for page in loaded.pages]
    outline = _Outline(text, headings)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for span in pack(text, {heading.start: heading.level for heading in headings}, config):
        raw = text[slice(*span)]
        passage = raw.strip()
        if not passage:
            continue
        start = span[0] + len(raw) - len(raw.lstrip())
        end = start + len(passage)
        chunks.append(
            Chunk(
                index=len(chunks),
                start=start,
                end=end,
                text=passage,
                occurrence=seen[passage],
                page_first=_find_page(loaded, page_starts, start),
                page_last=_find_page(loaded, page_starts, end - 1),
                heading_path=outline.find_path(span[0], start, end),
            )
        )
        seen[passage] += 1
    return tuple(chunks)


def _find_page(loaded: LoadedText, page_starts: Sequence[int], position: int) -> int | None:
    index = bisect_right(page_starts, position) - 1
    return loaded.pages[index].number if index >= 0 else None


class _Outline:
    """The headings of a document, asked for the path to a place."""

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        self._starts = [heading.start for heading in headings]
        self._paths: list[tuple[str, ...]] = []
        open_headings: list[Heading] = []
        for heading in headings:
            while open_headings and open_headings[-1].level >= heading.level:
                open_headings.pop()
            open_headings.append(heading)
            self._paths.append(tuple(above.title for above in open_headings))
        self._is_bare = [_is_bare(text, heading, below.start) for heading, below in pairwise(headings)]

    def find_path(self, begin: int, start: int, end: int) -> tuple[str, ...]:
        """Give the titles above the passage's first words, from the top.

        A passage that begins with a title and goes straight on to a subtitle is about the latter.

        Args:
            begin: Where the passage begins with the white space before it.
            start: Where its text begins.
            end: Where it ends.
        """
        index = bisect_right(self._starts, start) - 1
        while 0 <= index < len(self._is_bare) and self._starts[index] >= begin:
            if not self._is_bare[index] or self._starts[index + 1] >= end:
                break
            index += 1
        return self._paths[index] if index >= 0 else ()


def _is_bare(text: str, heading: Heading, next_start: int) -> bool:
    """Whether nothing but the title and its underline stands between a heading and the next."""
    title_end = text.find("\n", heading.start, next_start)
    if title_end < 0 or not text[title_end:next_start].strip(_UNDERLINES):
        return True
    return text[heading.start : next_start].strip(_UNDERLINES) == heading.title
