"""Telling the encoding of text bytes: exactly where marks and rules allow it, else by a careful guess.

The order matters. A byte order mark wins; bytes that are strict UTF-8 are UTF-8; a guess is the
last resort, and it is refused where two readings are equally good: text in wrong letters poisons a
graph with names that do not exist, and nobody notices.
"""

from dataclasses import dataclass

from pipeline.adapters.readers.legacy import guess_legacy
from pipeline.errors import LoadCode, LoadError

# The four-byte marks first: UTF-32-LE's begins with UTF-16-LE's.
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 2**16
_HIGH = bytes(range(0x80, 0x100))
_LOW_PLANES = bytes(range(8))  # first halves of UTF-16 letters from Latin to Arabic
_CONTROLS = bytes(set(range(0x20)) - set(b"\0\t\n\r\x0b\x0c\x1b")) + b"\x7f"

# Text has next to no control characters; one byte in ten random ones is one.
_MAX_CONTROL_SHARE = 0.02
# Exports pad fields with NULs; a file that is mostly NULs is an image of something.
_MAX_NUL_SHARE = 0.2
# Of the bytes over 0x7f: this many in whole UTF-8 characters, and the others are damage.
_DAMAGED_UTF8 = 0.9
# This many in lines that are whole UTF-8, and the other lines are in another encoding. Bytes of
# two-byte Asian encodings often look like a UTF-8 character, but hardly ever for a whole line.
_MIXED_UTF8 = 0.3


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the codec that gave it, and what was lost on the way (nothing, as a rule)."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes) -> Decoded:
    """Make text of bytes.

    Raises:
        LoadError: `NOT_THIS_FORMAT` for bytes that are no text, `ENCODING_UNKNOWN` for text whose
            encoding cannot be told.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data[len(mark) :], encoding)
    if b"\0" in data and (wide := _find_wide(data)):
        return Decoded(data.decode(wide, "surrogatepass"), wide)
    if b"\x1b$" in data and (shifted := _decode_shifted(data)):
        return shifted
    _refuse_binary(data)
    for encoding, errors in (("utf-8", "strict"), ("cesu-8", "surrogatepass")):
        try:
            return Decoded(data.decode("utf-8", errors), encoding)
        except UnicodeDecodeError:
            continue
    if patched := _decode_damaged(data):
        return patched
    if b"\0" in data:
        raise LoadError(LoadCode.NOT_THIS_FORMAT, "The file holds binary data, not text.")
    if legacy := guess_legacy(data):
        return Decoded(data.decode(legacy), legacy)
    raise _unknown("Its encoding cannot be told")


def _decode_marked(body: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(body.decode(encoding, "surrogatepass"), encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (patched := _decode_damaged(body)):
            return patched
        raise _unknown(f"It is marked as {encoding.upper()}, but is not valid") from error


def _find_wide(data: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 without a mark by where the small bytes lie."""
    sample = data[:_SAMPLE]
    for encoding, width, high in (("utf-32-le", 4, 3), ("utf-32-be", 4, 0), ("utf-16-le", 2, 1), ("utf-16-be", 2, 0)):
        if len(data) % width:
            continue
        upper, lower = sample[high::width], sample[width - 1 - high :: width]
        if width == 4 and any(upper):  # noqa: PLR2004 - no character needs the upper byte of UTF-32
            continue
        if _share(upper, _LOW_PLANES) < 0.7 or _share(lower, _LOW_PLANES) > 0.1:  # noqa: PLR2004 - most letters, few others
            continue
        try:
            text = data.decode(encoding, "surrogatepass")
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return encoding
    return None


def _refuse_binary(data: bytes) -> None:
    if _share(data, _CONTROLS) > _MAX_CONTROL_SHARE or _share(data, b"\0") > _MAX_NUL_SHARE:
        raise LoadError(
            LoadCode.NOT_THIS_FORMAT,
            "The file holds binary data, not text. Export it as text or PDF, or give it its proper suffix.",
        )


def _decode_shifted(data: bytes) -> Decoded | None:
    """Try the seven-bit encodings of Japanese and Korean mail, which look like ASCII."""
    for encoding in ("iso2022_jp_ext", "iso2022_kr"):
        try:
            return Decoded(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return None


def _decode_damaged(data: bytes) -> Decoded | None:
    """Read UTF-8 in which a few bytes are damaged; refuse a mixture of encodings."""
    high = _count_high(data)
    stray = len(data) - len(data.decode("utf-8", "ignore").encode())
    if 1 - stray / high >= _DAMAGED_UTF8:
        warning = f"{stray} of {len(data)} bytes are not valid UTF-8; U+FFFD stands in their place."
        return Decoded(data.decode("utf-8", "replace"), "utf-8", (warning,))
    if sum(_count_high(line) for line in data.split(b"\n") if _is_utf8(line)) >= _MIXED_UTF8 * high:
        raise _unknown("It mixes UTF-8 with another encoding")
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _count_high(data: bytes) -> int:
    return len(data) - len(data.translate(None, _HIGH))


def _unknown(what: str) -> LoadError:
    return LoadError(LoadCode.ENCODING_UNKNOWN, f"{what}. Save the file as UTF-8.")


def _share(data: bytes, of: bytes) -> float:
    return 1 - len(data.translate(None, of)) / len(data) if data else 0.0
