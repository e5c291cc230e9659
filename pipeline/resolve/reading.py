"""A name as the rules read it: its words, and apart from them what tells namesakes apart."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from pipeline.resolve.acronyms import acronym_of
from pipeline.resolve.bearers import Bearer
from pipeline.resolve.names import (
    canonical_key,
    full_key,
    measure_legal_form,
    split_words,
    stands_as_a_state,
    thing_key,
)
from pipeline.resolve.numerals import digits_of, spell_numbers, spell_numbers_of_rulers
from pipeline.resolve.slips import is_slip
from pipeline.resolve.wordlists import (
    ABBREVIATIONS,
    FEMALE_TITLES,
    GENERATIONS,
    HONOURS,
    LEADING_FORMS,
    LONG_FORMS,
    MALE_TITLES,
    TITLES,
)

MOST_LETTERS = 200
"""Longer names are texts: only their keys are compared."""
_BRACKETED = re.compile(r"\(([^()]*)\)")
_INITIAL = re.compile(r"\b([^\W\d_])\.")  # J.R.R. is three of them, not a word
_GLUED_FORM = re.compile(r"(?<=[^\W\d_A-Z]{3})(?=(?:AG|SE|NV|BV|LLC|PLC|GmbH|Ltd|Inc)\b)")
"""A legal form that a blank is lacking before: small letters, then its capitals."""
_LETTERS_OF_A_LONG_FORM = 10
_LEADING_FORMS = {
    first: sorted((form for form in LEADING_FORMS if form[0] == first), key=len, reverse=True)
    for first in {form[0] for form in LEADING_FORMS}
}
"""By their first word, longer ones first."""
_AROUND = " ,;:/-–—"
_WORDS_OF_A_NAMESAKE = 3
_KEYS: dict[Bearer, Callable[[str], str]] = {
    Bearer.PERSON: full_key,
    Bearer.UNCLEAR: full_key,
    Bearer.ORGANISATION: canonical_key,
    Bearer.THING: thing_key,
}
_FORMS_BEFORE_STATES = frozenset(("nv", "ab"))
"""After a comma, too, an organisation is hardly ever said to be in Nevada or Alberta: Corvane, NV."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules compare of a name."""

    key: str
    words: tuple[str, ...]
    """Folded, without legal forms, titles, generation or address; numbers among them as digits."""
    numbers: tuple[str, ...] = ()
    """Sorted: digits, number words and Roman numbers; in people's names the numbers of rulers."""
    generation: int = 0
    """Of a person: 1 is Sr., 2 is Jr. or II; 0 where the name says none."""
    gender: str = ""
    """What the title of a person says of it: `f`, `m` or nothing."""
    initials: str = ""
    """At the end of a person's name, where the key takes them for a legal form: Smith SA."""
    address: frozenset[str] = frozenset()
    """Words after a legal form and a comma: `N.V., Arnhem`."""


@lru_cache(maxsize=100_000)
def read_name(name: str, bearer: Bearer) -> Reading:
    """Read a name; the same words mean another thing in the name of a person."""
    if len(name) > MOST_LETTERS:
        return Reading(key_of_bearer(name, bearer), ())
    return _read_person(name) if bearer is Bearer.PERSON else _read_thing(name, bearer)


def _read_person(name: str) -> Reading:
    words = full_key(_INITIAL.sub(r"\1 ", name)).split()
    titles = []
    while len(words) > 2 and words[0] in TITLES:  # noqa: PLR2004 - "King Charles" is no Charles
        titles.append(words.pop(0))
    while len(words) > 2 and words[-1] in HONOURS:  # noqa: PLR2004 - the name of a person stays
        words.pop()
    # "James II" has a number: kings are called so without a surname.
    numbered = len(words) < _WORDS_OF_A_NAMESAKE and words[-1:] in (["ii"], ["iii"], ["iv"])
    generation = GENERATIONS.get(words[-1], 0) if len(words) > 1 and not numbered else 0
    if generation:
        words.pop()
    words = spell_numbers_of_rulers(words, name)
    gender = "f" if FEMALE_TITLES.intersection(titles) else "m" if MALE_TITLES.intersection(titles) else ""
    written = split_words(name)
    initials = "".join(written[len(written) - measure_legal_form(written) :])
    return Reading(full_key(name), tuple(words), digits_of(words), generation, gender, initials)


def _read_thing(name: str, bearer: Bearer) -> Reading:
    organised = bearer is Bearer.ORGANISATION
    name = _GLUED_FORM.sub(" ", name) if organised else name
    plain = _without_acronym(name) if name.split() else ""
    head, address = _cut_address(plain) if organised else (plain, frozenset[str]())
    words = key_of_bearer(head, bearer).split()
    if organised and not (stands_as_a_state(head) and words[-1] not in _FORMS_BEFORE_STATES):
        words = _without_legal_forms(words)
    words = spell_numbers(_without_leading_form(words) if organised else words)
    words = [ABBREVIATIONS.get(word, word) for word in words] if organised else words
    return Reading(key_of_bearer(plain, bearer), tuple(words), digits_of(words), address=address)


def key_of_bearer(name: str, bearer: Bearer) -> str:
    """Give the key by which names are equal, for those who bear them."""
    return _KEYS[bearer](name)


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
    words = _with_right_form(words)
    size = measure_legal_form(words)
    while size:
        words = words[:-size]
        size = measure_legal_form(words)
    return words[:-1] if len(words) > 1 and words[-1] == "and" else words


def _with_right_form(words: list[str]) -> list[str]:
    """Put a long legal form at the end right: Aktiengeselschaft."""
    last = words[-1] if len(words) > 1 else ""
    if len(last) < _LETTERS_OF_A_LONG_FORM:
        return words
    right = next((form for form in LONG_FORMS if is_slip(last, form)), last)
    return [*words[:-1], right]


def _without_leading_form(words: list[str]) -> list[str]:
    for form in _LEADING_FORMS.get(words[0], ()) if words else ():
        if tuple(words[: len(form)]) == form and len(words) > len(form):
            return words[len(form) :]
    return words
