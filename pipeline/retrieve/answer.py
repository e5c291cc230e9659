"""An answer without a language model: the sentences of the evidence that fit the question best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.chunk.split import split_blocks, split_sentences
from pipeline.embed import embed_distinct
from pipeline.models import Evidence
from pipeline.ports import Embedder
from pipeline.retrieve.question import Question, read_question, split_words

_SENTENCES = 2
_PASSAGES = 5
_CANDIDATES = 40
"""Sentences that are embedded, those with the most of the question's words: a third of a second on one thread."""
_FEWEST_WORDS = 4
"""A shorter one is a heading or a scrap."""
_LONGEST_CHARS = 600
_LEAST_FIT = 0.5
"""Similarity plus the share of the question's words; below it the evidence has no answer to show."""
_NEXT_TO_BEST = 0.8
"""A second sentence must fit nearly as well as the first."""
_RANK_BONUS = 0.1
_WEIGHT_OF_ASKED = 2
"""Of a word that is no name, beside one that is."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    index: int
    rank: int
    words: frozenset[str]
    passage_words: frozenset[str]


def extract_answer(question: str, evidence: Sequence[Evidence], embedder: Embedder) -> list[tuple[str, int]]:
    """Pick up to two sentences of the first passages: (sentence, position of its evidence), the best first.

    A sentence is rated by its similarity to the question, the share of the question's words it holds, and
    its passage's rank. Names tell what a question is about, the other words what it asks, so those count twice. Names
    may stand elsewhere in its passage, since later sentences say "it" and "she".
    Empty where nothing fits. Raises `QueryInvalid` as `retrieve` does.
    """
    asked = read_question(question)
    candidates = sorted(_candidates(evidence), key=lambda candidate: -_share(asked, candidate))[:_CANDIDATES]
    if not candidates:
        return []
    vectors = embed_distinct(embedder, [asked.text, *(_with_names(asked, candidate) for candidate in candidates)])
    similarities = vectors[1:] @ vectors[0]
    fits = [
        float(similarity) + _share(asked, candidate) + _RANK_BONUS / (1 + candidate.rank)
        for similarity, candidate in zip(similarities, candidates, strict=True)
    ]
    order = sorted(range(len(candidates)), key=lambda i: (-fits[i], i))
    picked = order[:1] if fits[order[0]] >= _LEAST_FIT else []
    for i in order[1:]:
        if picked and len(picked) < _SENTENCES and fits[i] >= _NEXT_TO_BEST * fits[order[0]]:
            picked.append(i)
    return [(candidates[i].text, candidates[i].index) for i in picked]


def _candidates(evidence: Sequence[Evidence]) -> Iterator[_Candidate]:
    """Cut the first passages into sentences, each once."""
    passages = [(index, item) for index, item in enumerate(evidence) if item.kind == "passage"][:_PASSAGES]
    seen: set[str] = set()
    for rank, (index, item) in enumerate(passages):
        passage_words = frozenset(split_words(item.text))
        for block in split_blocks(item.text, ()):
            for start, end in split_sentences(item.text, block, "en"):
                text = " ".join(item.text[start:end].split())
                words = split_words(text)
                is_question = text.endswith("?")
                if text not in seen and len(words) >= _FEWEST_WORDS and len(text) <= _LONGEST_CHARS and not is_question:
                    seen.add(text)
                    yield _Candidate(text, index, rank, frozenset(words), passage_words)


def _with_names(asked: Question, candidate: _Candidate) -> str:
    """Put the question's names before a sentence that has none of them, where its passage has them all."""
    is_told = asked.names <= candidate.passage_words and asked.names.isdisjoint(candidate.words)
    names = " ".join(word for word in asked.words if word in asked.names)
    return f"{names}: {candidate.text}" if names and is_told else candidate.text


def _share(asked: Question, candidate: _Candidate) -> float:
    """Give the share of the question's words that a sentence holds; names count where its passage holds them."""
    held = candidate.words | (candidate.passage_words & asked.names)
    weights = {word: 1 if word in asked.names else _WEIGHT_OF_ASKED for word in asked.words}
    return sum(weight for word, weight in weights.items() if word in held) / sum(weights.values())
