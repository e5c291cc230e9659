"""Names of entities: which words can be one, how they are spelled for a store, and where they stand in a text."""

import re
import unicodedata
from functools import lru_cache

from pipeline.ids import normalise_name

MAX_NAME_CHARS = 80
MIN_NAME_CHARS = 2
_REMEMBERED_NAMES = 50_000
_REMEMBERED_RELATIONS = 10_000

# The GraphRAG SDK's rule for names: words that point at somebody, but name nobody.
_POINTERS = frozenset(
    # As one text, because a list would be sixty lines long.
    """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves this that these those who whom whose which what
    someone somebody anyone anybody everyone everybody nobody nothing something anything everything one ones
    narrator author story chapter book
    """.split()  # noqa: SIM905
)
_ACRONYMS = frozenset(("IT", "US", "WHO"))
"""In capitals these are names."""
_ARTICLES = frozenset(("the", "a", "an"))
_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
# Scripts that put no space between words (or, in Korean, attach particles): Thai to Burmese, Khmer, CJK.
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_NOT_WORD = re.compile(r"[\W_]+")

type Span = tuple[int, int]


def is_name(name: str) -> bool:
    """Tell whether a name can stand for an entity (the GraphRAG SDK's rule, plus a letter or digit)."""
    return MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS and _names_something(name)


# A corpus names the same things again and again.
@lru_cache(maxsize=_REMEMBERED_NAMES)
def _names_something(name: str) -> bool:
    if not any(map(str.isalnum, name)):
        return False
    first, _, rest = (normal := normalise_name(name)).partition(" ")
    return name in _ACRONYMS or (rest if rest and first in _ARTICLES else normal) not in _POINTERS


def clean(raw: str) -> str:
    """Drop characters that no store takes (controls, lone surrogates) and collapse white space."""
    # What is printable holds none of these characters and no white space but blanks, and is told several times faster.
    if not raw.isprintable():
        raw = _UNSTORABLE.sub("", raw)
    elif "  " not in raw and raw == raw.strip():
        return raw
    return " ".join(raw.split())


# An extractor's words for relations are few.
@lru_cache(maxsize=_REMEMBERED_RELATIONS)
def spell_relation(raw: str) -> str:
    """Spell a relation's type in upper snake case, as in `WORKS_FOR`; '' where it is empty or too long."""
    word = _NOT_WORD.sub("_", clean(raw)).strip("_").upper()
    return word if len(word) <= MAX_NAME_CHARS else ""


def locate(text: str, name: str, start: int = -1, end: int = -1) -> Span | None:
    """Find a name at its offsets, or else its first occurrence, as whole words where the script has these."""
    if 0 <= start < end <= len(text):
        said = text[start:end]
        if said == name == name.strip():
            return start, end
        if normalise_name(said) == normalise_name(name):
            return start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
    # Models compose accents that the text may spell with combining marks, or the other way round.
    for spelling in dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))):
        pattern = _pattern(spelling)
        before = "" if _UNSPACED.match(spelling[0]) else r"(?<!\w)"
        after = "" if _UNSPACED.match(spelling[-1]) else r"(?!\w)"
        if match := re.search(before + pattern + after, text, re.IGNORECASE):
            return match.span()
    return None


def locate_quote(text: str, quote: str) -> Span | None:
    """Find where a text says a quote, whatever its case and white space."""
    words = clean(quote)
    if not words or len(words) > len(text):
        return None
    # Most are quoted as they stand, and that is told many times faster.
    if (start := text.find(words)) >= 0:
        return start, start + len(words)
    match = re.search(_pattern(words), text, re.IGNORECASE)
    return match.span() if match else None


def _pattern(words: str) -> str:
    return r"\s+".join(re.escape(word) for word in words.split())
