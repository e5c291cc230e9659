"""Plain text: decoding is all there is to it."""

from pipeline.adapters.readers.encoding import Decoded, decode
from pipeline.load.clean import clean, require_text
from pipeline.models import LoadedText


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
    require_text(text, max_chars)
    return text, decoded
