"""Reading passages with whichever kind of extractor there is, each answer grounded as it comes."""

from collections.abc import Generator, Iterator, Sequence

from pipeline.errors import ModelOutputInvalid, PipelineError
from pipeline.extract.ground import ground
from pipeline.models import Extraction
from pipeline.ontology import Ontology
from pipeline.ports import CallingExtractor, Extractor

SLICE = 16
"""Passages given at once to an extractor that answers for all of them together."""


def extract(texts: Sequence[str], extractor: Extractor, ontology: Ontology) -> list[Extraction]:
    """Extract passages and ground what comes back; the result runs parallel to `texts`.

    Raises `ModelOutputInvalid` where the extractor does not answer each text, and its own errors.
    """
    found = extractor.extract(texts, ontology)
    if len(found) != len(texts):
        raise ModelOutputInvalid(f"the extractor gave {len(found)} results for {len(texts)} passages")
    return [ground(text, extraction, ontology) for text, extraction in zip(texts, found, strict=True)]


def extract_each(
    texts: Sequence[str], extractor: Extractor | CallingExtractor, ontology: Ontology
) -> Generator[tuple[int, Extraction | PipelineError]]:
    """Extract passages; yields each one's position with what it says, grounded, or why that cannot be told.

    Errors stand for single passages where the extractor calls a service; otherwise they are raised. Closing the
    iterator closes the extractor's. Raises `ModelOutputInvalid` where the extractor does not answer each text.
    """
    if isinstance(extractor, CallingExtractor):
        yield from _ask_each(texts, extractor, ontology)
        return
    for start in range(0, len(texts), SLICE):
        yield from enumerate(extract(texts[start : start + SLICE], extractor, ontology), start)


def _ask_each(
    texts: Sequence[str], extractor: CallingExtractor, ontology: Ontology
) -> Iterator[tuple[int, Extraction | PipelineError]]:
    unanswered = set(range(len(texts)))
    answers = extractor.extract_each(texts, ontology)
    try:
        for position, answer in answers:
            if position not in unanswered:
                raise ModelOutputInvalid(f"the extractor answered for passage {position} of {len(texts)} out of turn")
            unanswered.discard(position)
            yield position, ground(texts[position], answer, ontology) if isinstance(answer, Extraction) else answer
    finally:
        # Also where the consumer has stopped: calls under way are waited for, not left behind.
        if isinstance(answers, Generator):
            answers.close()
    if unanswered:
        raise ModelOutputInvalid(f"the extractor gave no result for {len(unanswered)} of {len(texts)} passages")
