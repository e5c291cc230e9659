"""Packing blocks and sentences into passages of bounded size."""

from collections.abc import Iterator, Mapping

from pipeline.chunk.split import Span, split_blocks, split_sentences, split_to_fit
from pipeline.chunk.tokens import estimate_tokens, may_fit
from pipeline.config import ChunkConfig

# A passage under a quarter of the limit is too small to stand alone where it may go on.
_TINY_SHARE = 4


def pack(text: str, heading_levels: Mapping[int, int], config: ChunkConfig) -> Iterator[Span]:
    """Give the spans of the passages, in order, white space around them included.

    A passage ends where the next paragraph does not fit, and before a heading, unless it is tiny;
    before a heading of the document's highest level always.

    Args:
        text: The whole document.
        heading_levels: The headings' levels by the start of their lines.
        config: Size, overlap and language.
    """
    packer = _Packer(text, config)
    top = min(heading_levels.values(), default=0)
    for block in split_blocks(text, list(heading_levels)):
        level = heading_levels.get(block[0])
        if level is not None and (level == top or not packer.is_tiny):
            yield from packer.end_section()
        yield from packer.add_block(block)
    yield from packer.end_section()


class _Packer:
    """The passage that is being filled: its units, and how many of them repeat the last one."""

    def __init__(self, text: str, config: ChunkConfig) -> None:
        self._text = text
        self._config = config
        self._units: list[tuple[Span, int]] = []
        self._repeated = 0
        self._tokens = 0

    @property
    def is_tiny(self) -> bool:
        """Whether the passage is too small to end here."""
        return self._tokens < self._config.max_tokens // _TINY_SHARE

    def end_section(self) -> Iterator[Span]:
        """End the passage, repeating nothing of it in the next."""
        yield from self._end_passage()
        self._keep(0)

    def add_block(self, block: Span) -> Iterator[Span]:
        """Add a paragraph, whole if possible."""
        paragraph = self._text[slice(*block)]
        limit = self._config.max_tokens
        tokens = estimate_tokens(paragraph) if may_fit(paragraph, limit) else limit + 1
        if tokens <= limit:
            if self._tokens + tokens > limit and not self.is_tiny:
                yield from self._end_passage()
            if self._tokens + tokens <= limit and not self._config.overlap_sentences:
                self._append(block, tokens)
                return
        for sentence in split_sentences(self._text, block, self._config.language):
            for unit in split_to_fit(self._text, sentence, limit):
                yield from self._add_unit(unit)

    def _add_unit(self, unit: Span) -> Iterator[Span]:
        tokens = estimate_tokens(self._text[slice(*unit)])
        limit = self._config.max_tokens
        if self._tokens + tokens > limit:
            yield from self._end_passage()
        while self._repeated and self._tokens + tokens > limit:
            self._keep(self._repeated - 1)
        self._append(unit, tokens)

    def _append(self, unit: Span, tokens: int) -> None:
        self._units.append((unit, tokens))
        self._tokens += tokens

    def _end_passage(self) -> Iterator[Span]:
        if len(self._units) > self._repeated:
            yield self._units[0][0][0], self._units[-1][0][1]
            self._keep(self._config.overlap_sentences)

    def _keep(self, count: int) -> None:
        """Begin the next passage with the last `count` units of this one."""
        self._units = self._units[-count:] if count else []
        self._repeated = len(self._units)
        self._tokens = sum(tokens for _, tokens in self._units)
