"""Finds the places of names: the model's entities, joined with runs of proper nouns and quoted titles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.spacy_rules.entities import YEAR, entity_spans, unnamed_tokens
from pipeline.adapters.spacy_rules.kinds import Kind, kind_of_noun
from pipeline.adapters.spacy_rules.runs import head_of, proper_runs
from pipeline.adapters.spacy_rules.spans import trim
from pipeline.adapters.spacy_rules.titles import quoted_titles
from pipeline.extract import is_name
from pipeline.ids import normalise_name

BOTH_SCORE = 0.9
"""The model and the run of proper nouns agree on the span."""
MODEL_SCORE = 0.8
RUN_SCORE = 0.6

_TITLES = frozenset(
    # As one text, because a list would be thirty lines long.
    """
    mr mrs ms miss dr prof professor sir dame lord lady president senator governor mayor prime minister chancellor
    captain colonel general lieutenant major sergeant judge justice pastor reverend father sister coach
    """.split()  # noqa: SIM905
)

type _Found = tuple[int, int, Kind | None, float]
"""Start, end, kind and score."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place: token offsets, half open, its kind as far as known, and how sure it is."""

    start: int
    end: int
    text: str
    kind: Kind | None
    score: float
    noun: str = ""

    @property
    def key(self) -> str:
        """What mentions of the same name share."""
        return normalise_name(self.text)


def spot_names(doc: Any) -> list[Name]:
    """Find the names of a parsed text in order; no two overlap. Kinds are as found at each place."""
    names: list[Name] = []
    taken: set[int] = set()
    for start, end, kind, score in _candidates(doc):
        tokens = range(start, end)
        text = _written(doc, start, end)
        if tokens and taken.isdisjoint(tokens) and is_name(text):
            taken.update(tokens)
            names.append(Name(start, end, text, kind, score))
    return sorted(names, key=lambda name: name.start)


def _written(doc: Any, start: int, end: int) -> str:
    """Spell a name on one line, without the full stop of a last word such as "Corp." at a sentence's end.

    Within sentences it goes as well, so that both are the same name; "U.S." and "J. S." keep theirs.
    """
    text = " ".join(doc[start:end].text.split())
    last = doc[end - 1].text
    return text[:-1] if last.endswith(".") and last.count(".") == 1 and len(last) > len("J.") else text


def _candidates(doc: Any) -> Iterator[_Found]:
    """Give spans that may be names, those first that win where two overlap."""
    entities = entity_spans(doc)
    yield from ((start, end, Kind.WORK, MODEL_SCORE) for start, end in quoted_titles(doc))
    dates = {i for start, end, kind in entities if kind is Kind.DATE for i in range(start, end)}
    words = {token.text for token in doc}
    for start, end in proper_runs(doc, unnamed_tokens(doc) | dates):
        inside = [entity for entity in entities if entity[0] < end and start < entity[1]]
        for first, last, kind, score in _settle(doc, start, end, inside):
            # At a sentence's start, the tagger takes common words for names; the text itself knows better.
            if score == RUN_SCORE and last - first == 1 and doc[first].is_sent_start and doc[first].lower_ in words:
                continue
            # "2000 Summer Olympics" is the name of an event, the year alone is not.
            dated = kind is Kind.EVENT and first > 0 and YEAR.fullmatch(doc[first - 1].text)
            yield first - 1 if dated else first, last, kind, score
    yield from ((start, end, kind, MODEL_SCORE) for start, end, kind in entities)


def _settle(doc: Any, start: int, end: int, inside: list[tuple[int, int, Kind]]) -> Iterator[_Found]:
    """Decide between a run and the model's entities in it."""
    first, last = trim(doc, start, end)
    if first == last:
        return
    head = doc[head_of(doc, first, last)].lower_
    office = kind_of_noun(head) is Kind.PERSON and not any(kind is Kind.PERSON for _, _, kind in inside)
    if office or len(inside) > 1:
        # "Governor of X" names X; the office itself is nobody.
        yield from ((*entity, MODEL_SCORE) for entity in inside)
    elif inside:
        yield _settle_one(doc, first, last, inside[0])
    elif last - first > 1 or (kind_of_noun(head) is None and head.rstrip(".") not in _TITLES):
        # A common noun alone ("the Company") is no name, whatever its capital.
        yield first, last, kind_of_noun(head), RUN_SCORE


def _settle_one(doc: Any, first: int, last: int, entity: tuple[int, int, Kind]) -> _Found:
    """Take the longer of a run and the one entity in it, unless only a title makes it longer."""
    start, end, kind = entity
    if (start, end) == (first, last):
        return start, end, kind, BOTH_SCORE
    if first < start and kind is Kind.PERSON and all(t.lower_.rstrip(".") in _TITLES for t in doc[first:start]):
        first = start
    if kind is Kind.NORP:
        return start, end, kind, MODEL_SCORE
    grown = min(first, start), max(last, end)
    head = head_of(doc, *grown)
    # A place in a longer name ("University of X") does not make the whole a place.
    if start <= head < end:
        return *grown, kind, MODEL_SCORE
    return *grown, kind_of_noun(doc[head].lower_), RUN_SCORE
