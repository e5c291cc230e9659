"""Plain text: decoding is all there is to it."""

import re

from pipeline.adapters.readers.encoding import Decoded, decode
from pipeline.errors import LoadCode, LoadError
from pipeline.load.clean import clean
from pipeline.models import LoadedText

# White space and characters without width: a file of nothing else shows nothing.
_VISIBLE = re.compile("[^\\s\u200b\u200c\u200d\u2060\ufeff\u00ad]")


def read_text(data: bytes, max_chars: int) -> LoadedText:
    """Read a plain text file.

    Raises:
        LoadError: `EMPTY_DOCUMENT`, `LIMIT_EXCEEDED`, or what `decode` raises.
    """
    text, decoded = decode_clean(data, max_chars)
    return LoadedText(text, "text/plain", encoding=decoded.encoding, warnings=decoded.warnings)


def decode_clean(data: bytes, max_chars: int) -> tuple[str, Decoded]:
    """Make clean, not blank, not too long text of bytes; raises as `read_text` does."""
    decoded = decode(data)
    text = clean(decoded.text)
    if not _VISIBLE.search(text):
        raise LoadError(LoadCode.EMPTY_DOCUMENT, "The file holds no text, only white space.")
    if len(text) > max_chars:
        raise LoadError(
            LoadCode.LIMIT_EXCEEDED,
            f"The text has {len(text):,} characters; the limit is {max_chars:,}. Raise max_text_chars or split it.",
        )
    return text, decoded
