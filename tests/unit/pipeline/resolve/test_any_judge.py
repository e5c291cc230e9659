"""What holds of every judge, and of a language model whatever it answers."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import ModelTimeout
from pipeline.resolve.judging import MOST_REPEATS, LlmJudge, judge_by_rules
from pipeline.resolve.resolution import resolve
from pipeline.resolve.sets import pairs_of
from pipeline.resolve.values import Named, Verdict

NAMES = ["Acme Corp", "ACME Corporation", "Globex", "Globex 2", "Ann Lee", "Lee, Ann"]
MEMBERS = st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True)
ANYTHING = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "SET 1 GROUP: 1, 2",
                "SET 2 GROUP: 2, 1 | NAME: Globex",
                "SET 1 NONE",
                "SET 2 NONE",
                "SET 9 NONE",
                "END",
                "?",
            ]
        ),
        max_size=5,
    ).map("\n".join),
    st.builds(ModelTimeout, st.just("Too slow.")),
)


def entities(names):
    return [Named(name.casefold(), "Organization", name) for name in sorted(names, key=str.casefold)]


def answer_by_spelling(request):
    """Say that what begins with the same letter is the same."""
    lines = []
    for number, text in re.findall(r"^SET (\d+)\n((?:\d+\. .*\n?)+)", request.user, re.MULTILINE):
        letters = {}
        for member, letter in re.findall(r'^(\d+)\. "(.)', text, re.MULTILINE):
            letters.setdefault(letter.casefold(), []).append(member)
        groups = [members for members in letters.values() if len(members) > 1]
        lines += [f"SET {number} GROUP: {', '.join(members)}" for members in groups] or [f"SET {number} NONE"]
    return "\n".join([*lines, "END"])


@pytest.fixture(params=["rules", "llm"])
def judge(request, chat, ontology):
    if request.param == "rules":
        return judge_by_rules(())
    return LlmJudge(chat(*[answer_by_spelling] * 50), ontology, 100)


def test_every_judge_tells_of_each_pair_of_each_set_once_and_the_same_again(judge):
    sets = [entities(NAMES[:2]), entities(NAMES[2:4]), entities(NAMES[1:5])]
    told = [[step.answered for step in judge.judge(sets)] for _ in range(2)]
    assert told[0] == told[1]
    answered = {position: verdict for step in told[0] for position, verdict in step.items()}
    for position, members in enumerate(sets):
        pairs = [one.pair for one in answered[position].judged]
        assert sorted(pairs) == sorted(pairs_of(member.id for member in members))
    named = {member.id: member for members in sets for member in members}
    plan = resolve([one for verdict in answered.values() for one in verdict.judged], named)
    assert {"acme corp", "acme corporation"} <= {one for merge in plan.merges for one in merge.because.pair}


def test_a_judge_that_is_asked_nothing_says_nothing(judge):
    assert [step for step in judge.judge([]) if step.answered or step.unanswered] == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(MEMBERS, min_size=1, max_size=3), st.lists(ANYTHING, min_size=10, max_size=10))
def test_whatever_a_model_answers_each_set_is_answered_or_not_and_calls_are_few(chat, ontology, names, answers):
    sets = [entities(one) for one in names]
    model = chat(*answers)
    steps = list(LlmJudge(model, ontology, 100).judge(sets))
    told = [position for step in steps for position in (*step.answered, *step.unanswered)]
    assert sorted(told) == list(range(len(sets)))
    assert len(model.requests) <= 1 + MOST_REPEATS * len(sets)
    for step in steps:
        for position, verdict in step.answered.items():
            assert sorted(one.pair for one in verdict.judged) == sorted(pairs_of(one.id for one in sets[position]))
            same = {one.pair for one in verdict.judged if one.verdict is Verdict.SAME}
            assert same == {pair for group in verdict.groups for pair in pairs_of(group.ids)}
