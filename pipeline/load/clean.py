r"""The text rules that hold before anything is hashed, cut or stored.

What is removed here cannot be stored by the graph (NUL and its like) or be encoded at all (lone
surrogates). Everything else stays: offsets into the cleaned text are offsets for ever.
"""

import re

from pipeline.errors import LoadCode, LoadError

# C0 except tab, the line ends, and the two separators that become line ends.
_UNSTORABLE = bytes((*range(0x09), *range(0x0E, 0x20)))
_LINE_ENDS = ("\r\n", "\r", "\x0b", "\x0c")
_SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_SURROGATE_BYTE = b"\xed"
_BYTE_ORDER_MARK = "\ufeff"
# White space and characters without width: what holds nothing else shows nothing.
_VISIBLE = re.compile("[^\\s\u200b\u200c\u200d\u2060\ufeff\u00ad]")


def clean(text: str) -> str:
    """Make text storable: no control characters, LF line ends, only whole characters.

    Cleaning twice is cleaning once. Form feeds and vertical tabs are line ends, so that the words
    around them do not grow together; surrogate pairs become the character they stand for.
    """
    # As bytes, where no part of a longer character looks like one of these: many times faster than a pattern.
    data = text.encode("utf-8", "surrogatepass").translate(None, _UNSTORABLE)
    text = data.decode("utf-8", "surrogatepass")
    for line_end in _LINE_ENDS:
        text = text.replace(line_end, "\n")
    # Few texts hold what a surrogate's bytes begin with.
    if _SURROGATE_BYTE in data:
        text = _SURROGATES.sub(_join_pair, text)
    return text.lstrip(_BYTE_ORDER_MARK)


def require_text(text: str, max_chars: int, what: str = "The file") -> None:
    """Refuse text that shows nothing, or more than may be kept; `what` holds it.

    Raises:
        LoadError: `EMPTY_DOCUMENT` or `LIMIT_EXCEEDED`.
    """
    if not _VISIBLE.search(text):
        raise LoadError(LoadCode.EMPTY_DOCUMENT, f"{what} holds no text, only white space.")
    if len(text) > max_chars:
        raise LoadError(
            LoadCode.LIMIT_EXCEEDED,
            f"The text has {len(text):,} characters; the limit is {max_chars:,}. Raise max_text_chars or split it.",
        )


def _join_pair(match: re.Match[str]) -> str:
    pair = match.group()
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le") if len(pair) == 2 else ""  # noqa: PLR2004 - a pair is two
