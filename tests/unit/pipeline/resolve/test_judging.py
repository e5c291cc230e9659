"""Judges: what becomes of a model's answers, and what is asked again."""

import pytest

from pipeline.errors import BudgetSpent, ModelBusy, ModelOutputInvalid, ModelTimeout, PromptTooLong
from pipeline.resolve.judging import LEAST_OUTPUT_TOKENS, MOST_REPEATS, LlmJudge, judge_by_rules
from pipeline.resolve.rules import judge_pair
from pipeline.resolve.values import Group, Judged, Verdict

NONE = "SET 1 NONE\nEND"
BUSY = ModelBusy("Later.", retry_after=5)


@pytest.fixture
def sets(person):
    tim = person("tim", "Tim Cook", properties={"born": "1960", "role": "COO"})
    timothy = person("timothy", "Timothy  Cook", aliases=("T. Cook",), properties={"born": "1961"})
    cooke = person("cooke", "Tom Cooke")
    return [(cooke, tim, timothy), (person("ann"), person("anne"))]


def judge(chat, ontology, sets, max_output_tokens=100):
    """Give the verdicts by position, the positions without one, and how many calls were counted."""
    steps = list(LlmJudge(chat, ontology, max_output_tokens).judge(sets))
    answered = {position: verdict for step in steps for position, verdict in step.answered.items()}
    unanswered = [position for step in steps for position in step.unanswered]
    assert sorted([*answered, *unanswered]) == list(range(len(sets)))
    return answered, unanswered, sum(step.usage.calls for step in steps)


def test_an_answer_judges_each_pair_of_its_sets(chat, ontology, sets):
    model = chat('SET 1 GROUP: 2, 3 | NAME: "Timothy Cook" | KEEP: born=3\nSET 2 NONE\nEND')
    answered, unanswered, calls = judge(model, ontology, sets)
    assert set(answered[0].judged) == {
        Judged(("cooke", "tim"), Verdict.DIFFERENT, "judged", "scripted/one"),
        Judged(("cooke", "timothy"), Verdict.DIFFERENT, "judged", "scripted/one"),
        Judged(("tim", "timothy"), Verdict.SAME, "judged", "scripted/one"),
    }
    assert answered[0].groups == (Group(("tim", "timothy"), "Timothy  Cook", (("born", "timothy"),)),)
    assert [one.verdict for one in answered[1].judged] == [Verdict.DIFFERENT]
    assert (answered[1].groups, unanswered, calls) == ((), [], 1)


def test_a_question_asks_for_plain_text_with_room_for_thought(chat, ontology, sets):
    model = chat(NONE, NONE)
    judge(model, ontology, sets[:1])
    (request,) = model.requests
    assert (request.schema, request.max_output_tokens) == ({}, LEAST_OUTPUT_TOKENS)
    model = chat(NONE)
    judge(model, ontology, sets[:1], max_output_tokens=9_000)
    assert model.requests[0].max_output_tokens == 9_000


@pytest.mark.parametrize("name", ['"Tim Apple"', '"Tom Cooke"', "Tim Cook Jr.", "[1]", '"', "1"])
def test_a_name_that_no_member_of_the_group_bears_is_no_name(chat, ontology, sets, name):
    answered, *_ = judge(chat(f"SET 1 GROUP: 2, 3 | NAME: {name}\nEND"), ontology, sets[:1])
    assert answered[0].groups[0].name == ""


@pytest.mark.parametrize("name", ["T. Cook", '"T. Cook"'])
def test_an_alias_of_a_member_is_a_name(chat, ontology, sets, name):
    answered, *_ = judge(chat(f"SET 1 GROUP: 2, 3 | NAME: {name}\nEND"), ontology, sets[:1])
    assert answered[0].groups[0].name == "T. Cook"


@pytest.mark.parametrize("kept", ["role=1", "role=3", "secret=2"])
def test_a_value_that_no_member_of_the_group_holds_is_not_kept(chat, ontology, sets, kept):
    answered, *_ = judge(chat(f"SET 1 GROUP: 2, 3 | KEEP: {kept}, born=2\nEND"), ontology, sets[:1])
    assert answered[0].groups[0].keep == (("born", "tim"),)


UNUSABLE = {
    "without END": "SET 1 GROUP: 1, 2",
    "unknown member": "SET 1 GROUP: 1, 7\nEND",
    "member in two groups": "SET 1 GROUP: 1, 2\nSET 1 GROUP: 2, 3\nEND",
    "name for one": 'SET 1 GROUP: 1 | NAME: "Tom Cooke"\nEND',
    "cut off": ("SET 1 GROUP: 1,", "length"),
    "refused": (NONE, "refused"),
    "no words": "",
    "too slow": ModelTimeout("60 s"),
    "no answer": ModelOutputInvalid("?"),
    "too long": PromptTooLong("?"),
}


@pytest.mark.parametrize("answer", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_set_without_a_usable_answer_is_asked_about_again_twice_at_most(chat, ontology, sets, answer):
    model = chat(*[answer] * (1 + MOST_REPEATS))
    answered, unanswered, calls = judge(model, ontology, sets[:1])
    assert (answered, unanswered, len(model.requests)) == ({}, [0], 3)
    assert calls == (0 if isinstance(answer, Exception) else 3)


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_usable_answer_of_a_repeat_counts(chat, ontology, sets, repeats):
    model = chat(*["SET 1 GROUP: 1"] * repeats, NONE)
    answered, unanswered, calls = judge(model, ontology, sets[:1])
    assert (list(answered), unanswered, calls) == ([0], [], 1 + repeats)


def test_only_the_sets_without_an_answer_are_asked_about_again_each_by_itself(chat, ontology, sets):
    three = [*sets, sets[1]]
    model = chat("SET 1 GROUP: 9, 1\nSET 2 NONE\nSET 3 GROUP: 1, 2", NONE, "SET 1 GROUP: 1, 2\nEND")
    answered, unanswered, _ = judge(model, ontology, three)
    assert [request.user.count("\nSET ") for request in model.requests] == [3, 1, 1]
    assert [request.user.count("Your last answer") for request in model.requests] == [0, 1, 1]
    assert "Tom Cooke" in model.requests[1].user
    assert "anne" in model.requests[2].user
    assert [one.verdict for one in answered[2].judged] == [Verdict.SAME]
    assert unanswered == []


@pytest.mark.parametrize("error", [BUSY, BudgetSpent("Spent.")])
def test_what_concerns_more_than_these_sets_is_raised_after_what_is_known(chat, ontology, sets, error):
    steps = LlmJudge(chat("SET 1 NONE\nEND", error), ontology, 100).judge(sets)
    assert list(next(steps).answered) == [0]
    with pytest.raises(type(error)):
        next(steps)


def test_rules_judge_each_pair_of_a_set_by_itself(sets):
    (step,) = judge_by_rules(()).judge(sets)
    assert [len(verdict.judged) for verdict in step.answered.values()] == [3, 1]
    by_id = {member.id: member for member in sets[0]}
    for one in step.answered[0].judged:
        assert one == judge_pair(*(by_id[member] for member in one.pair))


def test_rules_take_what_phase_1_grouped_for_the_same_unless_something_tells_it_apart(person):
    short, long = person("a", "AIHS"), person("b", "Ashford Island Historical Society")
    born = [person("c", "Ann Lee", properties={"born": 1960}), person("d", "Ann Lee", properties={"born": 1970})]
    grouped = {("a", "b"), ("c", "d")}
    for pairs, verdict in ((grouped, Verdict.SAME), ((), Verdict.UNDECIDED)):
        (step,) = judge_by_rules(pairs).judge([(short, long), born])
        assert [step.answered[n].judged[0].verdict for n in (0, 1)] == [verdict, Verdict.DIFFERENT]
