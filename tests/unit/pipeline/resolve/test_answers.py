"""Answers of a language model about sets: what counts, and what says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve.answers import AnsweredGroup, read_answer

SIZES = (4, 2, 3)
BOTH = (AnsweredGroup((1, 2)),)
CLEAN = 'SET 1 GROUP: 1, 4 | NAME: "Tim Cook" | KEEP: born=1, role=4\nSET 2 NONE\nSET 3 GROUP: 1, 2\nEND'


def test_a_clean_answer_says_something_of_each_set():
    group = AnsweredGroup((1, 4), '"Tim Cook"', {"born": 1, "role": 4})
    assert read_answer(CLEAN, SIZES) == {0: (group,), 1: (), 2: BOTH}


@pytest.mark.parametrize(
    "text",
    [
        CLEAN.lower().replace("tim cook", "Tim Cook"),
        CLEAN.replace("\n", "\r\n\n"),
        f"```text\n{CLEAN}\n```",
        CLEAN.replace("SET 2", "  SET  2 ").replace("1, 4", "1,4"),
        CLEAN.replace(", role", "; role"),
    ],
)
def test_spelling_habits_are_no_matter(text):
    assert read_answer(text, SIZES) == read_answer(CLEAN, SIZES)


def test_a_name_without_quotes_or_with_a_bar_is_read():
    assert read_answer("SET 1 GROUP: 1, 2 | NAME: Tim Cook\nEND", (2,))[0][0].name == "Tim Cook"
    quoted = 'SET 1 GROUP: 1, 2 | NAME: "A \\" | KEEP: born=2" | KEEP: born=1\nEND'
    assert read_answer(quoted, (2,))[0] == (AnsweredGroup((1, 2), '"A \\" | KEEP: born=2"', {"born": 1}),)


@pytest.mark.parametrize(
    "line",
    [
        "SET 1 GROUP: 1, 5",
        "SET 1 GROUP: 0, 1",
        "SET 1 GROUP: 1, 2\nSET 1 GROUP: 2, 3",
        "SET 1 GROUP: 1, 1",
        "SET 1 GROUP: 1, 2\nSET 1 NONE",
        "SET 1 GROUP: 1 | NAME: Tim",
        "SET 1 GROUP: 1 | KEEP: born=1",
        "SET 1 GROUP: 1, 2 | KEEP: born=9",
        "SET 1 GROUP: 1, 2 | KEEP: born=1960",
        "SET 1 GROUP: 1, 2 | KEEP: born=1, born=2",
        "SET 1 GROUP: 1, 2 | KEEP: born",
        "SET 1 GROUP:",
        "SET 1 GROUP: 1 and 2",
        "SET 1 GROUP: 1, 2 | WHY: they are",
        "SET 1 is one person",
        "SET 1 GROUP: 1, 2\nSET 1 maybe",
        "",
    ],
)
def test_what_is_unclean_of_one_set_says_nothing_of_it_alone(line):
    assert read_answer(f"{line}\nSET 2 NONE\nSET 3 GROUP: 1, 2\nEND", SIZES) == {1: (), 2: BOTH}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "END",
        "Here you are:\n" + CLEAN,
        CLEAN + "\nI hope this helps.",
        CLEAN.replace("SET 2", "SET 4"),
        CLEAN.replace("SET 2", "SET 0"),
        CLEAN.replace("\nEND", "\nEND\nSET 2 NONE"),
        '{"sets": []}',
    ],
)
def test_an_answer_in_other_words_says_nothing(text):
    assert read_answer(text, SIZES) == {}


def test_a_member_alone_in_its_group_is_a_different_one():
    assert read_answer("SET 1 GROUP: 1\nSET 1 GROUP: 2, 3\nEND", (3,)) == {0: (AnsweredGroup((2, 3)),)}
    assert read_answer("SET 1 GROUP: 3\nEND", (3,)) == {0: ()}


def test_without_its_end_an_answer_says_nothing_of_the_last_group_and_what_it_did_not_reach():
    assert read_answer("SET 1 NONE\nSET 2 GROUP: 1, 2", SIZES) == {0: ()}
    assert read_answer("SET 1 GROUP: 1, 2\nSET 2 NONE", SIZES) == {0: BOTH, 1: ()}


@given(st.integers(0, len(CLEAN)))
def test_an_answer_cut_anywhere_never_says_what_the_whole_does_not(cut):
    whole, part = read_answer(CLEAN, SIZES), read_answer(CLEAN[:cut], SIZES)
    assert part.items() <= whole.items()


@given(
    st.text(max_size=60),
    st.lists(st.sampled_from(["SET 1", " GROUP: 1, 2", "\n", "| NAME: x", "END", "SET 2 NONE", "=1"])),
)
def test_any_text_is_read_without_an_error_and_clean(text, parts):
    for answer in (text, "".join(parts), text + "".join(parts)):
        for position, groups in read_answer(answer, SIZES).items():
            members = [member for group in groups for member in group.members]
            assert len(members) == len(set(members))
            assert all(0 < member <= SIZES[position] for member in members)
            assert all(len(group.members) > 1 for group in groups)
