"""Makes extractions of a GLiNER model's answers: spans of windows become mentions of passages, pairs relations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.gliner.prompts import ENTITIES, Prompts
from pipeline.adapters.gliner.windows import Window
from pipeline.errors import ModelOutputInvalid
from pipeline.ids import normalise_name
from pipeline.models import Extraction, Mention, Relation

SCORE_DIGITS = 4
"""What is beyond them differs from one processor to the next."""


@dataclass(frozen=True, slots=True)
class Found:
    """A span of a passage that a model takes for something of a type; `score` is from 0 to 1."""

    label: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two spans of a passage that a model takes for related."""

    label: str
    head: Found
    tail: Found


def compose(text: str, answers: Sequence[tuple[Window, Mapping[str, Any]]], prompts: Prompts) -> Extraction:
    """Join what the windows of one passage say.

    Names do not overlap: the better score wins, then the longer name. A relation's ends become the mentions that
    they overlap most; an end that is no mention keeps its words and no type.
    """
    spans: list[Found] = []
    pairs: list[Pair] = []
    for window, answer in answers:
        if ENTITIES not in answer:
            raise ModelOutputInvalid(f"GLiNER gave no answer for {text[window.start : window.start + 60]!r}")
        spans += _read_spans(window, answer[ENTITIES], prompts)
        pairs += _read_pairs(window, answer.get("relation_extraction", {}), prompts)
    mentions = tuple(
        Mention(text[found.start : found.end], found.label, found.start, found.end, score=found.score)
        for found in _choose(text, spans)
    )
    return Extraction(mentions, tuple(_relate(text, pairs, mentions)))


def _read_spans(window: Window, entities: Mapping[str, Any], prompts: Prompts) -> Iterator[Found]:
    for word, spans in entities.items():
        for span in spans:
            if found := _place(window, prompts.labels[word], span):
                yield found


def _read_pairs(window: Window, relations: Mapping[str, Any], prompts: Prompts) -> Iterator[Pair]:
    for key, related in relations.items():
        label = prompts.relation_of(key)
        if label is None:
            raise ModelOutputInvalid(f"GLiNER gave relations of the type {key!r}, which was not asked for")
        for pair in related:
            head, tail = _place(window, "", pair["head"]), _place(window, "", pair["tail"])
            if head and tail:
                yield Pair(label, head, tail)


def _place(window: Window, label: str, span: Mapping[str, Any]) -> Found | None:
    """Move a window's span into the passage; None where it may be half a name, or where nothing is left of it."""
    # The model puts a full stop after a text that has none, and may take that for part of a name.
    start, end = window.start + span["start"], min(window.start + span["end"], window.end)
    if start >= end or not window.sees_whole(start, end):
        return None
    return Found(label, start, end, round(span["confidence"], SCORE_DIGITS))


def _choose(text: str, spans: Sequence[Found]) -> list[Found]:
    """Choose spans that do not overlap, in the order of the text."""
    taken = bytearray(len(text))
    chosen: list[Found] = []
    for found in sorted(spans, key=lambda found: (-found.score, found.start - found.end, found.start)):
        if not any(taken[found.start : found.end]):
            taken[found.start : found.end] = b"\x01" * (found.end - found.start)
            chosen.append(found)
    return sorted(chosen, key=lambda found: found.start)


def _relate(text: str, pairs: Sequence[Pair], mentions: Sequence[Mention]) -> Iterator[Relation]:
    """Make relations of pairs, the surest first, each said once."""
    said: set[tuple[str, str, str, str, str]] = set()
    for pair in sorted(pairs, key=lambda pair: (-min(pair.head.score, pair.tail.score), pair.head.start)):
        source, target = (_meet(text, end, mentions) for end in (pair.head, pair.tail))
        key = (pair.label, normalise_name(source.name), source.type, normalise_name(target.name), target.type)
        if key in said:
            continue
        said.add(key)
        yield Relation(
            source=source.name,
            source_type=source.type,
            target=target.name,
            target_type=target.type,
            type=pair.label,
            description="",
            start=min(source.start, target.start),
            end=max(source.end, target.end),
        )


def _meet(text: str, end: Found, mentions: Sequence[Mention]) -> Mention:
    """Give the mention that a relation's end means: the one that it overlaps most, or one of that name."""
    name = text[end.start : end.end]
    shared = [(min(m.end, end.end) - max(m.start, end.start), m) for m in mentions]
    overlap, nearest = max(shared, key=lambda pair: pair[0], default=(0, None))
    if nearest is not None and overlap > 0:
        return nearest
    same = (m for m in mentions if normalise_name(m.name) == normalise_name(name))
    return next(same, Mention(name, "", end.start, end.end))
