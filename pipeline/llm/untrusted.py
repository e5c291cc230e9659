"""Text of documents inside prompts: what looks like one of our tags there must not end or begin a part."""

import re

_TAGS = ("passage", "entities")
_HARMLESS = "\u2039"
"""Stands for the bracket of a forged tag. It is as long, and no model takes it for one."""
# White space, and characters that show nothing: soft hyphen, zero width, direction marks, byte order mark.
_GAP = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*+"
_SLASH = "[/\\\\\uff0f\u2044\u2215]"


def _spell(tag: str) -> str:
    """Match a tag's letters in any case, plain or full-width, whatever invisible stands between."""
    return _GAP.join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in tag)


# Possessive, so that long runs of spaces cost no more than other text.
_FORGED = re.compile(f"[<\uff1c\ufe64](?={_GAP}(?:{_SLASH}{_GAP})?+(?:{'|'.join(map(_spell, _TAGS))}))", re.IGNORECASE)


def neutralise(text: str) -> str:
    """Spell forged tags of a prompt's parts, `</passage>` in any case, spacing or width, so that they are none."""
    return _FORGED.sub(_HARMLESS, text)
