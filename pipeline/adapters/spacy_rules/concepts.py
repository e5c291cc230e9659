"""Finds noun phrases without capitals that name an idea: "gradient descent", "chronic kidney disease"."""

from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.adapters.spacy_rules.kinds import Kind, kind_of_noun
from pipeline.adapters.spacy_rules.names import RUN_SCORE, Name

_LEAST_WORDS = 2
_PARTS = frozenset(("NOUN", "PROPN", "ADJ"))


def find_concepts(doc: Any, names: Sequence[Name]) -> Iterator[Name]:
    """Find phrases of two or more nouns and adjectives that overlap no name, in the text's order."""
    taken = {i for name in names for i in range(name.start, name.end)}
    for chunk in doc.noun_chunks:
        start, end = chunk.start, chunk.end
        while start < end and doc[start].pos_ not in _PARTS:
            start += 1
        words = doc[start:end]
        if len(words) < _LEAST_WORDS or words[-1].pos_ != "NOUN" or not taken.isdisjoint(range(start, end)):
            continue
        if all(token.pos_ in _PARTS and token.is_alpha and not token.is_stop for token in words):
            yield Name(start, end, words.text, kind_of_noun(words[-1].lemma_.lower()) or Kind.CONCEPT, RUN_SCORE)
