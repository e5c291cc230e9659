"""The citation check: which numbers are real, and which claims lack support."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.cite.claims import Claims, EvidenceIndex, read_claims
from pipeline.cite.clauses import claiming_parts
from pipeline.cite.markers import mask_code, numbers_in, strip_invalid
from pipeline.cite.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A cited sentence and the figures and names, as written, that its evidence does not hold."""

    sentence: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The verdict on a draft.

    Attributes:
        grounded: The draft cites evidence, and only evidence that exists.
        answer: The draft without the numbers that point at nothing.
        cited: The valid numbers, sorted.
        invalid: The numbers that point at nothing, sorted; of a range wider than `MAX_RANGE`, its ends.
        uncited: Sentences of the answer that state a figure or name and carry no valid number. A warning.
        unsupported: Cited sentences whose evidence lacks a figure or name of theirs. A warning.
    """

    grounded: bool
    answer: str
    cited: tuple[int, ...]
    invalid: tuple[int, ...]
    uncited: tuple[str, ...]
    unsupported: tuple[Unsupported, ...]


def check_citations(draft: str, evidence: Mapping[int, str]) -> CitationCheck:
    """Check a draft against evidence by number; the text is the full one, without its source's path.

    Literal rules: a figure must stand as a number in the cited evidence (2.80 is 2.8, "two" is not 2); of a
    name, every word of three letters or more must stand there as a whole word, whatever its case.
    What says that the evidence lacks something is exempt, and nothing else in its sentence. Warnings never
    change `grounded`.
    """
    marked = strip_invalid(draft, evidence.keys())
    index = EvidenceIndex({number: evidence[number] for number in marked.cited})
    masked = mask_code(marked.answer)
    uncited: list[str] = []
    unsupported: list[Unsupported] = []
    for start, end in split_sentences(masked):
        claims = _claims_of(masked[start:end])
        if not claims.need_citation:
            continue
        sentence = " ".join(marked.answer[start:end].split())
        numbers = numbers_in(masked[start:end])
        if not numbers:
            uncited.append(sentence)
        elif missing := index.missing(claims, numbers):
            unsupported.append(Unsupported(sentence, missing))
    return CitationCheck(
        grounded=bool(marked.cited) and not marked.invalid,
        answer=marked.answer,
        cited=tuple(sorted(marked.cited)),
        invalid=tuple(sorted(marked.invalid)),
        uncited=tuple(uncited),
        unsupported=tuple(unsupported),
    )


def _claims_of(sentence: str) -> Claims:
    parts = claiming_parts(sentence)
    if parts is None:
        return read_claims(sentence)
    return read_claims(" | ".join(parts), opens_sentence=bool(parts) and sentence.startswith(parts[0]))
