"""Slips of the pen: which words are one word written wrong, and no other word."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from pipeline.resolve.given_names import GIVEN_NAMES
from pipeline.resolve.wordlists import (
    BEGINNINGS_OF_FAMILIES,
    ENDINGS_OF_FAMILIES,
    PREFIXES,
    SUFFIXES,
    SURNAMES,
)

_HEAD, _TAIL = 2, 2
"""Letters at either end of a word that must be right: another beginning or ending makes another word."""
_LETTERS_LACKING, _LETTERS_TURNED, _LETTERS_OF_ANOTHER = 6, 8, 7
"""Least letters of the shorter word, the last for a letter that sounds alike: fewer make others (Marital, Martial)."""
_HEAD_OF_ANOTHER, _TAIL_OF_ANOTHER = 3, 3
_LETTERS_OF_A_LONG_WORD = 9
"""With any other letter."""
_DOUBLED = 7
_AFTER_A_DOUBLED_LETTER = ("ing", "ings", "ed", "er", "ers")
"""A letter is doubled before them, or another word made: planning, planing."""
_DIRECTIONS = re.compile("north|south|east|west")
_PLACE = re.compile("(?:ford|ton|ham|field|ville|burg|burgh|borough|bury|wick|mouth|port|land|stan|shire|wood|dale)$")
"""Endings of places: another letter before them makes another place (Stanford, Stamford)."""
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "BOPOMOFO")
_ALPHABETS = frozenset(("LATIN", "CYRILLIC", "GREEK"))
_ALPHABETS_OF_PEOPLE = _ALPHABETS | {"HEBREW", "ARABIC", "ARMENIAN", "GEORGIAN", "DEVANAGARI", "BENGALI", "TAMIL"}

_LETTERS_OF_A_PERSON, _LETTERS_OF_ANOTHER_PERSON, _LETTERS_OF_TWO_SLIPS = 5, 6, 8
"""Least letters of a person's name with a letter lacking, doubled or turned, with another letter, with two slips."""
_LETTERS_OF_A_STEM = 3
_LONGEST_ENDING = max(map(len, ENDINGS_OF_FAMILIES))
_NAMES = SURNAMES | GIVEN_NAMES
_FEMININE = re.compile(r"([lnt])\1e$")
"""Daniele, Danielle: two names."""
_SAME_SOUND = frozenset(map(frozenset, ("iy", "ck", "cs", "sz", "vw", "ij", "fv", "kq", "uw", "cz", "čk", "dt")))
"""Letters that sound alike: families keep such spellings apart (Smith, Smyth), firms hardly ever."""
_SYLLABLE = "(?:[bpmfdtnlgkhjqxzcsryw]|zh|ch|sh)?(?:[aeiou]|ai|ei|ao|ou|ia|ie|iao|iu|ua|uo|uai|ui|ue|io)(?:n|ng)?"
_CHINESE = re.compile(f"{_SYLLABLE}(?:{_SYLLABLE})?")
"""One or two syllables of Chinese: each is another character (Jinping, Jinpeng)."""
_OPEN_SYLLABLES = re.compile("(?=.{,8}$)(?:(?:[kgsztdnhbpmyrwj]|ch|sh|ts|[kgnhbpmr]y)?[aiueo]n?)+")
"""Short words of syllables as in Japanese: another letter makes another syllable, and name (Takada, Takeda)."""
_WITHOUT_VOWELS = ("HEBREW", "ARABIC")
"""Scripts whose letters are consonants: each one says more."""


def is_slip(one: str, other: str) -> bool:
    """Say whether one word of an organisation's name is the other with one slip in its middle.

    A slip is a letter too many or too few, two turned around, or another letter in a long word. Beginnings and endings
    make other words (methanol, ethanol; chlorine, chloride), and a given name with another letter is another name.
    """
    short, long = order_words(one, other)
    if len(long) - len(short) > 1 or short[:_HEAD] != long[:_HEAD] or not _have_alphabet(short, long, people=False):
        return False
    if {short, long} & GIVEN_NAMES or _DIRECTIONS.findall(short) != _DIRECTIONS.findall(long):
        return False
    head, tail = _count_equal(short, long)
    right = _is_slip_of_length if len(short) < len(long) else _is_slip_of_letters
    return right(short, long, head, tail) and not _have_other_affixes(short, long)


def is_slip_of_surname(one: str, other: str) -> bool:
    """Say whether one surname is the other with a slip, or two in a long one.

    The first letter and the ending are right: Johnson is not Johnston. What many surnames begin or end with does not
    count as letters of a name: of Petrovich and Petkovich these are but four.
    """
    short, long = order_words(one, other)
    if not _may_be_of_one_person(short, long) or {short, long} <= _NAMES:
        return False
    if _is_twice_a_letter(short, long):
        return True
    endings = _ending_of(short), _ending_of(long)
    if all(endings) and endings[0] != endings[1]:
        return False
    start = _measure_beginning(short, long)
    cut = len(endings[0]) if endings[0] == endings[1] else 0
    return _is_one_stem(*order_words(short[start : len(short) - cut], long[start : len(long) - cut]))


def is_slip_of_given_name(one: str, other: str) -> bool:
    """Say whether one given name is the other with a slip: a letter doubled, or two turned, in any name.

    Else one of both must be known, and not both: Takashi is not Takeshi, whether or not a list has them.
    """
    short, long = order_words(one, other)
    if not _may_be_of_one_person(short, long):
        return False
    known = len({short, long} & GIVEN_NAMES)
    if known == len((short, long)):
        return False
    head, tail = _count_equal(short, long)
    if _is_twice_a_letter(short, long) or (_are_turned(short, long, head, tail) and head >= _HEAD):
        return bool(_FEMININE.search(short)) == bool(_FEMININE.search(long))
    if len(short) < len(long):
        silent = long[head : head + 2] == "ck"
        return head + tail == len(short) and head >= _HEAD and tail >= 1 and (bool(known) or silent)
    return bool(known) and _is_another_letter(short, long, head, tail)


def order_words(one: str, other: str) -> tuple[str, str]:
    """Put the shorter of two words first, of equally long ones the one that sorts first."""
    return (one, other) if (len(one), one) <= (len(other), other) else (other, one)


def is_unspaced(text: str) -> bool:
    """Say whether a text is of a script without spaces between words, where each character is a word or a syllable."""
    return not text.isascii() and any(_name_of(char).startswith(_UNSPACED) for char in text)


def _count_equal(one: str, other: str) -> tuple[int, int]:
    """Count the letters that are equal at the beginning, and after those at the end."""
    head = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    most = min(len(one), len(other)) - head
    tail = next((place for place in range(most) if one[-1 - place] != other[-1 - place]), most)
    return head, tail


def _is_doubled(long: str, head: int) -> bool:
    """Say whether the letter after the first `head` ones is the same as one beside it."""
    return long[head] in (long[head - 1], long[head + 1 : head + 2])


def _are_turned(one: str, other: str, head: int, tail: int) -> bool:
    """Say whether two words of one length differ by two neighbours that stand in the other order."""
    return len(one) - head - tail == 2 and one[head : head + 2] == other[head + 1] + other[head]  # noqa: PLR2004 - two letters


def _have_alphabet(one: str, other: str, *, people: bool) -> bool:
    """Say whether two words are written with letters of one alphabet; of people there are more of them."""
    both = one + other
    if both.isascii():
        return both.isalpha()
    scripts = {_name_of(char).split(" ")[0] for char in both}
    return (
        len(scripts) == 1 and scripts <= (_ALPHABETS_OF_PEOPLE if people else _ALPHABETS) and _has_letters(one, other)
    )


def _has_letters(*words: str) -> bool:
    # Vowels of Indian scripts are marks.
    return all(unicodedata.category(char)[0] in "LM" for word in words for char in word)


def _may_be_of_one_person(short: str, long: str) -> bool:
    return (
        short[:1] == long[:1]
        and len(short) >= _LETTERS_OF_A_PERSON
        and len(long) - len(short) <= 1
        and _have_alphabet(short, long, people=True)
        and not (_CHINESE.fullmatch(short) and _CHINESE.fullmatch(long))
    )


def _is_twice_a_letter(short: str, long: str) -> bool:
    head, tail = _count_equal(short, long)
    return len(short) + 1 == len(long) and head + tail == len(short) and _is_doubled(long, head)


def _is_one_stem(short: str, long: str) -> bool:
    head, tail = _count_equal(short, long)
    if len(short) >= _LETTERS_OF_A_PERSON and head >= _HEAD:
        if len(short) + 1 == len(long) == head + tail + 1:
            return tail >= 1
        if _are_turned(short, long, head, tail):
            return True
    if len(short) == len(long) == head + tail + 1:
        same_sound = frozenset((short[head], long[head])) in _SAME_SOUND
        return not same_sound and _is_another_letter(short, long, head, tail)
    return len(short) >= _LETTERS_OF_TWO_SLIPS and min(head, tail) >= _HEAD and _has_two_slips(short, long)


def _is_another_letter(short: str, long: str, head: int, tail: int) -> bool:
    least = 1 if len(short) >= _LETTERS_OF_TWO_SLIPS else _HEAD
    last = 1 if _name_of(short[0]).startswith(_WITHOUT_VOWELS) else _TAIL
    return (
        len(short) == len(long) == head + tail + 1
        and len(short) >= _LETTERS_OF_ANOTHER_PERSON
        and (head >= least and tail >= last)
        and not (_OPEN_SYLLABLES.fullmatch(short) and _OPEN_SYLLABLES.fullmatch(long))
    )


def _has_two_slips(short: str, long: str) -> bool:
    """Say whether two slips make one word of the other, at most one of which brings another letter."""
    ours, theirs = Counter(short), Counter(long)
    if max((ours - theirs).total(), (theirs - ours).total()) > 1:
        return False
    return _count_slips(short, long) <= 2  # noqa: PLR2004 - two


def _count_slips(one: str, other: str) -> int:
    """Count the letters added, dropped, replaced or turned between two words (restricted Damerau distance)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        last, row = row, [place]
        for column, against in enumerate(other, 1):
            least = min(last[column] + 1, row[-1] + 1, last[column - 1] + (letter != against))
            if before and column > 1 and one[place - 2] == against and other[column - 2] == letter:
                least = min(least, before[column - 2] + 1)
            row.append(least)
        before = last
    return row[-1]


def _ending_of(word: str) -> str:
    longest = min(_LONGEST_ENDING, len(word) - _LETTERS_OF_A_STEM)
    ends = (word[-size:] for size in range(longest, 0, -1))
    return next((end for end in ends if end in ENDINGS_OF_FAMILIES), "")


def _measure_beginning(one: str, other: str) -> int:
    return max(
        (len(start) for start in BEGINNINGS_OF_FAMILIES if one.startswith(start) and other.startswith(start)), default=0
    )


def _is_slip_of_length(short: str, long: str, head: int, tail: int) -> bool:
    if head + tail < len(short) or head < _HEAD or tail < _TAIL:
        return False
    if _is_doubled(long, head):
        return len(short) >= _DOUBLED and short[head:] not in _AFTER_A_DOUBLED_LETTER
    return len(short) >= _LETTERS_LACKING


def _is_slip_of_letters(short: str, long: str, head: int, tail: int) -> bool:
    if _are_turned(short, long, head, tail):
        return len(short) >= _LETTERS_TURNED and head >= _HEAD and tail >= 1
    if len(short) - head - tail != 1 or head < _HEAD or tail < _TAIL or _PLACE.search(short):
        return False
    if len(short) >= _LETTERS_OF_A_LONG_WORD and head >= _HEAD_OF_ANOTHER and tail >= _TAIL_OF_ANOTHER:
        return True
    # In a shorter word any other letter makes another one (project, protect).
    return len(short) >= _LETTERS_OF_ANOTHER and frozenset((short[head], long[head])) in _SAME_SOUND


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


@lru_cache(maxsize=5_000)
def _name_of(char: str) -> str:
    return unicodedata.name(char, "")
