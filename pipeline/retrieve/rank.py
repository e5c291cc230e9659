"""Ranking without models: passages by their words, and several rankings as one."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.models import WordMatches
from pipeline.retrieve.question import split_words

_RANK_OFFSET = 60
"""Reciprocal rank fusion's constant, from its authors (Cormack et al. 2009)."""
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""BM25's k1 and b, the usual ones (Robertson and Zaragoza 2009)."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One search's ids, best first, and how much it counts beside the others.

    `path` is empty for one that finds nothing of its own; `way` tells searches of a path apart.
    """

    path: str
    weight: float
    ids: Sequence[str]
    way: str = ""


def fuse(rankings: Iterable[Ranking]) -> list[tuple[str, tuple[str, ...]]]:
    """Fuse rankings by weighted reciprocal ranks: ids, best first, each with the paths that found it; ties by id."""
    scores: defaultdict[str, float] = defaultdict(float)
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for ranking in rankings:
        path = str(ranking.path)
        for rank, identity in enumerate(ranking.ids, start=1):
            scores[identity] += ranking.weight / (_RANK_OFFSET + rank)
            if path not in ("", *paths[identity]):
                paths[identity].append(path)
    return [(identity, tuple(paths[identity])) for identity in sorted(scores, key=lambda i: (-scores[i], i))]


def rank_matches(matches: WordMatches) -> list[str]:
    """Rank passages that hold words by BM25; ties by id. An inflected word counts once."""
    counts = {match.id: Counter(split_words(match.text)) for match in matches.found}
    lengths = {identity: counted.total() for identity, counted in counts.items()}
    mean = sum(lengths.values()) / len(lengths) if lengths else 1.0
    scores = {}
    for match in matches.found:
        counted = counts[match.id]
        long = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[match.id] / (mean or 1.0))
        scores[match.id] = sum(
            _rarity(matches.frequencies[word], matches.total) * frequency * (_SATURATION + 1) / (frequency + long)
            for word, frequency in ((word, max(1, counted[word])) for word in match.words)
        )
    return sorted(scores, key=lambda identity: (-scores[identity], identity))


def _rarity(frequency: int, total: int) -> float:
    return math.log(1 + max(0.0, total - frequency + 0.5) / (frequency + 0.5))
