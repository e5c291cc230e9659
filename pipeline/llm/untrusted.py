"""Text of others inside prompts: what looks like one of our tags there must not end or begin a part."""

import re
from collections.abc import Iterable

from pipeline.extract.unseen import UNSEEN

_PASSAGE_TAGS = ("passage", "entities")
_ASKED_TAGS = ("context", "question", "history", "draft", "schema")
_HARMLESS = "\u2039"
"""Stands for the bracket of a forged tag. It is as long, and no model takes it for one."""
# Fewer than all that is unseen, as answers are kept by the very prompt that this makes.
_GAP = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*+"
_ASKED_GAP = f"[{UNSEEN}]*+"
_SLASH = "[/\\\\\uff0f\u2044\u2215]"
_ASKED_SLASHES = "[/\\\\\uff0f\u2044\u2215_!?.:-]"
"""What a lenient reader of tags may pass over before a name, any number of them."""


def _forged(tags: Iterable[str], gap: str, slashes: str) -> re.Pattern[str]:
    """Match the bracket of a tag: its letters in any case, plain or full-width, whatever invisible stands between."""
    spelled = (gap.join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in tag) for tag in tags)
    # Possessive, so that long runs of spaces cost no more than other text.
    return re.compile(f"[<\uff1c\ufe64](?={gap}{slashes}(?:{'|'.join(spelled)}))", re.IGNORECASE)


_IN_PASSAGES = _forged(_PASSAGE_TAGS, _GAP, f"(?:{_SLASH}{_GAP})?+")
_IN_ASKED = _forged(_ASKED_TAGS, _ASKED_GAP, f"(?:{_ASKED_SLASHES}{_ASKED_GAP})*+")


def neutralise(text: str) -> str:
    """Spell forged tags of a passage's prompt, `</passage>` in any case, spacing or width, so that they are none."""
    return _IN_PASSAGES.sub(_HARMLESS, text)


def neutralise_asked(text: str) -> str:
    """Spell forged tags of a question's prompt likewise: `</context>`, `</question>`, `</history>` and others."""
    return _IN_ASKED.sub(_HARMLESS, text)
