"""What a language model is asked for an answer, whether it is asked at all, and what its answer says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.cite import cited_numbers
from pipeline.llm.rewriting import Turn, tell_asked
from pipeline.llm.templates import MAX_OUTPUT_TOKENS, fill, read_text
from pipeline.ports import ChatAnswer, ChatRequest

LEAST_SCORE, LEAST_PASSAGES = 0.35, 2
"""So many passages must be so similar to the question, or nobody is asked."""
SURE_SCORE = 0.5
"""One passage is enough where it is so similar: small graphs hold no second one."""
ABSTENTION = "I don't have enough information in the knowledge base to answer that."
MOST_ANSWER_CHARS = 8_000
_MOST_FAULTS = 20
_MOST_FAULT_CHARS = 300

# The token only where it is spelled as the prompt has it: an answer may say in plain words what its context lacks.
_LACKING = re.compile(r"\bINSUFFICIENT_CONTEXT\b")
_ONLY_LACKING = re.compile(r"[\W_]*insufficient[_\s-]?context[\W_]*", re.IGNORECASE)
_FENCED = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)
_SOURCE = re.compile(r"[ \t]*\[Source:[^\]\n]*\]")
_PREAMBLE = re.compile(
    r"\A(?:(?:final )?answer:|(?:based on|according to) the (?:provided |given )?(?:context|evidence),)\s*",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?。！？](?:\s*\[[\d,;\s–-]+\])*[\"')\]]*(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model answered, ready to be checked; empty where it said nothing that could be used."""

    text: str
    lacks: bool = False
    """The model says that the evidence does not answer the question."""


def is_enough(evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether evidence, as retrieved, may answer its question: rows of a query, or passages close to it."""
    if any(item["kind"] == "row" for item in evidence):
        return True
    scores = [item["score"] for item in evidence if item["kind"] == "passage"]
    return max(scores, default=0.0) >= SURE_SCORE or sum(score >= LEAST_SCORE for score in scores) >= LEAST_PASSAGES


def ask_answer(question: str, turns: Sequence[Turn], context: str) -> ChatRequest:
    """Ask for an answer from evidence, `context`, that shows its numbers."""
    return ChatRequest(fill("answer-v1"), _tell(question, turns, context), {}, MAX_OUTPUT_TOKENS)


def ask_again(
    question: str, turns: Sequence[Turn], context: str, draft: Draft, check: Mapping[str, Any]
) -> ChatRequest:
    """Ask for the answer once more, telling what is wrong with the first one; `check` as in `CitationCheck`."""
    faults = "\n".join(f"- {fault}"[:_MOST_FAULT_CHARS] for fault in _faults(draft, check)[:_MOST_FAULTS])
    repair = fill("repair-v1", draft=draft.text or "(nothing)", faults=faults)
    return ChatRequest(fill("answer-v1"), f"{_tell(question, turns, context)}\n{repair}", {}, MAX_OUTPUT_TOKENS)


def read_draft(answer: ChatAnswer) -> Draft:
    """Read an answer: without introduction and copied tags, whole sentences only, cut at `MOST_ANSWER_CHARS`."""
    if answer.finish == "refused":
        return Draft("")
    said = read_text(answer.text)
    cut = answer.finish == "length" or len(said) > MOST_ANSWER_CHARS
    text = _PREAMBLE.sub("", _SOURCE.sub("", _FENCED.sub(r"\1", said[:MOST_ANSWER_CHARS]))).strip()
    if _ONLY_LACKING.fullmatch(text) or (_LACKING.search(text) and not cited_numbers(text)):
        return Draft("", lacks=True)
    text = _LACKING.sub("", text)
    return Draft(_end_of_last_sentence(text) if cut else text.strip())


def _tell(question: str, turns: Sequence[Turn], context: str) -> str:
    return f"{fill('context-v1', context=context)}\n{tell_asked(question, turns)}"


def _faults(draft: Draft, check: Mapping[str, Any]) -> list[str]:
    if not draft.text:
        return ["There is no answer."]
    faults = [f"[{number}] is the number of no evidence." for number in check["invalid"]]
    if not check["cited"]:
        faults.append("No statement has the number of its evidence.")
    return [
        *faults,
        *(f"Its evidence does not hold {', '.join(one['missing'])}: {one['sentence']}" for one in check["unsupported"]),
        *(f"Has no number of evidence: {sentence}" for sentence in check["uncited"]),
    ]


def _end_of_last_sentence(text: str) -> str:
    """Drop what was begun and not ended; all of it stays where no sentence ends."""
    ends = [found.end() for found in _END.finditer(text)]
    return text[: ends[-1]] if ends else text.strip()
