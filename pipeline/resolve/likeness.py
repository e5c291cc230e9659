"""How two words of names are alike, and how the words of two names go together."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from pipeline.resolve.bearers import Bearer
from pipeline.resolve.given_names import GIVEN_NAMES, SHORT_NAMES, SPELLINGS
from pipeline.resolve.slips import is_slip, is_slip_of_given_name, is_slip_of_surname, is_unspaced, order_words
from pipeline.resolve.wordlists import ROMANISED

MOST_WORDS = 24
"""Longer names are sentences, and not aligned."""
_PREFIX, _LETTERS_OF_A_SOUND = 3, 8
_MOST_PARTS, _LETTERS_OF_PARTS = 3, 6
_LATIN_END = "\u0250"
_FEMININE = re.compile(r"([lnt])\1e$")
"""Michele, Michelle: in Latin letters two names."""
_ATLANTIC = (
    (r"isation(s?)$", r"ization\1"),
    (r"is(e[ds]?|ing)$", r"iz\1"),
    (r"ence$", "ense"),
    (r"mme(s?)$", r"m\1"),
    (r"logue(s?)$", r"log\1"),
)
"""Endings of words in Britain, and in America; no word has two."""
_ORTHOGRAPHY = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        *_ATLANTIC,
        (r"(?<=..)our(s?)$", r"or\1"),
        (r"(?<=..)tre(s?)$", r"ter\1"),
        (r"(?<=[^aeiou])(?:ae|oe|ue)(?=[^aeiou]..)", lambda found: found[0][0]),
    )
)
"""Ways to write one word: British and American, umlauts."""
_GREEK_U = re.compile("ο[υύ]")
_SPELLINGS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        *_ATLANTIC,
        (r"our(s?)$", r"or\1"),
        (r"tre(s?)$", r"ter\1"),
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


_SLIPS = {Bearer.PERSON: (is_slip_of_surname, is_slip_of_given_name), Bearer.ORGANISATION: (is_slip,)}
"""Elsewhere a letter may make another thing: substances, places, words of a trade."""
_WITH_PLURALS = frozenset((Bearer.ORGANISATION, Bearer.THING))
_COSTS = {
    Kind.EQUAL: 0.0,
    Kind.VARIANT: 0.1,
    Kind.TYPO: 0.3,
    Kind.SHORT: 0.3,
    Kind.INITIAL: 0.4,
    Kind.LEFT: 1.0,
    Kind.RIGHT: 1.0,
}

_Step = tuple[Kind, int, int]
"""How words go together, and how many of either name do."""
_LEFT: _Step = (Kind.LEFT, 1, 0)
_RIGHT: _Step = (Kind.RIGHT, 0, 1)
_COST = itemgetter(0)


class Aligned(NamedTuple):
    """Two words that go together, or one with nothing beside it (the other is '')."""

    kind: Kind
    one: str
    other: str


def compare_words(one: str, other: str, bearer: Bearer) -> Kind | None:
    """Say how two words are alike; None where they are not."""
    return Kind.EQUAL if one == other else _compare_unequal(*order_words(one, other), bearer)


@lru_cache(maxsize=200_000)
def _compare_unequal(short: str, long: str, bearer: Bearer) -> Kind | None:
    if not (short.isalpha() and long.isalpha()) and any(map(str.isdigit, short + long)):
        return None
    person = bearer is Bearer.PERSON
    if person and len(short) == 1 and long.startswith(short):
        return Kind.INITIAL
    if _is_variant(short, long, bearer):
        return Kind.VARIANT
    if person and not SHORT_NAMES.isdisjoint(((short, long), (long, short))):
        return Kind.SHORT
    return Kind.TYPO if any(is_slip_there(short, long) for is_slip_there in _SLIPS.get(bearer, ())) else None


def align(ones: Sequence[str], others: Sequence[str], bearer: Bearer) -> list[Aligned]:
    """Lay the words of two names side by side, in their order, at the least cost."""
    costs = {(len(ones), len(others)): 0.0}
    steps: dict[tuple[int, int], _Step] = {}
    for row in range(len(ones), -1, -1):
        for column in range(len(others), -1, -1):
            options = [
                (_COSTS[step[0]] * max(step[1:]) + costs[row + step[1], column + step[2]], step)
                for step in _list_steps(ones, row, others, column, bearer)
            ]
            if options:
                costs[row, column], steps[row, column] = min(options, key=_COST)
    aligned: list[Aligned] = []
    row = column = 0
    while (row, column) in steps:
        kind, left, right = steps[row, column]
        aligned.append(Aligned(kind, "".join(ones[row : row + left]), "".join(others[column : column + right])))
        row, column = row + left, column + right
    return aligned


def stands_alone(word: str, others: Sequence[str], bearer: Bearer) -> bool:
    """Say for certain that a word goes together with none of another name's, in whatever order these are.

    It is not certain of a part of another word, which may be written apart.
    """
    return not any(word in other or other in word or compare_words(word, other, bearer) for other in others)


def _list_steps(ones: Sequence[str], row: int, others: Sequence[str], column: int, bearer: Bearer) -> list[_Step]:
    """List what the words from two places on can be to each other: how many of either go together, and how."""
    if row == len(ones):
        return [_RIGHT] if column < len(others) else []
    if column == len(others):
        return [_LEFT]
    one, other = ones[row], others[column]
    alike = compare_words(one, other, bearer)
    steps: list[_Step] = [(alike, 1, 1)] if alike else []
    if other.startswith(one):
        steps += [(Kind.VARIANT, count, 1) for count in _count_parts(ones[row : row + _MOST_PARTS], other)]
    elif one.startswith(other):
        steps += [(Kind.VARIANT, 1, count) for count in _count_parts(others[column : column + _MOST_PARTS], one)]
    return [*steps, _LEFT, _RIGHT]


def _count_parts(parts: Sequence[str], word: str) -> list[int]:
    """Say how many of some parts are a word written apart, if any are."""
    if len(word) < _LETTERS_OF_PARTS:
        return []
    return [count for count in range(2, len(parts) + 1) if "".join(parts[:count]) == word]


def _is_variant(short: str, long: str, bearer: Bearer) -> bool:
    """Say whether two words are spellings of one, or singular and plural.

    Within Latin letters words of a language that sound alike are others (desert, dessert); the long names of people,
    which come from many languages, are not.
    """
    if bearer in _WITH_PLURALS and _is_plural(short, long):
        return True
    if bearer is Bearer.PERSON and SPELLINGS.get(short, short) == SPELLINGS.get(long, long):
        return True
    if len(short) < _PREFIX or is_unspaced(short + long):
        return False
    latin = _is_latin(short)
    if latin != _is_latin(long):
        return _spell_alike(short) == _spell_alike(long)
    if bearer is Bearer.PERSON:
        sound_alike = len(short) >= _LETTERS_OF_A_SOUND and _spell_alike(short) == _spell_alike(long)
        return sound_alike and (not latin or bool(_FEMININE.search(short)) == bool(_FEMININE.search(long)))
    return latin and _write_alike(short) == _write_alike(long)


def _is_plural(short: str, long: str) -> bool:
    """Say whether one word is the plural of the other; a surname is none of a given name (Robert, Roberts)."""
    if len(short) <= _PREFIX or not long.startswith(short[:-1]) or short in GIVEN_NAMES:
        return False
    return long in {f"{short}s", f"{short}es", f"{short[:-1]}ies"}


def _is_latin(word: str) -> bool:
    return word.isascii() or all(char < _LATIN_END for char in word)


@lru_cache(maxsize=50_000)
def _write_alike(word: str) -> str:
    for pattern, form in _ORTHOGRAPHY:
        word = pattern.sub(form, word)
    return word


@lru_cache(maxsize=50_000)
def _spell_alike(word: str) -> str:
    word = _GREEK_U.sub("u", word).translate(ROMANISED)
    for pattern, sound in _SPELLINGS:
        word = pattern.sub(sound, word)
    return word
