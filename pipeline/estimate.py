"""What reading passages will come to, before anybody is asked: calls, tokens, money, time."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.chunk import estimate_tokens
from pipeline.config import CallConfig, RecipeConfig
from pipeline.llm.questions import Questions, Step
from pipeline.models import Usage
from pipeline.ports import ChatRequest

ANSWER_SHARE, ANSWER_TOKENS = 0.6, 100
"""Assumed length of an answer: this share of the passage's tokens, and so many more."""
CALL_SECONDS = 3.0
"""Assumed time of one call."""
WORDS_PER_SECOND = {"spacy-rules": 1_500.0, "gliner": 300.0, "hybrid": 300.0}
"""Words that one process with a local extractor ingests in a second (`bench/README.md`)."""

PriceOf = Callable[[int, int], float | None]
"""Gives the US dollars of so many tokens in and out; None where the model's price is not known."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a language model is asked about each passage; all lengths are in tokens."""

    prompts: tuple[int, ...]
    """Lengths of what stands around the passage, call by call."""
    told: int
    """How many of the calls are told what was found before."""
    max_output_tokens: int

    def usage_of(self, text: str) -> Usage:
        """Estimate what one passage takes; its price is left at 0."""
        calls, length = len(self.prompts), estimate_tokens(text)
        answer = min(self.max_output_tokens, round(ANSWER_SHARE * length) + ANSWER_TOKENS)
        # What was found before is about as long as an answer.
        return Usage(calls, sum(self.prompts) + calls * length + self.told * answer, calls * answer)


@dataclass(slots=True)
class TypeCount:
    """Files of one kind."""

    files: int = 0
    bytes: int = 0
    unread: int = 0
    passages: int = 0


@dataclass(slots=True)
class Survey:
    """What a corpus holds. Passages are asked for once each: not those repeated in it, nor those read before."""

    types: dict[str, TypeCount] = field(default_factory=dict)
    """By ending of the name, in lower case."""
    unread: Counter[str] = field(default_factory=Counter)
    """Files without text for a graph, by code."""
    passages: int = 0
    repeated: int = 0
    stored: int = 0
    words: int = 0
    """Of the passages that are to be read."""
    usage: Usage = field(default_factory=Usage)
    """Of a language model that is asked about all of these."""

    @property
    def files(self) -> int:
        """All files."""
        return sum(one.files for one in self.types.values())

    @property
    def bytes(self) -> int:
        """Their size."""
        return sum(one.bytes for one in self.types.values())

    @property
    def to_read(self) -> int:
        """Passages that are to be read."""
        return self.passages - self.repeated - self.stored


@dataclass(frozen=True, slots=True)
class Estimate:
    """A survey, and what it means for an extractor.

    `usage.usd` is None where the price is not known, `seconds` where the speed is not; of an extractor of the user's
    own neither is. An upper bound is one where only reading shows how much of it comes about.
    """

    extractor: str
    model: str
    survey: Survey
    usage: Usage
    seconds: float | None
    in_flight: int
    upper_bound: bool

    def exceeds(self, max_usd: float | None, max_tokens: int | None) -> list[str]:
        """Name the limits that it is over; a price that is not known is over none."""
        over = []
        if max_usd is not None and self.usage.usd is not None and self.usage.usd > max_usd:
            over.append("usd")
        if max_tokens is not None and self.usage.tokens_in + self.usage.tokens_out > max_tokens:
            over.append("tokens")
        return over


def asking_of(config: RecipeConfig) -> Asking | None:
    """Tell how a recipe asks a language model, as its prompts are now; None where it asks none."""
    if not config.asks_model:
        return None
    questions = Questions(config.ontology, config.llm.max_output_tokens)
    two = (Step.FIND, Step.RELATE)
    # In hybrid, GLiNER's find is what one call checks and relates.
    one = (Step.RELATE,) if config.extractor == "hybrid" else (Step.EXTRACT,)
    steps = two if config.llm.steps == len(two) else one
    return Asking(
        tuple(_length(questions.about(step, "")) for step in steps),
        steps.count(Step.RELATE),
        config.llm.max_output_tokens,
    )


def estimate(survey: Survey, config: RecipeConfig, calls: CallConfig, price_of: PriceOf, *, processes: int) -> Estimate:
    """Estimate what a survey's passages take; `processes` run a local extractor side by side."""
    known = config.asks_model or config.extractor in WORDS_PER_SECOND
    usage = survey.usage if config.asks_model else Usage(usd=0.0 if known or not survey.to_read else None)
    if usage.calls:
        usage += Usage(usd=price_of(usage.tokens_in, usage.tokens_out))
    return Estimate(
        extractor=config.extractor,
        model=config.llm.model if config.asks_model else "",
        survey=survey,
        usage=usage,
        seconds=_seconds(survey, usage, config, calls, processes),
        in_flight=calls.in_flight,
        upper_bound=config.extractor == "hybrid" and usage.calls > 0,
    )


def _length(request: ChatRequest) -> int:
    """Estimate the tokens of a question, with the schema of its answer."""
    return sum(estimate_tokens(text) for text in (request.system, request.user, json.dumps(request.schema)))


def _seconds(survey: Survey, usage: Usage, config: RecipeConfig, calls: CallConfig, processes: int) -> float | None:
    """Estimate the time of reading: that of the calls, or of the words, or both one after the other."""
    speed = WORDS_PER_SECOND.get(config.extractor)
    if speed is None and not config.asks_model and survey.words:
        return None
    local = survey.words / (speed * processes) if speed else 0.0
    limits = [usage.calls * CALL_SECONDS / calls.in_flight]
    if calls.requests_per_minute:
        limits.append(60 * usage.calls / calls.requests_per_minute)
    if calls.tokens_per_minute:
        limits.append(60 * (usage.tokens_in + usage.tokens_out) / calls.tokens_per_minute)
    return local + max(limits)
