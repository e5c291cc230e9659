"""Passages: exact, complete, bounded, and cut where a reader would cut."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.chunk import chunk, chunk_fingerprint, estimate_tokens
from pipeline.config import ChunkConfig
from pipeline.models import Heading, LoadedText, Page

SMALL = ChunkConfig(max_tokens=16)
LETTERS = st.sampled_from(list("ab A.!?\n\t\"'()“”。éЖ日\u00a0\u2028\u200b😀-=#1,"))
TEXTS = st.text(LETTERS, max_size=400) | st.text(max_size=200)


def passages(text, config=SMALL, **structure):
    return [piece.text for piece in chunk(LoadedText(text, "text/plain", **structure), config)]


def sentences(count, words=5):
    return [f"Sentence {number} has " + "word " * words + "here." for number in range(count)]


@settings(deadline=None)
@given(TEXTS, st.sampled_from([0, 1, 3]), st.sets(st.integers(0, 400), max_size=5))
def test_passages_are_exact_bounded_not_blank_and_hold_every_visible_character(text, overlap, cuts):
    starts = sorted(cut for cut in cuts if cut < len(text))
    headings = tuple(Heading(1 + start % 3, "t", start) for start in starts)
    config = ChunkConfig(max_tokens=16, overlap_sentences=overlap)
    chunks = chunk(LoadedText(text, "text/plain", headings=headings), config)
    covered = bytearray(len(text))
    for index, piece in enumerate(chunks):
        assert piece.index == index
        assert piece.text == text[piece.start : piece.end] == piece.text.strip() != ""
        assert estimate_tokens(piece.text) <= 16
        covered[piece.start : piece.end] = b"\1" * len(piece.text)
    assert all(covered[place] for place, char in enumerate(text) if not char.isspace())
    assert [piece.start for piece in chunks] == sorted({piece.start for piece in chunks})


@settings(deadline=None)
@given(TEXTS)
def test_without_overlap_passages_do_not_overlap(text):
    chunks = chunk(LoadedText(text, "text/plain"), SMALL)
    assert all(one.end <= other.start for one, other in pairwise(chunks))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_texts_put_together_count_no_more_tokens_than_one_by_one(one, other):
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


def test_tokens_of_common_texts_are_estimated():
    assert estimate_tokens("") == 0
    assert estimate_tokens("The cat sat on the mat.") == 7
    assert estimate_tokens("日本の会社") == 5
    assert estimate_tokens("1234567") == 3


@pytest.mark.parametrize("text", ["", " \n\n\t", "\u2028\u00a0"])
def test_blank_text_gives_no_passage(text):
    assert passages(text) == []


def test_a_short_text_is_one_passage():
    assert passages("  One. Two.\n\nThree.\n") == ["One. Two.\n\nThree."]


def test_sentences_stay_whole():
    said = sentences(12)
    found = passages(" ".join(said), ChunkConfig(max_tokens=30))
    assert len(found) > 1
    assert all(sentence in found or any(sentence in piece for piece in found) for sentence in said)


def test_abbreviations_end_no_sentence():
    text = "It was Dr. Smith of Acme Corp. in the U.S. who came. " * 2
    assert passages(text, ChunkConfig(max_tokens=20)) == [text[:52], text[53:-1]]


def test_initials_before_a_wide_space_do_not_break_the_segmenter():
    text = "By J.\u00a0\u2028K. Rowling. \u00a0A.\u2028\u2028B. " * 9
    assert "".join("".join(passages(text)).split()) == "".join(text.split())


def test_a_paragraph_that_fits_alone_is_not_split():
    one, two = " ".join(sentences(3, 2)), " ".join(sentences(3, 3))
    assert passages(f"{one}\n\n{two}", ChunkConfig(max_tokens=40)) == [one, two]


def test_a_sentence_that_is_too_long_is_cut_at_white_space():
    text = "word " * 100
    found = passages(text)
    assert all(set(piece.split()) == {"word"} for piece in found)
    assert len(found) <= 9


def test_lines_are_kept_together_where_there_are_no_sentences():
    lines = [f"item number {number}" for number in range(30)]
    assert [line for piece in passages("\n".join(lines)) for line in piece.split("\n")] == lines


def test_a_word_that_is_too_long_is_cut_anywhere():
    found = passages("x" * 1000)
    assert "".join(found) == "x" * 1000


def test_equal_passages_are_counted():
    chunks = chunk(LoadedText("\n\n".join([" ".join(sentences(1))] * 3), "text/plain"), SMALL)
    assert [piece.occurrence for piece in chunks] == [0, 1, 2]


def test_an_inserted_paragraph_leaves_the_others_as_they_were():
    paragraphs = [" ".join(sentences(2, words)) for words in range(6, 16)]
    config = ChunkConfig(max_tokens=32)
    before = passages("\n\n".join(paragraphs), config)
    after = passages(
        "\n\n".join([*paragraphs[:5], "Something new was said by somebody here. " * 3, *paragraphs[5:]]), config
    )
    assert len(set(before) - set(after)) <= 1


def test_overlap_repeats_the_last_sentences():
    said = sentences(6)
    found = passages(" ".join(said), ChunkConfig(max_tokens=32, overlap_sentences=1))
    for one, other in pairwise(found):
        assert other.startswith(one[one.rindex("Sentence") :])


def test_overlap_gives_way_where_it_leaves_no_room():
    said = sentences(4, 8)
    assert passages(" ".join(said), ChunkConfig(max_tokens=16, overlap_sentences=2)) == said


def test_pages_are_told():
    text = "First page.\n\nSecond page.\n\n\n\nFourth page."
    pages = (Page(1, 0, 11), Page(2, 13, 25), Page(3, 27, 27), Page(4, 29, 41))
    assert [text[page.start : page.end] for page in pages] == ["First page.", "Second page.", "", "Fourth page."]
    (whole,) = chunk(LoadedText(text, "application/pdf", pages=pages), SMALL)
    assert (whole.page_first, whole.page_last) == (1, 4)
    filler = " more words of the page" * 2
    text = f"First{filler}.\n\nSecond{filler}."
    pages = (Page(1, 0, text.index("\n")), Page(2, text.index("Second"), len(text)))
    chunks = chunk(LoadedText(text, "application/pdf", pages=pages), SMALL)
    assert [(piece.page_first, piece.page_last) for piece in chunks] == [(1, 1), (2, 2)]


def headed(*sections):
    """Build a text of (level, title, body) and its headings."""
    text, headings = "", []
    for level, title, body in sections:
        headings.append(Heading(level, title, len(text)))
        text += f"{'#' * level} {title}\n\n{body}\n\n"
    return LoadedText(text, "text/markdown", headings=tuple(headings))


def test_a_heading_starts_a_passage_and_gives_it_its_path():
    body = "Some words stand in this section."
    loaded = headed((1, "A", body), (2, "B", body), (3, "C", body), (2, "D", body))
    chunks = chunk(loaded, SMALL)
    assert [piece.heading_path for piece in chunks] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert chunks[1].text == f"## B\n\n{body}"


def test_sections_of_the_highest_level_never_share_a_passage():
    chunks = chunk(headed((2, "A", "One."), (2, "B", "Two."), (2, "C", "Three.")), ChunkConfig())
    assert [piece.text for piece in chunks] == ["## A\n\nOne.", "## B\n\nTwo.", "## C\n\nThree."]


def test_a_tiny_section_goes_on_into_the_next():
    chunks = chunk(headed((1, "A", ""), (2, "B", "One."), (2, "C", "Two.")), ChunkConfig())
    assert [piece.heading_path for piece in chunks] == [("A", "B")]


def test_a_heading_inside_a_paragraph_cuts_it():
    text = "Some words before the heading.\n# Head\nSome words after the heading."
    loaded = LoadedText(text, "text/markdown", headings=(Heading(1, "Head", text.index("#")),))
    assert [piece.heading_path for piece in chunk(loaded, ChunkConfig())] == [(), ("Head",)]


def test_the_fingerprint_follows_the_settings():
    assert chunk_fingerprint(SMALL) == chunk_fingerprint(ChunkConfig(max_tokens=16))
    assert chunk_fingerprint(SMALL) != chunk_fingerprint(ChunkConfig())


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "word ",
        "--\n",
        "--\n\n",
        "\n \n",
        "日本の会社は東京で設立された。",
        "“He said. ",
        "J. K. ",
        '"! ',
        "a\u2028b. ",
    ],
)
def test_time_grows_with_the_text_and_not_faster(unit):
    def measure(size):
        text = unit * (size // len(unit))
        started = time.process_time()
        chunk(LoadedText(text, "text/plain"), ChunkConfig())
        return time.process_time() - started

    small, large = (min(measure(size) for _ in range(2)) for size in (20_000, 160_000))
    assert large < 8 * small * 4 + 0.1
