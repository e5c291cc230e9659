"""How two words of names are alike, and how the words of two names go together."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import DamerauLevenshtein

from pipeline.resolve.wordlists import PREFIXES, ROMANISED, SHORT_NAMES, SPELLINGS, SUFFIXES

MOST_WORDS = 24
"""Longer names are sentences, and not aligned."""
_SLIP_OF_ORDER, _SLIP, _TWO_SLIPS = 4, 5, 10  # letters of the shorter word
_PREFIX = 3
_MOST_PARTS, _LETTERS_OF_PARTS = 3, 6
_ENDINGS = frozenset("aeiouyns")
"""Letters that make another form or another name of a word, at its end."""
_VOWELS = frozenset("aeiou")
_GREEK_U = re.compile("ο[υύ]")
_SPELLINGS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"isation(s?)$", r"ization\1"),
        (r"is(e[ds]?|ing)$", r"iz\1"),
        (r"our(s?)$", r"or\1"),
        (r"tre(s?)$", r"ter\1"),
        (r"ence$", "ense"),
        (r"mme(s?)$", r"m\1"),
        (r"logue(s?)$", r"log\1"),
        (r"^[yj]e", "e"),
        (r"(?<=[aeiou])h(?![aeiou])", ""),
        (r"ae|oe|ue", lambda found: found[0][0]),
        (r"tsch|tch", "ç"),
        (r"sch|sh", "s"),
        (r"ch", "ç"),
        (r"dzh|zh|dj", "j"),
        (r"(?<=o)ff?$", "v"),
        (r"ph", "f"),
        (r"kh", "h"),
        (r"ou|oo", "u"),
        (r"ks", "x"),
        (r"ck|q", "k"),
        (r"c(?![eiyh])", "k"),
        (r"w", "v"),
        (r"(?<=[^aeiou])(?:iy|yi|ij|ii)$", "i"),
        (r"(?<=[aeiou])[yj]|[yj](?=[aeiou])", "i"),
        (r"y", "i"),
        (r"(?<=[td])h", ""),
        (r"(.)\1+", r"\1"),
    )
)
"""Spellings of one sound, of the languages that write with Latin letters, and of transliteration."""


class Kind(StrEnum):
    """How two words are alike, or a word stands alone."""

    EQUAL = "equal"
    VARIANT = "variant"
    """Another spelling of the word, or its plural."""
    TYPO = "typo"
    SHORT = "short"
    """A name for short: Tim, Timothy."""
    INITIAL = "initial"
    LEFT = "left"
    """A word of the first name alone."""
    RIGHT = "right"


_COSTS = {
    Kind.EQUAL: 0.0,
    Kind.VARIANT: 0.1,
    Kind.TYPO: 0.3,
    Kind.SHORT: 0.3,
    Kind.INITIAL: 0.4,
    Kind.LEFT: 1.0,
    Kind.RIGHT: 1.0,
}


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two words that go together, or one with nothing beside it (the other is '')."""

    kind: Kind
    one: str
    other: str


@lru_cache(maxsize=200_000)
def compare_words(one: str, other: str, *, person: bool) -> Kind | None:
    """Say how two words are alike; None where they are not."""
    if one == other:
        return Kind.EQUAL
    if one.isdigit() or other.isdigit():
        return None
    short, long = sorted((one, other), key=len)
    if person and len(short) == 1 and long.startswith(short):
        return Kind.INITIAL
    if _is_variant(short, long, person=person):
        return Kind.VARIANT
    if person and (
        (short, long) in SHORT_NAMES or (len(short) >= _PREFIX and long.startswith(short) and _is_longer(long, short))
    ):
        return Kind.SHORT
    return Kind.TYPO if _is_misspelt(short, long, person=person) else None


def align(ones: Sequence[str], others: Sequence[str], *, person: bool) -> list[Aligned]:
    """Lay the words of two names side by side, in their order, at the least cost."""
    costs = {(len(ones), len(others)): 0.0}
    steps: dict[tuple[int, int], tuple[Kind, int, int]] = {}
    for row in range(len(ones), -1, -1):
        for column in range(len(others), -1, -1):
            options = [
                (_COSTS[kind] * max(left, right) + costs[row + left, column + right], (kind, left, right))
                for kind, left, right in _list_steps(ones[row:], others[column:], person=person)
            ]
            if options:
                costs[row, column], steps[row, column] = min(options, key=lambda option: option[0])
    aligned: list[Aligned] = []
    row = column = 0
    while (row, column) in steps:
        kind, left, right = steps[row, column]
        aligned.append(Aligned(kind, "".join(ones[row : row + left]), "".join(others[column : column + right])))
        row, column = row + left, column + right
    return aligned


def _list_steps(ones: Sequence[str], others: Sequence[str], *, person: bool) -> Iterator[tuple[Kind, int, int]]:
    """List what the first words can be to each other: how many of either go together, and how."""
    if ones and others:
        alike = compare_words(ones[0], others[0], person=person)
        if alike:
            yield alike, 1, 1
        for count in _count_parts(ones, others[0]):
            yield Kind.VARIANT, count, 1
        for count in _count_parts(others, ones[0]):
            yield Kind.VARIANT, 1, count
    if ones:
        yield Kind.LEFT, 1, 0
    if others:
        yield Kind.RIGHT, 0, 1


def _count_parts(parts: Sequence[str], word: str) -> Iterator[int]:
    """Say how many of the first parts are a word written apart, if any are."""
    if len(word) >= _LETTERS_OF_PARTS and parts[0] != word and word.startswith(parts[0]):
        most = min(_MOST_PARTS, len(parts))
        yield from (count for count in range(2, most + 1) if "".join(parts[:count]) == word)


def _is_variant(short: str, long: str, *, person: bool) -> bool:
    """Say whether two words are spellings of one, or singular and plural."""
    if not person and len(short) > 3 and long in {f"{short}s", f"{short}es", f"{short[:-1]}ies"}:  # noqa: PLR2004
        return True
    if person and SPELLINGS.get(short, short) == SPELLINGS.get(long, long):
        return True
    return len(short) >= _PREFIX and _spell_alike(short) == _spell_alike(long)


@lru_cache(maxsize=50_000)
def _spell_alike(word: str) -> str:
    word = _GREEK_U.sub("u", word).translate(ROMANISED)
    for pattern, sound in _SPELLINGS:
        word = pattern.sub(sound, word)
    return word


def _is_longer(long: str, short: str) -> bool:
    """Tell a name for short (Ben) from the name of a woman or a family made of a man's (Simon, Simona)."""
    return len(long) - len(short) > 1


def _is_misspelt(short: str, long: str, *, person: bool) -> bool:
    """Say whether one word is the other with a slip in it: one edit, or two in a long word.

    An ending is no slip: it makes another word (Russia, Russian) or another's name (Mario, Maria). Nor is another
    letter in a short word, nor another first letter (Zambia, Gambia), where few err; but for vowels of names from other
    scripts (Osama, Usama).
    """
    if len(short) < _SLIP_OF_ORDER - 1 or not (_is_spelled(short) and _is_spelled(long)):
        return False
    plain, sounds = (short, long), sorted((_spell_alike(short), _spell_alike(long)), key=len)
    slipped = any(_has_slip(*words, person=person) for words in (plain, sounds))
    return slipped and not _have_other_affixes(short, long)


def _has_slip(short: str, long: str, *, person: bool) -> bool:
    most = 2 if len(short) >= _TWO_SLIPS else 1
    if len(short) < _SLIP_OF_ORDER or len(long) - len(short) > most:
        return False
    if DamerauLevenshtein.distance(short, long, score_cutoff=most) > most:
        return False
    if short[1:] == long[1:]:
        return person and {short[0], long[0]} <= _VOWELS
    if len(long) < _SLIP and sum(one != other for one, other in zip(short, long, strict=True)) == 1:
        return False
    if long.startswith(short):
        added = long[len(short) :]
        return added in {short[-1], "e"} or (len(short) >= _SLIP and len(added) == 1 and added not in _ENDINGS)
    return not (person and short[:-1] == long[:-1] and {short[-1], long[-1]} & _ENDINGS)


def _have_other_affixes(one: str, other: str) -> bool:
    """Say whether two words are one stem with beginnings or endings that mean other things: sulfate, sulfite."""
    pairs = ((one, other), (other, one))
    return any(
        first.startswith(a) and second.startswith(b) and first[len(a) :] == second[len(b) :]
        for first, second in pairs
        for a, b in PREFIXES
    ) or any(
        first.endswith(a) and second.endswith(b) and first[: -len(a)] == second[: -len(b)]
        for first, second in pairs
        for a, b in SUFFIXES
    )


def _is_spelled(word: str) -> bool:
    """Say whether a word is of letters, with the marks that are vowels in some scripts."""
    return word.isalpha() or all(unicodedata.category(char)[0] in "LM" for char in word)
