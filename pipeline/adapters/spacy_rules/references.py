"""Finds which name a word of a text stands for: a pronoun, "the band", a surname."""

from collections.abc import Sequence
from typing import Any

from pipeline.adapters.spacy_rules.describe import full_names
from pipeline.adapters.spacy_rules.kinds import Kind
from pipeline.adapters.spacy_rules.names import Name
from pipeline.adapters.spacy_rules.nouns import SUBJECTS, find_nouns, noun_word

_PERSONAL = frozenset(("he", "she", "his", "her"))
_NEUTRAL = frozenset(("it", "its"))
_PLURAL = frozenset(("they", "their"))
_GROUPS = frozenset((Kind.ORG, Kind.NORP))
_REACH = 1
"""A pronoun is resolved to a subject of its own sentence or of the one before."""


class References:
    """The names of a text, and which of them its words stand for."""

    def __init__(self, doc: Any, names: Sequence[Name]) -> None:
        self.names = names
        self._owner: list[int | None] = [None] * len(doc)
        for index, name in enumerate(names):
            for i in range(name.start, name.end):
                self._owner[i] = index
        self._full = full_names(names)
        self._by_noun: dict[str, set[int]] = {}
        self._called: dict[int, int] = {}
        for index, noun in find_nouns(doc, names, self._owner):
            full = self._full.get(index, index)
            self._called[noun.i] = full
            self._by_noun.setdefault(noun_word(noun), set()).add(self._first(full))
        self._pronouns: dict[int, int] = {}
        self._follow(doc)

    def owner(self, token: Any) -> int | None:
        """Give the name that a token is part of."""
        index: int | None = self._owner[token.i]
        return index

    def named(self, token: Any) -> int | None:
        """Give the (fullest) name that a token is part of or stands for."""
        place: int = token.i
        index = self._owner[place]
        if index is not None:
            return self._full.get(index, index)
        if place in self._pronouns:
            return self._pronouns[place]
        if place in self._called:
            return self._called[place]
        return self._described(token)

    def called(self, noun: Any) -> int | None:
        """Give the name that the text calls by this very noun: X in "X is a band"."""
        index: int | None = self._called.get(noun.i)
        return index

    def _first(self, index: int) -> int:
        """Give the first mention of a name, to compare names by."""
        key = self.names[index].key
        return next(i for i, name in enumerate(self.names) if name.key == key)

    def _described(self, token: Any) -> int | None:
        """Resolve "the band" to the only name that the text calls a band."""
        if token.pos_ != "NOUN" or not any(t.lower_ in {"the", "this"} for t in token.children if t.dep_ == "det"):
            return None
        # "The band of his brother" is another band.
        if any(t.dep_ in {"prep", "poss", "relcl", "acl"} for t in token.children):
            return None
        found = self._by_noun.get(token.lemma_.lower(), set())
        return next(iter(found)) if len(found) == 1 else None

    def _follow(self, doc: Any) -> None:
        """Resolve subject and possessive pronouns to the last named subject."""
        subject: int | None = None
        place = 0
        for number, sentence in enumerate(doc.sents):
            for token in sentence:
                word = token.lower_
                if token.pos_ == "PRON" and token.dep_ in {*SUBJECTS, "poss"}:
                    if subject is not None and number - place <= _REACH and self._fits(word, subject):
                        self._pronouns[token.i] = subject
                        place = number
                elif token.dep_ in SUBJECTS and token.head.dep_ in {"ROOT", "conj", "ccomp"}:
                    named = self.named(token)
                    # Two joined subjects leave open whom a pronoun means.
                    subject = None if any(t.dep_ == "conj" for t in token.children) else named
                    place = number

    def _fits(self, pronoun: str, index: int) -> bool:
        kind = self.names[index].kind
        if pronoun in _PERSONAL:
            return kind is Kind.PERSON
        if pronoun in _NEUTRAL:
            return kind is not Kind.PERSON
        return pronoun in _PLURAL and kind in _GROUPS
