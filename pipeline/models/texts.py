"""What is made of a file: its text with pages and headings, and the passages that this is cut into."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paginated document: its number from 1, and its span in the document's text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level from 1, its title, and where its line starts in the document's text."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class LoadedText:
    """What a reader makes of a file: clean text (no NUL, no lone surrogate) and its structure."""

    text: str
    media_type: str
    encoding: str | None = None
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is exactly `document.text[start:end]`.

    `occurrence` counts equal passages before this one in the document, `index` all passages.
    """

    index: int
    start: int
    end: int
    text: str
    occurrence: int = 0
    page_first: int | None = None
    page_last: int | None = None
    heading_path: tuple[str, ...] = ()
