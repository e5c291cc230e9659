import pytest

from pipeline.config import LlmConfig
from pipeline.errors import (
    ModelBusy,
    ModelOutputInvalid,
    ModelTimeout,
    PassageUnread,
    PromptTooLong,
    UnreadCode,
)
from pipeline.extract import ground
from pipeline.llm.notes import Notes
from pipeline.llm.questions import Questions
from pipeline.llm.reading import PassageReader
from pipeline.models import Mention, Usage

TEXT = "Ann Lee works for Acme Corp. Bob Ray, who is 42, owns it."


def read(model, ontology, text=TEXT, found=(), **config):
    settings = LlmConfig(model="scripted/one", **config)
    reader = PassageReader(model.complete, Questions(ontology, settings.max_output_tokens), settings, Notes(None, ""))
    return ground(text, reader.read(text, found), ontology)


def fate(model, ontology, **more):
    with pytest.raises(PassageUnread) as failed:
        read(model, ontology, **more)
    return failed.value.unread_code, len(model.requests)


def told(extraction):
    return [(m.name, m.type, m.start) for m in extraction.mentions]


def test_one_call_gives_entities_attributes_and_relations(chat, spell, ontology):
    answer = spell(
        {"name": "Ann Lee", "type": "Person", "description": "An employee.", "attributes": {"age": None}},
        {"name": "acme corp", "type": "Company"},
        {"name": "Bob Ray", "type": "human", "attributes": {"age": "42", "nicknames": "Bo", "shoe": 9}},
        relations=[("Ann Lee", "works for", "Acme Corp", "Ann Lee works\nfor Acme Corp.")],
    )
    found = read(chat(answer), ontology)
    assert told(found) == [("Ann Lee", "Person", 0), ("Acme Corp", "Company", 18), ("Bob Ray", "Person", 29)]
    assert [m.properties for m in found.mentions] == ["", "", '{"age":42,"nicknames":["Bo"]}']
    assert [(r.type, r.start, r.end) for r in found.relations] == [("WORKS_FOR", 0, 28)]
    assert found.usage == Usage(1, 100, 10, 0.5)


def test_an_answer_without_entities_is_an_answer(chat, spell, ontology):
    model = chat(spell())
    found = read(model, ontology)
    assert (found.mentions, found.usage.calls, len(model.requests)) == ((), 1, 1)


def test_blank_passages_are_not_asked_about(chat, ontology):
    model = chat("")
    assert read(model, ontology, text=" \n ").usage == Usage()
    assert model.requests == []


def test_an_unusable_answer_is_asked_for_once_more_and_both_are_paid_for(chat, spell, ontology):
    for bad in ("I cannot say.", "", '{"entities": 3}', '{"entities": ["Ann"]}', "[" * 90_000, ModelOutputInvalid("?")):
        model = chat(bad, spell(("Ann Lee", "Person")))
        found = read(model, ontology)
        assert told(found) == [("Ann Lee", "Person", 0)]
        assert model.requests[0] == model.requests[1]
        assert found.usage.calls == 2 - isinstance(bad, Exception)


@pytest.mark.parametrize(
    ("answer", "code", "calls"),
    [
        ("I cannot say.", UnreadCode.MALFORMED, 2),
        ('{"entities": [{"nom": "Ann"}, 3]}', UnreadCode.MALFORMED, 2),
        (ModelOutputInvalid("no choices"), UnreadCode.MALFORMED, 2),
        (" \n", UnreadCode.EMPTY, 2),
        (("", "refused"), UnreadCode.REFUSED, 1),
        (("{}", "refused"), UnreadCode.REFUSED, 1),
        (("{", "length"), UnreadCode.TRUNCATED, 2),
        (("", "length"), UnreadCode.TRUNCATED, 2),
        (PromptTooLong("400 tokens are too many"), UnreadCode.TOO_LONG, 2),
    ],
)
def test_what_cannot_be_had_has_a_code_and_few_calls(chat, ontology, answer, code, calls):
    assert fate(chat(answer), ontology) == (code, calls)


def test_failures_say_what_happened(chat, ontology):
    for answer, says in [
        ("Sorry.", r"scripted/one gave no JSON .* begins 'Sorry\.'\."),
        (("{", "length"), r"cut off at the 4,096 tokens of an answer, for its parts of 29 characters, too\."),
    ]:
        with pytest.raises(PassageUnread, match=says):
            read(chat(answer), ontology)


@pytest.mark.parametrize("error", [ModelBusy("full"), ModelTimeout("slow")])
def test_errors_that_pass_are_not_tried_again_here(chat, ontology, error):
    model = chat(error)
    with pytest.raises(type(error)):
        read(model, ontology)
    assert len(model.requests) == 1


def test_broken_json_is_mended_without_a_call(chat, ontology):
    model = chat("```json\n{'entities': [{'name': 'Ann Lee', 'type': 'Person',},], \"relationships\": []\n```")
    assert told(read(model, ontology)) == [("Ann Lee", "Person", 0)]
    assert len(model.requests) == 1


def test_a_passage_with_too_long_an_answer_is_read_in_halves(chat, spell, ontology):
    def answer(request):
        if "Ann" in request.user and "Bob" in request.user:
            return '{"entities": [{"name": "Ann', "length"
        if "Ann" in request.user:
            return spell(("Ann Lee", "Person"), ("Acme Corp", "Company"), {})
        return spell(("Bob Ray", "Person"), ("Lee", "Person"), relations=[("Bob Ray", "LIKES", "Ann", "who is 42")])

    model = chat(answer)
    found = read(model, ontology)
    assert [r.user for r in model.requests[1:]] == [
        "<passage>\nAnn Lee works for Acme Corp. \n</passage>",
        "<passage>\nBob Ray, who is 42, owns it.\n</passage>",
    ]
    assert told(found)[-1] == ("Bob Ray", "Person", 29)
    assert found.dropped == {"invalid_item": 1, "unknown_end": 1}
    assert found.usage == Usage(3, 300, 30, 1.5)


def test_a_whole_answer_counts_though_its_end_was_cut_off(chat, spell, ontology):
    model = chat((spell(("Ann Lee", "Person")) + "\n" * 99, "length"))
    assert told(read(model, ontology)) == [("Ann Lee", "Person", 0)]


def test_one_half_that_cannot_be_read_makes_the_passage_unread(chat, spell, ontology):
    model = chat(PromptTooLong("long"), spell(("Ann Lee", "Person")), ("", "refused"))
    assert fate(model, ontology) == (UnreadCode.REFUSED, 3)


def test_of_two_steps_the_first_finds_and_the_second_checks_and_relates(chat, spell, ontology):
    first = spell(
        {"name": "Ann Lee", "type": "Person", "confidence": 0.9},
        {"name": "Acme Corp", "type": "Company", "confidence": 0.5},
        {"name": "it", "type": "Company", "confidence": 0.8},
    )
    second = spell(
        ("Ann Lee", "Person"),
        ("Acme Corp", "Unknown"),
        ("Bob Ray", "Person"),
        relations=[("Ann Lee", "OWNS", "Bob Ray")],
    )
    model = chat(first, second)
    found = read(model, ontology, steps=2)
    assert '{"name": "Acme Corp", "type": "Unknown", "confidence": 0.5}' in model.requests[1].user
    assert [(m.name, m.type, m.score) for m in found.mentions] == [
        ("Ann Lee", "Person", 0.9), ("Acme Corp", "Unknown", 0.5), ("Bob Ray", "Person", 1.0)
    ]  # fmt: skip
    assert found.dropped == {"unverified": 1, "undeclared_relation": 1}
    assert found.usage.calls == 2


def test_a_first_step_that_finds_nothing_saves_the_second(chat, spell, ontology):
    assert read(chat(spell()), ontology, steps=2).usage.calls == 1


def test_what_was_found_before_is_checked_in_one_call(chat, spell, ontology):
    before = [Mention("Ann Lee", "Company", 0, 7, score=0.4), Mention("owns", "Person", 48, 52, score=0.3)]
    for steps in (1, 2):
        model = chat(spell(("Ann Lee", "Person")))
        found = read(model, ontology, found=before, steps=steps)
        assert [(m.name, m.type, m.score) for m in found.mentions] == [("Ann Lee", "Person", 0.4)]
        assert found.dropped == {"unverified": 1}
        assert len(model.requests) == 1


def test_halves_are_told_of_what_was_found_in_them(chat, spell, ontology):
    before = [Mention("Ann Lee", "Person", 0, 7), Mention("Bob Ray", "Person", 29, 36)]
    model = chat(PromptTooLong("long"), spell(("Ann Lee", "Person")), spell(("Bob Ray", "Person")))
    assert told(read(model, ontology, found=before)) == [("Ann Lee", "Person", 0), ("Bob Ray", "Person", 29)]
    assert ["Bob Ray" in r.user for r in model.requests] == [True, False, True]
