"""A name as the rules read it: its words, and apart from them what tells namesakes apart."""

import re
from dataclasses import dataclass
from functools import lru_cache

from pipeline.resolve.acronyms import acronym_of
from pipeline.resolve.names import canonical_key, measure_legal_form, split_words
from pipeline.resolve.wordlists import (
    ABBREVIATIONS,
    FEMALE_TITLES,
    GENERATIONS,
    HONOURS,
    LEADING_FORMS,
    MALE_TITLES,
    NUMBER_WORDS,
    PERSON_LABELS,
    ROMAN_NUMBERS,
    TITLES,
)

_BRACKETED = re.compile(r"\s*\(([^()]*)\)")
_INITIAL = re.compile(r"\b([^\W\d_])\.")  # J.R.R. is three of them, not a word
_AROUND = " ,;:/-–—"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LABEL_BREAKS = re.compile(r"[\W_]+")
_AMBIGUOUS_ROMAN = frozenset("i v x".split())  # noqa: SIM905 - initials, more often than numbers


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules compare of a name."""

    key: str
    words: tuple[str, ...]
    """Folded, without legal forms, titles, generation or address; numbers among them as digits."""
    numbers: tuple[str, ...] = ()
    """Sorted: digits, number words and Roman numbers."""
    generation: int = 0
    """Of a person: 1 is Sr., 2 is Jr. or II; 0 where the name says none."""
    gender: str = ""
    """What the title of a person says of it: `f`, `m` or nothing."""
    initials: str = ""
    """At the end of a person's name, where the key takes them for a legal form: Smith SA."""
    address: frozenset[str] = frozenset()
    """Words after a legal form and a comma: `N.V., Arnhem`."""


def is_person(label: str) -> bool:
    """Say whether entities of a label are people, by the word it is."""
    return _LABEL_BREAKS.sub("", label.casefold()) in PERSON_LABELS


@lru_cache(maxsize=100_000)
def read_name(name: str, *, person: bool) -> Reading:
    """Read a name; the same words mean another thing in the name of a person."""
    return _read_person(name) if person else _read_thing(name)


def _read_person(name: str) -> Reading:
    words = _without_repeats(canonical_key(_INITIAL.sub(r"\1 ", name)).split())
    titles = []
    while len(words) > 2 and words[0] in TITLES:  # noqa: PLR2004 - "King Charles" is no Charles
        titles.append(words.pop(0))
    while len(words) > 2 and words[-1] in HONOURS:  # noqa: PLR2004 - the name of a person stays
        words.pop()
    generation = GENERATIONS.get(words[-1], 0) if len(words) > 1 else 0
    if generation:
        words.pop()
    gender = "f" if FEMALE_TITLES.intersection(titles) else "m" if MALE_TITLES.intersection(titles) else ""
    numbers = sorted(word for word in words if word[0].isdigit())
    written = split_words(name)
    initials = "".join(written[len(written) - measure_legal_form(written) :])
    return Reading(canonical_key(name), tuple(words), tuple(numbers), generation, gender, initials)


def _read_thing(name: str) -> Reading:
    plain = _without_acronym(name) if name.split() else ""
    head, address = _cut_address(plain)
    words = _without_repeats(_without_leading_form(_without_legal_forms(canonical_key(head).split())))
    words = [_spell_number(word, last=place == len(words) - 1) for place, word in enumerate(words)]
    words = [ABBREVIATIONS.get(word, word) for word in words]
    numbers = sorted(number for word in words for number in _NUMBER.findall(word))
    return Reading(canonical_key(plain), tuple(words), tuple(numbers), address=address)


def _without_acronym(name: str) -> str:
    """Take an acronym off the name that it stands for, if it is in brackets, comes first or last."""
    words = name.split()
    for short, long in ((words[0], words[1:]), (words[-1], words[:-1])):
        rest = " ".join(long).strip(_AROUND)
        if acronym_of(short.strip(_AROUND), rest):
            return rest
    for found in _BRACKETED.finditer(name):
        rest = name[: found.start()] + name[found.end() :]
        if acronym_of(found[1], rest):
            return rest
        # The acronym may count the legal form: BV is two letters of it.
        if found[1].isupper() and found[1].isalpha() and _starts_with_initials(found[1].casefold(), rest):
            return rest
    return name


def _starts_with_initials(letters: str, name: str) -> bool:
    words = split_words(name)
    size = measure_legal_form(words)
    initials = "".join(word[0] for word in words[: len(words) - size]) + "".join(words[len(words) - size :])
    return len(letters) > 2 and letters == initials  # noqa: PLR2004 - two letters are no evidence


def _cut_address(name: str) -> tuple[str, frozenset[str]]:
    """Cut what follows a legal form and a comma, unless that is a legal form, too (`Co., Ltd.`)."""
    parts = re.split(r",\s+", name)
    for count in range(1, len(parts)):
        head, tail = split_words(", ".join(parts[:count])), split_words(" ".join(parts[count:]))
        form = measure_legal_form(head)
        if form and tail and measure_legal_form(["x", *tail]) != len(tail):
            return ", ".join(parts[:count]), frozenset(tail)
    return name, frozenset()


def _without_legal_forms(words: list[str]) -> list[str]:
    """Drop what more forms there are at the end, `NV Naamloze Vennootschap`, and the `and` of `and Company`."""
    size = measure_legal_form(words)
    while size:
        words = words[:-size]
        size = measure_legal_form(words)
    return words[:-1] if len(words) > 1 and words[-1] == "and" else words


def _without_leading_form(words: list[str]) -> list[str]:
    for form in sorted(LEADING_FORMS, key=len, reverse=True):
        if tuple(words[: len(form)]) == form and len(words) > len(form):
            return words[len(form) :]
    return words


def _without_repeats(words: list[str]) -> list[str]:
    """Drop a word that is said twice in a row, unless nothing else is left (Duran Duran)."""
    kept = [word for place, word in enumerate(words) if place == 0 or len(word) == 1 or word != words[place - 1]]
    return kept if len(kept) > 1 else words


def _spell_number(word: str, *, last: bool) -> str:
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    # "Malcolm X" and "V Festival" have no number, "Fund I" has one.
    return ROMAN_NUMBERS[word] if word in ROMAN_NUMBERS and (last or word not in _AMBIGUOUS_ROMAN) else word
