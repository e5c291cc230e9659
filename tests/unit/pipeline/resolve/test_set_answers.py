"""What a model answered of a set is kept by what was asked of it, and never paid for again."""

import pytest

from pipeline.errors import ArtifactsUnavailable, ModelBusy, ModelTimeout
from pipeline.ports import ChatAnswer
from pipeline.resolve.judging import MOST_REPEATS, LlmJudge
from pipeline.resolve.values import Group, Verdict

TWO = 'SET 1 GROUP: 1, 2 | NAME: "Tim Cook" | KEEP: born=2\nSET 2 NONE\nEND'
NONE = "SET 1 NONE\nEND"
BUSY = ModelBusy("Later.", retry_after=5)


class Store(dict):
    """An artifact store in memory."""

    def put(self, key, data):
        self[key] = data


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def sets(person):
    tim = person("tim", "Tim Cook", properties={"born": "1960"})
    timothy = person("timothy", "Timothy Cook", properties={"born": "1961"})
    return [(tim, timothy), (person("ann"), person("anne"))]


@pytest.fixture
def judge(ontology, store):
    """Ask a model; gives what was answered by position, and the calls that this took."""

    def judge(model, sets):
        before = len(model.requests)
        steps = list(LlmJudge(model, ontology, 100, store).judge(sets))
        answered = {position: verdict for step in steps for position, verdict in step.answered.items()}
        calls = len(model.requests) - before
        assert sum(step.usage.calls for step in steps) == calls
        return answered, calls

    return judge


def test_an_answer_is_given_again_in_full_without_a_call(chat, judge, sets):
    first, calls = judge(chat(TWO), sets)
    again, no_calls = judge(chat(), sets)
    assert (calls, no_calls) == (1, 0)
    assert again == first
    assert again[0].groups == (Group(("tim", "timothy"), "Tim Cook", (("born", "timothy"),)),)
    assert [one.verdict for one in again[1].judged] == [Verdict.DIFFERENT]


def test_an_answer_holds_whatever_else_is_asked_about_with_its_set(chat, judge, sets, person):
    judge(chat(TWO), sets)
    new = (person("bo"), person("boe"))
    model = chat(NONE)
    answered, calls = judge(model, [sets[1], new, sets[0]])
    assert calls == 1
    assert '"boe"' in model.requests[0].user
    assert '"Tim Cook"' not in model.requests[0].user
    assert answered[2].groups[0].name == "Tim Cook"
    assert sorted(answered) == [0, 1, 2]


def test_what_was_answered_before_an_error_is_kept(chat, judge, sets):
    with pytest.raises(ModelBusy):
        judge(chat("SET 1 GROUP: 1, 2\nSET 2 GROUP: 1, 9\nEND", BUSY), sets)
    model = chat(NONE)
    answered, calls = judge(model, sets)
    assert (sorted(answered), calls) == ([0, 1], 1)
    assert '"Tim Cook"' not in model.requests[0].user


def test_an_answer_to_a_repeated_question_is_one_to_the_question(chat, judge, sets):
    judge(chat("?", NONE), sets[1:])
    assert judge(chat(), sets[1:])[1] == 0


@pytest.mark.parametrize("unusable", ["SET 1 GROUP: 1, 9\nEND", (NONE, "refused")])
def test_what_is_no_usable_answer_is_asked_again_another_time(chat, judge, sets, store, unusable):
    answered, _ = judge(chat(*[unusable] * (1 + MOST_REPEATS)), sets[1:])
    assert (answered, store) == ({}, {})
    assert judge(chat(NONE), sets[1:])[1] == 1


def test_a_call_without_an_answer_leaves_nothing(chat, ontology, sets, store):
    steps = list(LlmJudge(chat(*[ModelTimeout("60 s")] * 3), ontology, 100, store).judge(sets[1:]))
    assert ([step.answered for step in steps], store) == ([{}] * 3, {})


def test_what_is_told_of_a_member_is_part_of_the_question(chat, judge, sets, person):
    judge(chat(TWO), sets)
    tim = person("tim", "Tim Cook", properties={"born": "1999"})
    assert judge(chat(NONE), [(tim, sets[0][1])])[1] == 1


def test_another_model_is_asked_anew(chat, judge, sets):
    judge(chat(TWO), sets)
    other = chat(TWO)
    other.model = "scripted/other"
    assert judge(other, sets)[1] == 1


def test_the_judge_is_the_model_that_answered_though_another_was_asked_first(chat, judge, sets):
    model = chat()
    model.complete = lambda request: (
        model.requests.append(request) or ChatAnswer(NONE, "stop", model.bound(request), "scripted/fallback")
    )
    judge(model, sets[1:])
    answered, calls = judge(chat(), sets[1:])
    assert (calls, answered[0].judged[0].judge) == (0, "scripted/fallback")


def test_a_store_that_takes_nothing_is_an_error(chat, judge, sets, store):
    def refuse(*_):
        raise ArtifactsUnavailable("It is full.")

    store.put = refuse
    with pytest.raises(ArtifactsUnavailable):
        judge(chat(TWO), sets)
