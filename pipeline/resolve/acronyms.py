"""Acronyms: which short names are spelled by the initials of which long ones."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from pipeline.resolve.bearers import Bearer, find_bearer
from pipeline.resolve.names import canonical_key, split_words
from pipeline.resolve.values import Named

SHORTEST, LONGEST = 3, 6
_SMALL_WORDS = frozenset(
    "a an and at by for from in of on or the to with "  # noqa: SIM905 - a list of words is read as words
    "da das de del den der des di do du e el et for für la le les och og para por pour und van von y zu".split()
)
"""What an acronym may skip: FBI, but also DoD."""
_MOST_SMALL_WORDS = 6
_MOST_LETTERS = 200
_IN_CAPITALS = re.compile(r"[^\W\d_a-z]+[a-z]?[^\W\d_a-z]+")  # DoE, too


@dataclass(frozen=True, slots=True)
class Expansion:
    """An acronym of one label and the long names it may stand for, all as canonical keys."""

    label: str
    short: str
    longs: tuple[str, ...]
    sure: bool = True
    """There is one long name, and it is no person's: people are seldom called by their initials (MAX, ANNA)."""


def acronym_of(short: str, long: str) -> bool:
    """Say whether one name is made of the other's initials: `AIHS`, Ashford Island Historical Society.

    3 to 6 letters, written as an acronym (`Aids` is a word). Small words count or not (FBI, DoE), and so does a
    legal form at the end of the long name (ABC, American Broadcasting Company).
    """
    letters = read_acronym(short)
    return bool(letters) and letters in _initials_of(long)


@lru_cache(maxsize=50_000)
def read_acronym(name: str) -> str:
    """Give an acronym's letters in lower case; '' where the name is none."""
    if len(name) > _MOST_LETTERS:
        return ""
    key = canonical_key(name)
    if not (SHORTEST <= len(key) <= LONGEST and key.isalpha()):
        return ""
    undotted = name.replace(".", "")
    written = (*undotted.split(), "".join(undotted.split()))
    return key if any(word.casefold() == key and _IN_CAPITALS.fullmatch(word) for word in written) else ""


def find_expansions(members: Iterable[Named]) -> list[Expansion]:
    """List what each acronym may stand for within its label, sorted; an acronym that stands for nothing is left out.

    One long name is a join, several are for a judge, and so is what may be a person's.
    """
    shorts: set[tuple[str, str]] = set()
    others: list[Named] = []
    for member in members:
        letters = read_acronym(member.name)
        if letters:
            shorts.add((member.label, letters))
        else:
            others.append(member)
    people: set[tuple[str, str]] = set()
    longs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for member in others:
        for short in shorts.intersection((member.label, initials) for initials in _initials_of(member.name)):
            longs[short].add(canonical_key(member.name))
            if find_bearer((member.label,), (member.name,)) in {Bearer.PERSON, Bearer.UNCLEAR}:
                people.add(short)
    return [
        Expansion(*short, tuple(sorted(keys)), len(keys) == 1 and short not in people)
        for short, keys in sorted(longs.items())
    ]


@lru_cache(maxsize=50_000)
def _initials_of(name: str) -> frozenset[str]:
    """Give all acronyms of a name, of lengths that acronyms have."""
    if len(name) > _MOST_LETTERS:
        return frozenset()
    spelled = [canonical_key(name).split()]
    written = split_words(name)
    if written != spelled[0]:
        spelled.append(written)
    return frozenset(letters for words in spelled for letters in _spell(words) if SHORTEST <= len(letters) <= LONGEST)


def _spell(words: list[str]) -> Iterator[str]:
    # Digits have no initial.
    if len(words) < SHORTEST or not all(word[0].isalpha() for word in words):
        return
    small = [word in _SMALL_WORDS for word in words]
    if sum(small) > _MOST_SMALL_WORDS or len(words) - sum(small) > LONGEST:
        return
    for letters in product(*(("", word[0]) if skips else (word[0],) for word, skips in zip(words, small, strict=True))):
        yield "".join(letters)
