"""Two extractors in one: a local model reads everything, a language model what that one is unsure about."""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Protocol

from pipeline import ids
from pipeline.errors import PipelineError
from pipeline.extract import Drop, StopAsking, stop, stoppable
from pipeline.ids import normalise_name
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import Ontology
from pipeline.ports import CallingExtractor, Extractor

RULE_VERSION = "1"
"""Raised with every change of the rule or of the merge that may change a result."""
SLICE = 16
"""Passages read locally before the unsure ones among them are asked about: sure ones are out early, calls overlap."""

_WORD = re.compile(r"[^\W_][\w'’-]*")
_SPEAKER = re.compile(r"I(?:['’]\w+)?")
_ENDS = ".!?:…。！？\n"
_MARKS = "\"'“”‘’«»([{*_#>|- \t"


class InformedExtractor(CallingExtractor, Protocol):
    """A `CallingExtractor` that can be told what was found already, checks that, and keeps its spans."""

    def extract_each(
        self, texts: Sequence[str], ontology: Ontology, found: Sequence[Sequence[Mention]] | None = None
    ) -> Iterator[tuple[int, Extraction | PipelineError]]:
        """Read passages as the port says; `found` runs parallel to `texts`: the entities known of each."""


class HybridExtractor:
    """Reads every passage by a local model and asks a language model about the unsure ones (port `CallingExtractor`).

    A passage is unsure where `is_unsure` says so; that looks at nothing but the passage, so a result does not
    depend on what is read beside it. What the language model cannot tell is an error, never the local result in its
    stead: else what a document says would hang on a service's bad day.
    """

    def __init__(self, local: Extractor, asked: InformedExtractor, unsure_below: float) -> None:
        self._local = local
        self._asked = asked
        self._unsure_below = unsure_below

    def _tell_apart(self) -> str:
        """Hash what tells either extractor, and the threshold."""
        parts = (self._local.fingerprint, self._asked.fingerprint, f"unsure_below={self._unsure_below}")
        return ids.fingerprint(("hybrid", RULE_VERSION, *parts))

    # Only when asked for: the local model's takes a while.
    fingerprint = cached_property(_tell_apart)

    def extract_each(
        self, texts: Sequence[str], ontology: Ontology
    ) -> Generator[tuple[int, Extraction | PipelineError], None, None]:
        """Read passages as the port says: sure ones come as soon as they are read, the others when answered.

        `StopAsking` is heeded. Once the language model takes no calls, what is left for it gets that error.
        """
        unsure: dict[int, Extraction] = {}
        for start in range(0, len(texts), SLICE):
            for position, found in enumerate(self._local.extract(texts[start : start + SLICE], ontology), start):
                if is_unsure(texts[position], found, ontology, self._unsure_below):
                    unsure[position] = found
                else:
                    yield position, found
        # All together: so many calls may be under way at once, and a model that stops is asked no more.
        if unsure:
            yield from self._ask(texts, ontology, unsure)

    def _ask(
        self, texts: Sequence[str], ontology: Ontology, unsure: dict[int, Extraction]
    ) -> Generator[tuple[int, Extraction | PipelineError], None, None]:
        positions = list(unsure)
        asked = [texts[position] for position in positions]
        found = [unsure[position].mentions for position in positions]
        with closing(stoppable(self._asked.extract_each(asked, ontology, found))) as answers:
            item = next(answers, None)
            while item is not None:
                position, answer = positions[item[0]], item[1]
                if isinstance(answer, Extraction):
                    answer = merge(unsure[position], answer, ontology, self._unsure_below)
                try:
                    yield position, answer
                except StopAsking:
                    item = stop(answers)
                else:
                    item = next(answers, None)


def is_unsure(text: str, found: Extraction, ontology: Ontology, unsure_below: float) -> bool:
    """Tell whether what a local model found in a passage is to be checked by a language model.

    - The mean score of its mentions is below `unsure_below`. The mean, not the least: one doubtful name among ten
      is seldom worth a call, and long passages nearly always have one.
    - It found nothing, though the passage has capitals inside sentences, digits, or letters of a script without
      capitals: there may be names of a kind that it does not know.
    - It found entities between which the ontology declares relations, but no relation: local models miss
      relations far more often than names. Where the ontology declares none, they are asked for none.
    """
    if not found.mentions:
        return may_name_something(text)
    if sum(mention.score for mention in found.mentions) / len(found.mentions) < unsure_below:
        return True
    return bool(ontology.relation_types) and not found.relations and _may_relate(found.mentions, ontology)


def may_name_something(text: str) -> bool:
    """Tell whether a passage has a digit, or a word with a capital that does not just open a sentence or a line."""
    return any(_is_telling(text, match) for match in _WORD.finditer(text))


def _is_telling(text: str, match: re.Match[str]) -> bool:
    word = match.group()
    if _SPEAKER.fullmatch(word):
        return False
    is_plain = not any(char.isdigit() or char.isupper() for char in word[1:])
    if word[0].isupper() and is_plain:
        return not _opens(text, match.start())
    # Digits, and letters of scripts without capitals, are not lower case either.
    return not (word[0].islower() and is_plain)


def _opens(text: str, start: int) -> bool:
    """Tell whether a sentence or a line opens here, perhaps behind quotes, brackets or marks of a list."""
    before = text[:start].rstrip(_MARKS)
    return not before or before[-1] in _ENDS


def _may_relate(mentions: Sequence[Mention], ontology: Ontology) -> bool:
    """Tell whether a declared relation fits two of the entities."""
    entities = {(normalise_name(mention.name), mention.type) for mention in mentions}
    return any(
        ontology.allows(relation.label, source[1], target[1])
        for source, target in product(entities, repeat=2)
        if source != target
        for relation in ontology.relation_types
    )


def merge(local: Extraction, asked: Extraction, ontology: Ontology, unsure_below: float) -> Extraction:
    """Join what both say of one passage; `asked` was told the local mentions.

    Its answer holds: entities confirmed, with their types put right, and those it adds. What it leaves out stays
    only where the local model itself is sure of it. Of two descriptions the longer is kept; relations that both
    found are worded by the language model, and the others of both are kept.
    """
    described: dict[str, str] = {}
    for mention in local.mentions:
        name = normalise_name(mention.name)
        described[name] = max(described.get(name, ""), mention.description, key=len)
    told = {normalise_name(mention.name) for mention in asked.mentions}
    mentions = tuple(
        replace(m, description=max(m.description, described.get(normalise_name(m.name), ""), key=len))
        for m in asked.mentions
    )
    left_out = tuple(m for m in local.mentions if normalise_name(m.name) not in told and m.score >= unsure_below)
    dropped = Counter(local.dropped) + Counter(asked.dropped)
    dropped[Drop.UNVERIFIED] -= len(left_out)
    worded = {_key(relation, ontology) for relation in asked.relations}
    return Extraction(
        mentions=mentions + left_out,
        relations=asked.relations + tuple(r for r in local.relations if _key(r, ontology) not in worded),
        dropped=dict(+dropped),
        undeclared_mentions=local.undeclared_mentions + asked.undeclared_mentions,
        undeclared_relations=local.undeclared_relations + asked.undeclared_relations,
        usage=local.usage + asked.usage,
    )


def _key(relation: Relation, ontology: Ontology) -> tuple[str, str, str]:
    type_ = ontology.resolve_relation(relation.type) or relation.type
    return normalise_name(relation.source), type_, normalise_name(relation.target)
