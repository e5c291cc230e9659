import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import ground
from pipeline.llm.cut import cut_mentions, find_cut, join
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("One is here. Two is there. Three.", "One is here. "),
        ("He left. «Why?» she asked.", "He left. «Why?» "),
        ("first part\n \n and then second", "first part\n \n "),
        ("no sentence ends here at all", "no sentence "),
        ("これは一文。これは二文目です。", "これは一文。"),
        ("Unbroken", "Unbr"),
        ("ab", "a"),
        ("A. and the rest has no end", "A. and the "),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_sentence_or_else_of_a_word_near_its_middle(text, left):
    assert text[: find_cut(text)] == left


def test_a_mention_that_was_found_is_not_cut():
    text = "They left for St. Louis by boat"
    assert text[: find_cut(text)] == "They left for St. "
    assert text[: find_cut(text, [Mention("St. Louis", "Location", 14, 23)])] == "They left for "


@given(st.text(alphabet="a. \n。", min_size=2, max_size=40))
def test_both_halves_have_something(text):
    assert 0 < find_cut(text) < len(text)


def test_halves_have_the_mentions_that_are_whole_in_them():
    mentions = [Mention("a", "", 0, 4), Mention("b", "", 3, 6), Mention("c", "", 5, 7)]
    before, after = cut_mentions(mentions, 5)
    assert [(m.name, m.start, m.end) for m in before] == [("a", 0, 4)]
    assert [(m.name, m.start, m.end) for m in after] == [("c", 0, 2)]


def test_what_halves_say_stands_at_its_place_in_the_whole():
    text = "Ann met Bob. Bob met Ann."
    first = Extraction(
        (Mention("Ann", "Person", 0, 3), Mention("Eve", "Person", -1, -1)),
        (Relation("Ann", "", "Bob", "", "MET", "", 0, 12),),
        {"x": 1},
    )
    second = Extraction(
        (Mention("Bob", "Person", 0, 3), Mention("Ann", "Person", 8, 11)),
        (Relation("Bob", "", "Ann", "", "MET", "", 0, 12), Relation("Ann", "", "Bob", "", "KNOWS", "", -1, -1)),
        {"x": 1, "y": 2},
    )
    whole = join(first, second, 13)
    assert [(m.start, m.end) for m in whole.mentions] == [(0, 3), (-1, -1), (13, 16), (21, 24)]
    assert whole.dropped == {"x": 2, "y": 2}
    grounded = ground(text, whole, DEFAULT_ONTOLOGY)
    assert [(r.source, r.type, r.start) for r in grounded.relations] == [
        ("Ann", "MET", 0),
        ("Ann", "KNOWS", 0),
        ("Bob", "MET", 13),
    ]
