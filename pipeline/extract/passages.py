"""Reading passages with whichever kind of extractor there is, each answer grounded as it comes."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress

from pipeline.errors import ModelOutputInvalid, PipelineError
from pipeline.extract.ground import ground
from pipeline.models import Extraction
from pipeline.ontology import Ontology
from pipeline.ports import CallingExtractor, Extractor

SLICE = 16
"""Passages given at once to an extractor that answers for all of them together."""


class StopAsking(Exception):
    """Thrown into the generator of a `CallingExtractor`: it begins no further call, gives what is under way, and ends.

    Closing it would lose those answers. One that knows nothing of this ends at once, as if it were closed.
    """


def _never() -> bool:
    return False


def extract(texts: Sequence[str], extractor: Extractor, ontology: Ontology) -> list[Extraction]:
    """Extract passages and ground what comes back; the result runs parallel to `texts`.

    Raises `ModelOutputInvalid` where the extractor does not answer each text, and its own errors.
    """
    found = extractor.extract(texts, ontology)
    if len(found) != len(texts):
        raise ModelOutputInvalid(f"the extractor gave {len(found)} results for {len(texts)} passages")
    return [ground(text, extraction, ontology) for text, extraction in zip(texts, found, strict=True)]


def extract_each(
    texts: Sequence[str],
    extractor: Extractor | CallingExtractor,
    ontology: Ontology,
    is_over: Callable[[], bool] = _never,
) -> Generator[tuple[int, Extraction | PipelineError]]:
    """Extract passages; yields each one's position with what it says, grounded, or why that cannot be told.

    Errors stand for single passages where the extractor calls a service; otherwise they are raised. Closing the
    iterator closes the extractor's. Once `is_over`, asked after each result, nothing more is begun, and what is
    under way is given. Raises `ModelOutputInvalid` where the extractor does not answer each text.
    """
    if isinstance(extractor, CallingExtractor):
        yield from _ask_each(texts, extractor, ontology, is_over)
        return
    for start in range(0, len(texts), SLICE):
        yield from enumerate(extract(texts[start : start + SLICE], extractor, ontology), start)
        if is_over():
            return


def _ask_each(
    texts: Sequence[str], extractor: CallingExtractor, ontology: Ontology, is_over: Callable[[], bool]
) -> Iterator[tuple[int, Extraction | PipelineError]]:
    unanswered = set(range(len(texts)))
    answers = stoppable(extractor.extract_each(texts, ontology))
    stopped = False
    try:
        item = next(answers, None)
        while item is not None:
            position, answer = item
            if position not in unanswered:
                raise ModelOutputInvalid(f"the extractor answered for passage {position} of {len(texts)} out of turn")
            unanswered.discard(position)
            yield position, ground(texts[position], answer, ontology) if isinstance(answer, Extraction) else answer
            if stopped or not is_over():
                item = next(answers, None)
            else:
                stopped, item = True, stop(answers)
    finally:
        # Also where the consumer has stopped: calls under way are waited for, not left behind.
        answers.close()
    if unanswered and not stopped:
        raise ModelOutputInvalid(f"the extractor gave no result for {len(unanswered)} of {len(texts)} passages")


def stoppable[T](answers: Iterator[T]) -> Generator[T]:
    """Make a generator of what may be none; what is thrown into it, and its end, reach what it is made of."""
    yield from answers


def stop[T](answers: Generator[T]) -> T | None:
    """Throw `StopAsking` into a generator; gives its next answer, None where there is none."""
    with suppress(StopAsking, StopIteration):
        return answers.throw(StopAsking())
    return None
