"""Makes the mentions of a name agree: one kind throughout the text, corrected by what the text calls it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipeline.adapters.spacy_rules.kinds import PLACES, Kind, kind_of_noun
from pipeline.adapters.spacy_rules.names import Name, spot_names
from pipeline.adapters.spacy_rules.nouns import find_nouns, noun_word
from pipeline.adapters.spacy_rules.runs import head_of

_NOT_SURNAMES = PLACES | {Kind.DATE, Kind.NORP, Kind.LANGUAGE}


def find_names(doc: Any) -> list[Name]:
    """Find the names of a parsed text in order, each with the kind and the noun that the whole text gives it."""
    names = _describe(doc, _agree(spot_names(doc)))
    full = full_names(names)
    return [
        replace(name, kind=Kind.PERSON) if index in full else replace(name, noun=name.noun or _own_noun(doc, name))
        for index, name in enumerate(names)
    ]


def full_names(names: Sequence[Name]) -> dict[int, int]:
    """Map names that are the last word of exactly one person's longer name to that name's first mention."""
    people: dict[str, int] = {}
    for index, name in enumerate(names):
        if name.kind is Kind.PERSON and " " in name.key:
            people.setdefault(name.key, index)
    found: dict[int, int] = {}
    firsts: dict[str, int] = {}
    for index, name in enumerate(names):
        first = firsts.setdefault(name.key, index)
        if " " in name.key or name.kind in _NOT_SURNAMES:
            continue
        fuller = [full for key, full in people.items() if key.endswith(" " + name.key)]
        # The model often takes a surname for a company; where the person was named before, it is none.
        if len(fuller) == 1 and (name.kind in {Kind.PERSON, None} or fuller[0] < first):
            found[index] = fuller[0]
    return found


def _own_noun(doc: Any, name: Name) -> str:
    """Give the common noun inside a name: "award" of "Academy Award". A person's name has none."""
    if name.kind is Kind.PERSON or name.end - name.start == 1:
        return ""
    return str(doc[head_of(doc, name.start, name.end)].lower_)


def _agree(names: Sequence[Name]) -> list[Name]:
    """Give all mentions of a name the kind that most of them have, the earliest on a tie."""
    votes: dict[str, Counter[Kind]] = {}
    for name in names:
        if name.kind is not None:
            votes.setdefault(name.key, Counter())[name.kind] += 1
    # most_common keeps the order of first appearance among equals.
    winners = {key: counted.most_common(1)[0][0] for key, counted in votes.items()}
    return [replace(name, kind=winners.get(name.key)) for name in names]


def _describe(doc: Any, names: Sequence[Name]) -> list[Name]:
    """Note the common noun that the text calls a name by, and let it correct the kind of all its mentions."""
    owner: list[int | None] = [None] * len(doc)
    for index, name in enumerate(names):
        owner[name.start : name.end] = [index] * (name.end - name.start)
    nouns: dict[str, str] = {}
    for index, noun in find_nouns(doc, names, owner):
        word = noun_word(noun)
        key = names[index].key
        # The first noun that tells a kind; else the first.
        if key not in nouns or (kind_of_noun(nouns[key]) is None and kind_of_noun(word) is not None):
            nouns[key] = word
    return [
        replace(name, noun=nouns[name.key], kind=kind_of_noun(nouns[name.key]) or name.kind)
        if name.key in nouns
        else name
        for name in names
    ]
