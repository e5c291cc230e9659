"""Cutting a passage in two where its prompt or its answer is too long, and joining what the halves say."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pipeline.models import Extraction, Mention, Relation

# Where to cut, the best first: blank lines and ends of sentences, then any white space.
_GAPS = (re.compile(r"""\n[^\S\n]*\n\s*|[.!?…]["'”’»)\]]*\s+|[。！？]"""), re.compile(r"\s+"))


def find_cut(text: str, found: Sequence[Mention] = ()) -> int:
    """Give where to cut a text of 2 or more characters: near its middle, at the best place of its middle half.

    A place inside a mention that was `found` is none: `St. Louis` has two words and ends no sentence.
    """
    middle = len(text) // 2
    first, last = len(text) // 4, len(text) - len(text) // 4
    for gap in _GAPS:
        ends = [match.end() for match in gap.finditer(text, first, last) if 0 < match.end() < len(text)]
        if apart := [end for end in ends if not any(mention.start < end < mention.end for mention in found)]:
            return min(apart, key=lambda end: abs(end - middle))
    return middle


def cut_mentions(mentions: Sequence[Mention], cut: int) -> tuple[list[Mention], list[Mention]]:
    """Give the mentions of each half, with offsets into it; one across the cut is in neither."""
    before = [mention for mention in mentions if mention.end <= cut]
    after = [_shift(mention, -cut) for mention in mentions if mention.start >= cut]
    return before, after


def join(first: Extraction, second: Extraction, cut: int) -> Extraction:
    """Make one extraction of those of two halves."""
    return Extraction(
        mentions=(*first.mentions, *(_shift(mention, cut) for mention in second.mentions)),
        relations=(*first.relations, *(_shift(relation, cut) for relation in second.relations)),
        dropped=dict(Counter(first.dropped) + Counter(second.dropped)),
    )


def _shift[T: (Mention, Relation)](item: T, by: int) -> T:
    """Move what has a span; an empty one says that the place is not known."""
    return replace(item, start=item.start + by, end=item.end + by) if item.start < item.end else item
