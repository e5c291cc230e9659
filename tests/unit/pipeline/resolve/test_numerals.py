"""Numbers in names, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve.numerals import digits_of, read_roman, spell_numbers, spell_numbers_of_rulers

_SIGNS = (("m", 1000), ("cm", 900), ("d", 500), ("cd", 400), ("c", 100), ("xc", 90), ("l", 50), ("xl", 40), ("x", 10))
_SIGNS += (("ix", 9), ("v", 5), ("iv", 4), ("i", 1))


@given(st.integers(1, 3999))
def test_every_roman_numeral_is_read(number):
    left, written = number, ""
    for sign, value in _SIGNS:
        written += sign * (left // value)
        left %= value
    assert read_roman(written) == number


@pytest.mark.parametrize("word", ["", "iiii", "vx", "civil", "mimic", "ic", "abc", "vivid"])
def test_other_words_are_no_numerals(word):
    assert read_roman(word) == 0


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("fund two", "fund 2"),
        ("fund ii", "fund 2"),
        ("fund i", "fund 1"),
        ("bowl lvii", "bowl 57"),
        ("second fund", "2. fund"),
        ("2nd fund", "2. fund"),
        ("brigade forty four", "brigade 44"),
        ("forty fourth brigade", "44. brigade"),
        ("v festival", "v festival"),
        ("mix foods", "mix foods"),
        ("mv corvane", "mv corvane"),
        ("xi capital", "xi capital"),
        ("x", "x"),
    ],
)
def test_numbers_of_things_are_written_with_digits(name, spelled):
    assert " ".join(spell_numbers(name.split())) == spelled


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("Henry VIII", "henry 8"),
        ("Henry the Eighth", "henry 8"),
        ("James I of England", "james 1 of england"),
        ("Louis XVI of France", "louis 16 of france"),
        ("Pius XI", "pius 11"),
        ("Jinping Xi", "jinping xi"),
        ("Xi Jinping", "xi jinping"),
        ("XI JINPING", "xi jinping"),
        ("John V Smith", "john v smith"),
        ("Smith J V", "smith j v"),
        ("Ada Seven Quill", "ada seven quill"),
    ],
)
def test_rulers_have_numbers_and_other_people_have_not(name, spelled):
    assert " ".join(spell_numbers_of_rulers(name.casefold().split(), name)) == spelled


def test_numbers_are_found_within_words_with_their_signs():
    assert digits_of(["b12", "-40", "3.5", "2.", "a"]) == ("-40", "12", "2", "3.5")
