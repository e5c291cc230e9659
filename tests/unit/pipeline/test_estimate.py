"""What an ingest is expected to take before anybody is asked."""

import pytest

from pipeline.chunk import estimate_tokens
from pipeline.config import CallConfig, ChunkConfig, LlmConfig, LoadConfig, RecipeConfig
from pipeline.estimate import (
    ANSWER_TOKENS,
    CALL_SECONDS,
    WORDS_PER_SECOND,
    Asking,
    Estimate,
    Survey,
    TypeCount,
    asking_of,
    estimate,
)
from pipeline.models import Usage
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology

EIGHT_AT_ONCE = CallConfig(in_flight=8)
ONE_TYPE = Ontology(entity_types=(EntityType(label="Person"),))


def recipe(extractor: str, ontology: Ontology = DEFAULT_ONTOLOGY, **llm) -> RecipeConfig:
    model = LlmConfig(model="openai/some", **llm)
    return RecipeConfig(extractor=extractor, ontology=ontology, load=LoadConfig(), chunk=ChunkConfig(), llm=model)


def surveyed(calls: int, tokens_in: int = 0, tokens_out: int = 0, words: int = 0) -> Survey:
    return Survey(
        {".txt": TypeCount(files=1, bytes=10, passages=max(calls, 1))},
        passages=max(calls, 1),
        words=words,
        usage=Usage(calls, tokens_in, tokens_out),
    )


def expect(survey: Survey, config: RecipeConfig, calls: CallConfig = EIGHT_AT_ONCE, price=1e-6) -> Estimate:
    return estimate(survey, config, calls, lambda i, o: None if price is None else (i + 2 * o) * price, processes=2)


def test_a_passage_is_asked_for_with_its_text_and_all_that_stands_around_it():
    text = "Ada Lovelace wrote the first program. " * 10
    usage = Asking(prompts=(500,), told=0, max_output_tokens=4_000).usage_of(text)
    assert usage.calls == 1
    assert usage.tokens_in == 500 + estimate_tokens(text)
    assert ANSWER_TOKENS < usage.tokens_out < estimate_tokens(text) + ANSWER_TOKENS


def test_an_answer_is_never_expected_longer_than_it_may_be():
    assert Asking((0,), 0, max_output_tokens=64).usage_of("word " * 1_000).tokens_out == 64


def test_two_steps_are_two_calls_and_the_second_is_told_what_the_first_one_found():
    one = Asking((500,), 0, 4_000).usage_of("Ada met Charles.")
    two = Asking((500, 500), 1, 4_000).usage_of("Ada met Charles.")
    assert (two.calls, two.tokens_out) == (2, 2 * one.tokens_out)
    assert two.tokens_in == 2 * one.tokens_in + one.tokens_out


@pytest.mark.parametrize(
    ("extractor", "steps", "calls", "told"),
    [("llm", 1, 1, 0), ("llm", 2, 2, 1), ("hybrid", 1, 1, 1), ("hybrid", 2, 2, 1)],
)
def test_a_passage_takes_as_many_calls_as_the_extractor_has_steps(extractor, steps, calls, told):
    asking = asking_of(recipe(extractor, steps=steps))
    assert asking is not None
    assert (len(asking.prompts), asking.told) == (calls, told)


def test_a_larger_ontology_makes_every_prompt_longer():
    small, large = asking_of(recipe("llm", ONE_TYPE)), asking_of(recipe("llm"))
    assert small is not None
    assert large is not None
    assert small.prompts < large.prompts


@pytest.mark.parametrize("extractor", ["spacy-rules", "gliner"])
def test_a_local_extractor_makes_no_call_and_costs_nothing_but_time(extractor):
    assert asking_of(recipe(extractor)) is None
    told = expect(surveyed(0, words=90_000), recipe(extractor))
    assert told.usage == Usage()
    assert told.seconds == pytest.approx(90_000 / WORDS_PER_SECOND[extractor] / 2)
    assert not told.upper_bound


def test_calls_have_the_price_of_their_tokens():
    told = expect(surveyed(10, 9_000, 3_000), recipe("llm"))
    assert told.usage == Usage(10, 9_000, 3_000, pytest.approx(0.015))


def test_a_price_that_nobody_knows_is_unknown_and_over_no_limit():
    told = expect(surveyed(10, 9_000, 3_000), recipe("llm"), price=None)
    assert told.usage.usd is None
    assert told.exceeds(0.0, None) == []


def test_no_call_costs_nothing_whatever_the_price():
    assert expect(surveyed(0), recipe("llm"), price=None).usage.usd == 0


@pytest.mark.parametrize(
    ("calls", "seconds"),
    [
        (EIGHT_AT_ONCE, 1_000 * CALL_SECONDS / 8),
        (CallConfig(in_flight=128, requests_per_minute=60), 1_000),
        (CallConfig(in_flight=128, tokens_per_minute=60_000), 2_000),
    ],
)
def test_the_time_is_that_of_whatever_holds_the_calls_back_most(calls, seconds):
    assert expect(surveyed(1_000, 1_500_000, 500_000), recipe("llm"), calls).seconds == pytest.approx(seconds)


def test_hybrid_is_told_as_the_most_that_it_may_take():
    told = expect(surveyed(10, 9_000, 3_000, words=6_000), recipe("hybrid"))
    assert told.upper_bound
    assert told.usage.calls == 10
    assert told.seconds == pytest.approx(10 * CALL_SECONDS / 8 + 10)


def test_what_an_extractor_of_the_users_own_takes_is_unknown():
    told = expect(surveyed(0, words=5), recipe("mine:extract"))
    assert (told.usage.usd, told.seconds) == (None, None)


def test_limits_that_the_estimate_is_over_are_named():
    told = expect(surveyed(10, 9_000, 3_000), recipe("llm"))
    assert told.exceeds(0.01, 11_999) == ["usd", "tokens"]
    assert told.exceeds(0.02, 12_000) == []
    assert told.exceeds(None, None) == []
