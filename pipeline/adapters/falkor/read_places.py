"""Where evidence stands, and how many neighbours to ask an index for until enough can be shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.models import Evidence

_MARGIN = 16
_WIDEN_FACTOR, WIDEST = 4, 4_096
"""Neighbours that may not be shown are made up for by asking for more, within limits."""
WIDEST_IN_SCOPE = 256
"""Likewise within a scope: where this is not enough, comparing all of it is better."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: document, version and passage; path, page and heading; offsets into the text."""

    document: str
    version: str
    passage: str
    source: str
    page: int | None
    start: int | None
    end: int | None
    heading: str

    def narrow(self, span: Sequence[int | None]) -> "Place":
        """Give the place of a span of the passage that stands here."""
        if self.start is None or len(span) != 2 or span[0] is None or span[1] is None:  # noqa: PLR2004 - start, end
            return self
        return replace(self, start=self.start + span[0], end=self.start + span[1])


def read_place(row: Sequence[Any]) -> Place:
    """Read the columns of `read_statements.PLACE`."""
    document, version, passage, source, page, start, end, heading = row
    return Place(document, version, passage, source or "", page, start, end, spell_heading(heading))


def spell_heading(heading: Any) -> str:
    """Spell a stored heading, a list from the outermost on, in one line."""
    return " > ".join(map(str, heading)) if isinstance(heading, list) else heading or ""


def evidence_at(place: Place, kind: str, identity: str, text: str, score: float) -> Evidence:
    """Make evidence of what stands at a place."""
    return Evidence(
        kind=kind,
        id=identity,
        text=text,
        score=score,
        source=place.source,
        page=place.page,
        start=place.start,
        end=place.end,
        heading=place.heading,
        document=place.document,
        version=place.version,
        passage=place.passage,
    )


def widen[T](ask: Callable[[int], Sequence[tuple[float, T | None]]], k: int, widest: int = WIDEST) -> list[T]:
    """Ask for more neighbours until it is certain which k come first, or there are no more.

    `ask` gives so many of them with their similarities, best first and ties by id, and None for what may not be
    shown. An index cuts among equals as it likes: so one that is as near as the last has to wait for all of them.
    """
    size = k + _MARGIN
    while True:
        found = ask(size)
        shown = [(similarity, item) for similarity, item in found if item is not None]
        certain = len(shown) >= k and (k == 0 or shown[k - 1][0] > found[-1][0])
        if certain or len(found) < size or size >= widest:
            return [item for _, item in shown[:k]]
        size *= _WIDEN_FACTOR
