"""How the words of two names go together."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve.bearers import Bearer
from pipeline.resolve.likeness import Aligned, Kind, align, compare_words, stands_alone

PARTS = st.lists(
    st.sampled_from(
        ("fire", "fighters", "firefighters", "jim", "james", "j", "smith", "smyth", "colour", "color", "7")
    ),
    max_size=4,
)


def test_words_go_together_in_their_order_at_the_least_cost():
    assert align(("new", "fire", "fighters"), ("firefighters", "club"), Bearer.THING) == [
        Aligned(Kind.LEFT, "new", ""),
        Aligned(Kind.VARIANT, "firefighters", "firefighters"),
        Aligned(Kind.RIGHT, "", "club"),
    ]


@given(st.sampled_from(("jim", "james", "jonson", "johnson", "colour", "color")), PARTS, st.sampled_from(Bearer))
def test_words_are_alike_in_either_order(word, others, bearer):
    assert all(compare_words(word, other, bearer) == compare_words(other, word, bearer) for other in others)


@given(PARTS, PARTS, st.sampled_from(Bearer))
def test_a_word_that_stands_alone_has_nothing_beside_it_in_any_order(ones, others, bearer):
    alone = {word for word in ones if stands_alone(word, others, bearer)}
    for turned in (others, others[::-1]):
        kinds = [one.kind for one in align(ones, turned, bearer) if one.one in alone]
        assert kinds == [Kind.LEFT] * sum(word in alone for word in ones)


def test_a_part_of_a_word_does_not_stand_alone_for_certain():
    assert stands_alone("club", ("firefighters",), Bearer.THING)
    assert not stands_alone("fighters", ("firefighters",), Bearer.THING)
    assert not stands_alone("firefighters", ("new", "fire", "fighters"), Bearer.THING)
