"""What every text is freed of before it is hashed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.load import clean

ANY_TEXT = st.text(st.characters(codec=None))


def test_line_ends_become_line_feeds():
    assert clean("one\r\ntwo\rthree\ffour\vfive\nsix") == "one\ntwo\nthree\nfour\nfive\nsix"


def test_control_characters_go_but_tabs_stay():
    assert clean("a\x00b\x01\tc\x1b[0m\x1f") == "ab\tc[0m"


def test_surrogate_pairs_become_one_character_and_lone_ones_go():
    assert clean("a\ud83d\ude00b\ud800c\udc00") == "a\U0001f600bc"


def test_what_goes_between_two_line_ends_does_not_make_them_one():
    assert clean("a\r\ud800\nb") == "a\n\nb"
    assert clean("a\r\x00\nb") == "a\nb", "but a control character is nothing at all"


def test_a_byte_order_mark_goes_at_the_start_only():
    assert clean("\ufeffa\ufeffb") == "a\ufeffb"


def test_accents_are_not_composed():
    assert clean("e\u0301 \u00e9") == "e\u0301 \u00e9"


@settings(deadline=None)
@given(ANY_TEXT)
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


@settings(deadline=None)
@given(ANY_TEXT)
def test_clean_text_can_be_encoded_and_holds_no_control_character(text):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert not set(cleaned) & (set(map(chr, range(0x20))) - {"\t", "\n"})
