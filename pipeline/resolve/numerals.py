"""Numbers in names, however they are written: digits, words and Roman numerals."""

import re
from collections.abc import Sequence
from itertools import chain

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "  # noqa: SIM905 - a list of words is read as words
    "seventeen eighteen nineteen twenty".split()
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "  # noqa: SIM905 - as above
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))  # noqa: SIM905 - as above
_CARDINAL = {word: str(number) for word, number in _TENS.items()} | {w: str(n) for n, w in enumerate(_CARDINALS)}
_ORDINAL = {word: str(number) for number, word in enumerate(_ORDINALS)}
_ONES = {word: number for names in (_CARDINALS, _ORDINALS) for number, word in enumerate(names) if 0 < number < 10}  # noqa: PLR2004 - the ones
_ORDINAL_DIGITS = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NUMBER = re.compile(r"(?:^-)?(?:\d+(?:\.\d+)?|\.\d+)")
_ROMAN = re.compile(r"(?=.)m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_LETTERS_OF_A_YEAR = 4
_LETTERS_OF_NUMBERS = frozenset("ivx")
"""Alone, other Roman letters are hardly ever numbers."""
_WORDS_TOO = frozenset("mix di li mi mm ml cm md dl cl cd dc mc dix liv civ vi xi mil".split())  # noqa: SIM905 - as above
_AFTER_A_NUMBER = frozenset("of the de di da du von van and".split())  # noqa: SIM905 - as above


def read_roman(word: str) -> int:
    """Give the value of a Roman numeral in lower case; 0 where the word is none."""
    if not (_VALUES.keys() >= set(word) and _ROMAN.fullmatch(word)):
        return 0
    values = [_VALUES[letter] for letter in word]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def spell_numbers(words: Sequence[str]) -> list[str]:
    """Write the numbers of a thing's name with digits, those that say an order with a dot: `first` is not `one`."""
    joined = _join_tens(words)
    return [_spell(word, first=place == 0, last=place == len(joined) - 1) for place, word in enumerate(joined)]


def _join_tens(words: Sequence[str]) -> list[str]:
    """Write forty-four with digits, in one word."""
    joined: list[str] = []
    for word in words:
        tens = _TENS.get(joined[-1], 0) if joined else 0
        ones = _ONES.get(word, 0)
        if tens and ones:
            joined[-1] = f"{tens + ones}." if word in _ORDINAL else str(tens + ones)
        else:
            joined.append(word)
    return joined


def _spell(word: str, *, first: bool, last: bool) -> str:
    if word in _CARDINAL:
        return _CARDINAL[word]
    if word in _ORDINAL:
        return _ORDINAL[word] + "."
    if found := _ORDINAL_DIGITS.fullmatch(word):
        return found[1] + "."
    # "Malcolm X" and "V Festival" have no number, "Fund I" has one.
    doubtful = len(word) == 1 or word in _WORDS_TOO or (len(word) < _LETTERS_OF_A_YEAR and set(word) & set("cdm"))
    sure = not doubtful or (last and not first)
    may_be = len(word) > 1 or word in _LETTERS_OF_NUMBERS
    return str(read_roman(word)) if sure and may_be and read_roman(word) else word


def spell_numbers_of_rulers(words: Sequence[str], name: str) -> list[str]:
    """Write with digits what number a ruler, pope or namesake has: `Henry VIII`, `Henry the Eighth`, `James I of`.

    A letter beside other initials is an initial; a word that people are called, too, is a number in capitals only.
    """
    capitals = {word.casefold() for word in re.findall(r"\w+", name) if word.isupper()} if not name.isupper() else set()
    spelled: list[str] = []
    for before, word, after in zip(("", *words), words, (*words[1:], ""), strict=False):
        if before == "the" and word in _ORDINAL:
            spelled[-1:] = [_ORDINAL[word]]
            continue
        number = read_roman(word) if len(before) > 1 else 0
        if len(word) == 1:
            number = number if word in _LETTERS_OF_NUMBERS and (not after or after in _AFTER_A_NUMBER) else 0
        elif word in _WORDS_TOO and word not in capitals:
            number = 0
        spelled.append(str(number) if number else word)
    return spelled


def digits_of(words: Sequence[str]) -> tuple[str, ...]:
    """List all numbers within words, sorted."""
    return tuple(sorted(chain.from_iterable(_NUMBER.findall(word) for word in words if not word.isalpha())))
