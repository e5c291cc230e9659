"""Guessing among the encodings of the time before Unicode, and saying so when it is only guessing.

Latin scripts are decided by rule, because statistics fail on the few accented letters of a European
text. The rest is charset-normalizer's reading, kept where it has evidence.
"""

import re
from collections import Counter
from collections.abc import Iterator

from charset_normalizer import CharsetMatch, from_bytes

_WESTERN = "cp1252"
_CENTRAL_EUROPEAN = (
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "ąćęłńóśźż",  # Polish
    "áéíóöőúüű",  # Hungarian
    "čćđšž",  # Slovene, Croatian, Bosnian
    "ăâîşţ",  # Romanian
)
# What one language writes beside a to z. A reading with letters that no single language has is
# wrong: Czech bytes as Windows-1252, Latin-2 bytes as Windows-1250. The first that fits is taken.
_ALPHABETS = (
    (_WESTERN, "àâæçéèêëîïôœùûüÿ"),  # French
    (_WESTERN, "äöüßé"),  # German
    (_WESTERN, "áéíñóúüï"),  # Spanish
    (_WESTERN, "áâãàçéêíóôõúü"),  # Portuguese
    (_WESTERN, "àèéìíîòóùú"),  # Italian
    (_WESTERN, "àçèéíïòóúü"),  # Catalan
    (_WESTERN, "áéëèïóöüíúêûô"),  # Dutch
    (_WESTERN, "åäöæøéèêóòôü"),  # Swedish, Danish, Norwegian
    (_WESTERN, "äöüõåšž"),  # Finnish, Estonian
    # Turkish before Icelandic, whose þ, ý and ð have its bytes, but who cannot do without á, é, í.
    ("cp1254", "çğıöşüâîûi\u0307"),  # the last is what a lowered İ leaves behind
    (_WESTERN, "áðéíóúýþæö"),  # Icelandic
    # Latin-2 has nothing at 0x80 to 0x9f, where Windows-1250 has letters and quotes; so it goes first.
    *(("iso8859_2", alphabet) for alphabet in _CENTRAL_EUROPEAN),
    *(("cp1250", alphabet) for alphabet in _CENTRAL_EUROPEAN),
)
_PUNCTUATION = frozenset("€£¥§©®°«»‘’‚“”„–—…•¿¡ªº™·\xa0\xad×²³½¼¾†‡‰‹›´")
# Pairs of such signs are halves of Asian characters.
_SIGN_PAIR = re.compile("[¡-¿]{2}")
_FOREIGN_RUN = re.compile(r"[^\W\d_a-zA-Z]{4}")
_ACCENTED_SHARE = 0.34
# Mostly English with names and loanwords from anywhere: so few that no one alphabet need fit.
_LOANWORD_SHARE = 0.02
_FEW_LOANWORDS = 3

_SAMPLE = 2**17
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
# With fewer bytes over 0x7f than these, two readings are a toss-up: whatever language is recognised
# (the ASCII part alone may give it), and where none is.
_ANY_EVIDENCE = 10
_ENOUGH_EVIDENCE = 200
_HALFWIDTH_KATAKANA = re.compile("[\uff61-\uff9f]")


def guess_legacy(data: bytes) -> str | None:
    """Name the codec of bytes that are not Unicode, or None where it would be a toss-up.

    The answer decodes all of `data` strictly.
    """
    sample = _cut_sample(data)
    for encoding in (*_guess_by_alphabet(sample), _guess_by_statistics(sample)):
        if encoding is not None and _decode(data, encoding) is not None:
            return encoding
    return None


def _cut_sample(data: bytes) -> bytes:
    """Take whole lines from the first one that is not ASCII."""
    if len(data) <= _SAMPLE:
        return data
    high = _HIGH_BYTE.search(data)
    first = high.start() if high else 0
    start = data.rfind(b"\n", 0, first) + 1
    if first - start > _SAMPLE // 2:
        start = first  # one endless line; single bytes are likelier than a character cut in two
    end = data.rfind(b"\n", first, start + _SAMPLE)
    return data[start : end + 1 if end > 0 else start + _SAMPLE]


def _guess_by_alphabet(sample: bytes) -> Iterator[str]:
    readings = {encoding: _count_letters(sample, encoding) for encoding, _ in _ALPHABETS}
    for encoding, alphabet in _ALPHABETS:
        if (reading := readings[encoding]) is None:
            continue
        accented, letters = reading
        if set("".join(accented).lower()) <= set(alphabet) and accented.total() <= _ACCENTED_SHARE * letters:
            yield encoding
    if (western := readings[_WESTERN]) is not None:
        accented, letters = western
        if accented.total() <= max(_FEW_LOANWORDS, _LOANWORD_SHARE * letters):
            yield _WESTERN


def _count_letters(sample: bytes, encoding: str) -> tuple[Counter[str], int] | None:
    """Count accented letters by letter, and all letters; None where the text cannot be European."""
    text = _decode(sample, encoding)
    if text is None or _FOREIGN_RUN.search(text) or _SIGN_PAIR.search(text):
        return None
    counts = Counter(text)
    accented = Counter({char: n for char, n in counts.items() if char > "\x7f" and char not in _PUNCTUATION})
    if not all(map(str.isalpha, accented)):
        return None
    return accented, sum(n for char, n in counts.items() if char.isalpha())


def _guess_by_statistics(sample: bytes) -> str | None:
    matches = list(from_bytes(sample))
    if not matches or _is_unlikely(matches[0]):
        return None
    evidence = len(_HIGH_BYTE.findall(sample))
    needed = _ANY_EVIDENCE if matches[0].coherence else _ENOUGH_EVIDENCE
    if evidence < needed and len({str(match) for match in matches}) > 1:
        return None
    return matches[0].encoding


def _is_unlikely(match: CharsetMatch) -> bool:
    """Single-byte Cyrillic read as Shift-JIS is half-width katakana, which Japanese hardly uses."""
    text = str(match)
    foreign = sum(char > "\x7f" for char in text)
    return len(_HALFWIDTH_KATAKANA.findall(text)) > foreign / 4


def _decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
