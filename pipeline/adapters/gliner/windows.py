"""Cuts passages that are longer than a model reads at once into windows that overlap, so that nothing is cut off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ENDS = frozenset(".!?。！？")
OVERLAP = 6
"""Windows share one word in so many with the next one ..."""
NAME_WORDS = 8
"""... and no fewer than a long name has, where they are long enough."""
PIECE_TOKENS = 4
"""Most tokens that one character becomes: its bytes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the model splits text: half open offsets, and how many tokens it becomes."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a passage, half open; whether the passage goes on before and after it."""

    start: int
    end: int
    is_cut_before: bool
    is_cut_after: bool

    def sees_whole(self, start: int, end: int) -> bool:
        """Tell whether a span (offsets into the passage) is away from the cuts: at one, half a name may show."""
        return not (self.is_cut_before and start <= self.start) and not (self.is_cut_after and end >= self.end)


def cut_windows(text: str, words: Sequence[Word], max_words: int, max_tokens: int) -> Iterator[Window]:
    """Cover all words by windows within both limits, cut at an end of a sentence near the limit if there is one.

    Each word must be within `max_tokens`.
    """
    first = 0
    while first < len(words):
        stop = _fill(words, first, max_words, max_tokens)
        if stop < len(words):
            stop = _sentence_end(text, words, first, stop)
        is_last = stop == len(words)
        yield Window(words[first].start, words[stop - 1].end, first > 0, not is_last)
        if is_last:
            return
        size = stop - first
        first = stop - max(size // OVERLAP, min(NAME_WORDS, size // 2))


def pieces(start: int, end: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Cut a word that is too long for any window, as encoded data is, into pieces that surely fit."""
    length = max(1, max_tokens // PIECE_TOKENS)
    for piece in range(start, end, length):
        yield piece, min(piece + length, end)


def _fill(words: Sequence[Word], first: int, max_words: int, max_tokens: int) -> int:
    """Give the position after the last word that fits into a window; it holds one at least."""
    tokens, stop = words[first].tokens, first + 1
    while stop < len(words) and stop - first < max_words and tokens + words[stop].tokens <= max_tokens:
        tokens += words[stop].tokens
        stop += 1
    return stop


def _sentence_end(text: str, words: Sequence[Word], first: int, stop: int) -> int:
    """Give the last position in the window's last quarter where a sentence or line ends, else `stop`."""
    for last in range(stop - 1, first + 3 * (stop - first) // 4, -1):
        word, following = words[last], words[last + 1]
        if text[word.end - 1] in _ENDS or "\n" in text[word.end : following.start]:
            return last + 1
    return stop
