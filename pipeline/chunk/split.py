"""Splitting text into ever smaller pieces: blocks, sentences, lines, words, tokens.

Each function gives half open spans that cover its stretch without gaps, white space included, and
takes time linear in its length.
"""

import re
from collections.abc import Iterator, Sequence

from sentencex import segment

from pipeline.chunk.tokens import TOKEN, fits

Span = tuple[int, int]

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
# sentencex takes any white space for one byte and panics in the middle of a longer one.
_WIDE_SPACE = re.compile(r"[^\S\n\t ]")
# What the segmenter gets at once: its time grows faster than its input (ideographs, open quotes).
_MAX_SEGMENTED = 4_000
# Where a longer paragraph is cut for it: the best mark that the second half of a piece has.
_CUTS = ("\n", ". ", "。", " ")

# Parts of a line that is too long are a quarter of a passage, so that passages become nearly full.
_WORD_PARTS = 4


def split_blocks(text: str, heading_starts: Sequence[int]) -> Iterator[Span]:
    """Split at blank lines and before headings."""
    gaps = (match.end() for match in _BLANK_LINES.finditer(text))
    start = 0
    for cut in sorted({*gaps, *heading_starts, len(text)}):
        if cut > start:
            yield start, cut
            start = cut


def split_sentences(text: str, span: Span, language: str) -> Iterator[Span]:
    """Split into sentences; white space after a sentence belongs to it."""
    for start, end in _bound(text, span):
        position = start
        for length in _measure_sentences(text[start:end], language):
            yield position, position + length
            position += length


def split_to_fit(text: str, span: Span, max_tokens: int) -> Iterator[Span]:
    """Split a stretch that is too long: at line ends, then at white space, then anywhere."""
    start, end = span
    if fits(text[start:end], max_tokens):
        yield span
        return
    while start < end:
        line = start, text.find("\n", start, end) + 1 or end
        if line != span and fits(text[slice(*line)], max_tokens):
            yield line
        else:
            yield from _split_words(text, line, max_tokens // _WORD_PARTS)
        start = line[1]


def _bound(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    while end - start > _MAX_SEGMENTED:
        middle, limit = start + _MAX_SEGMENTED // 2, start + _MAX_SEGMENTED
        found = (text.rfind(mark, middle, limit) + len(mark) for mark in _CUTS)
        cut = next((cut for cut in found if cut > middle), limit)
        yield start, cut
        start = cut
    yield start, end


def _measure_sentences(piece: str, language: str) -> list[int]:
    """Give the lengths of the sentences of a piece."""
    try:
        lengths = [len(sentence) for sentence in segment(language, _WIDE_SPACE.sub(" ", piece))]
    except BaseException as error:
        # A Rust panic is no Exception. One sentence too long is better than a document lost.
        if type(error).__name__ != "PanicException":
            raise
        return [len(piece)]
    return lengths if sum(lengths) == len(piece) else [len(piece)]


def _split_words(text: str, span: Span, max_tokens: int) -> Iterator[Span]:
    start, end = span
    count = 0
    word, count_at_word = start, 0
    for match in TOKEN.finditer(text, start, end):
        if match.group()[0].isspace():
            word, count_at_word = match.start(), count
        if count == max_tokens:
            if word > start:
                cut, count = word, count - count_at_word
            else:
                cut, count = match.start(), 0
            yield start, cut
            start = word = cut
            count_at_word = 0
        count += 1
    if start < end:
        yield start, end
