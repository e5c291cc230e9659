"""Finds the common noun that a text calls a name by: "X is a band", "X, a river in", "the city of X"."""

from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.adapters.spacy_rules.kinds import Kind
from pipeline.adapters.spacy_rules.names import Name

SUBJECTS = frozenset(("nsubj", "nsubjpass"))
# "One of the bands", "a kind of algorithm": the noun that tells the kind comes after "of".
_EMPTY_NOUNS = frozenset(("one", "kind", "type", "sort", "form", "class", "variety", "species", "series"))
# "The city of X" is X; "the capital of X" is not.
_PLACE_NOUNS = frozenset(
    (
        "city",
        "town",
        "village",
        "municipality",
        "county",
        "province",
        "state",
        "region",
        "republic",
        "kingdom",
        "island",
    )
)
# What these are called says little of what they are.
_FIXED_KINDS = frozenset((Kind.DATE, Kind.NORP, Kind.LANGUAGE))


def find_nouns(doc: Any, names: Sequence[Name], owner: Sequence[int | None]) -> Iterator[tuple[int, Any]]:
    """Find (name, token of its common noun), in the text's order; `owner` gives the name of each token."""
    for token in doc:
        noun = None
        named: list[int | None] = []
        if token.dep_ == "attr" and owner[token.i] is None and not any(t.dep_ == "neg" for t in token.head.children):
            noun = token
            named = [owner[subject.i] for subject in token.head.children if subject.dep_ in SUBJECTS]
        elif token.dep_ == "appos" and owner[token.i] is None:
            noun, named = token, [owner[token.head.i]]
        elif token.dep_ == "appos" and owner[token.head.i] is None:
            noun, named = token.head, [owner[token.i]]
        elif token.dep_ in {"compound", "nmod"} and owner[token.i] is None and _stands_before(token, owner):
            noun, named = token, [owner[token.head.i]]
        elif token.tag_ == "NN" and token.lemma_.lower() in _PLACE_NOUNS:
            noun, named = token, [owner[end.i] for end in _of(token)]
        if noun is None or noun.pos_ != "NOUN":
            continue
        for name in named:
            if name is not None and names[name].kind not in _FIXED_KINDS:
                yield name, noun


def noun_word(noun: Any) -> str:
    """Give the lower-case noun that tells the kind: of "one of the bands" it is "band"."""
    if noun.lemma_.lower() in _EMPTY_NOUNS:
        for inner in _of(noun):
            if inner.pos_ == "NOUN":
                return str(inner.lemma_.lower())
    return str(noun.lemma_.lower())


def _of(noun: Any) -> Iterator[Any]:
    """Give what stands after the noun's "of"."""
    for prep in noun.children:
        if prep.dep_ == "prep" and prep.lower_ == "of":
            yield from (end for end in prep.children if end.dep_ == "pobj")


def _stands_before(token: Any, owner: Sequence[int | None]) -> bool:
    """Tell whether a noun stands right before the name that it modifies."""
    return token.i + 1 < len(owner) and owner[token.i + 1] is not None and owner[token.i + 1] == owner[token.head.i]
