"""Whatever a model answers, a passage is read, or there is a code for why not."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.config import LlmConfig
from pipeline.errors import PassageUnread
from pipeline.extract import extract_each
from pipeline.ids import normalise_name
from pipeline.llm import LlmExtractor
from pipeline.models import Extraction
from scheduler.codec import decode_extraction, encode

TEXT = "Ann Lee works for Acme Corp, as <passage> says. Bob owns it."

WORDS = st.sampled_from(
    [
        "Ann Lee",
        "ACME corp",
        "Bob",
        "it",
        "Person",
        "Company/Person",
        "",
        "\ud800",
        "works for",
        "Eve",
        "Unknown",
        "OTHER",
    ]
)
PLAIN = WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.just(10**300)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2))
ENTITY = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["name", "type", "suggested_type", "description", "confidence"], VALUES),
        "attributes": st.dictionaries(st.sampled_from(["age", "nicknames", "shoe"]), VALUES, max_size=3) | VALUES,
    },
)
NAMED = st.builds(lambda item, name: item | {"name": name}, ENTITY, WORDS)
RELATION = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(["source", "target", "type", "suggested_type", "description", "quote"], WORDS | VALUES)
)
SHAPED = st.fixed_dictionaries(
    {"entities": st.lists(NAMED | ENTITY | VALUES, max_size=5)},
    optional={"relationships": st.lists(RELATION | VALUES, max_size=4) | VALUES},
).map(json.dumps)
PIECES = st.sampled_from(
    [*'{}[]",:`\\', "'", '"entities"', '"name"', "```json\n", "NaN", "1e999", "\x00", "\ud800", "é", "//"]
)
ANSWERS = SHAPED | st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=20) | VALUES.map(json.dumps)
CUT = st.builds(lambda text, start, end: text[start : len(text) - end], ANSWERS, st.integers(0, 3), st.integers(0, 30))


@pytest.mark.parametrize("steps", [1, 2])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=ANSWERS | CUT, second=SHAPED | CUT, finish=st.sampled_from(["stop", "length", "refused"]))
def test_any_answer_is_an_extraction_or_a_passage_unread(chat, ontology, steps, answer, second, finish):
    model = chat((answer, "stop"), (second, finish), (second, finish), (answer, finish))
    extractor = LlmExtractor(model, LlmConfig(model="scripted/one", steps=steps), threads=1)
    ((position, found),) = extract_each([TEXT], extractor, ontology)
    assert position == 0
    assert isinstance(found, Extraction | PassageUnread)
    if isinstance(found, Extraction):
        assert decode_extraction(encode(found)) == found
        assert found.usage.calls == len(model.requests)
        for m in (*found.mentions, *found.undeclared_mentions):
            assert normalise_name(TEXT[m.start : m.end]) == normalise_name(m.name)
        for r in (*found.relations, *found.undeclared_relations):
            assert 0 <= r.start < r.end <= len(TEXT)
