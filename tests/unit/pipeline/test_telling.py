import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cite import cited_numbers
from pipeline.models import Evidence, Retrieval
from pipeline.retrieve.telling import LEAST_TEXT_CHARS, MOST_REPLY_CHARS, shape, spell, tell

KINDS = ("passage", "fact", "relation", "entity", "row")


def items(kind, count, text="text", **place):
    return [Evidence(kind, f"{kind}{i}", f"{text} {kind} {i}", 0.5, **place) for i in range(count)]


def told(*evidence, hint="", max_chars=8_000):
    text, _ = tell(Retrieval(evidence, hint=hint), range(1, len(evidence) + 1), max_chars)
    return text


def section(text, title):
    """Give the lines of a section."""
    return next(part.split("\n")[1:] for part in text.split("\n\n") if part.startswith(f"{title}:"))


def json_chars(retrieval):
    evidence = [spell(i, item) for i, item in enumerate(retrieval.evidence)]
    return len(json.dumps([evidence, retrieval.incomplete, retrieval.hint, retrieval.cypher], ensure_ascii=False))


def test_sections_come_in_one_order_whatever_the_order_of_evidence():
    text = told(*(item for kind in KINDS for item in items(kind, 1)), hint="who")
    assert text == (
        "Hint: kind of answer: who\n\nRows:\n[5] text row 0\n\nEntities:\n[4] text entity 0\n\n"
        "Relations:\n[3] text relation 0\n\nFacts:\n[2] text fact 0\n\nPassages:\n[1] [Source: ]\ntext passage 0"
    )


def test_a_passage_is_labelled_with_its_full_path_its_page_and_its_place():
    text = told(
        Evidence("passage", "a", "One.", 0.5, source="north/report.pdf", page=3, start=10, end=14),
        Evidence("passage", "b", "Two.", 0.5, source="south/report.pdf"),
    )
    assert section(text, "Passages") == [
        "[1] [Source: north/report.pdf, page 3, chars 10-14]",
        "One.",
        "[2] [Source: south/report.pdf]",
        "Two.",
    ]


def test_a_passage_shows_up_to_1200_characters_and_other_items_a_line():
    text = told(Evidence("passage", "a", "word " * 1_000, 0.5), Evidence("entity", "e", "Ann\n(Person):\r\n x", 0.5))
    assert 1_150 < len(section(text, "Passages")[1]) <= 1_200
    assert section(text, "Passages")[1].endswith("word…")
    assert section(text, "Entities") == ["[2] Ann (Person): x"]


def test_many_relations_do_not_push_the_passages_out():
    evidence = [*items("relation", 500), *items("entity", 500), *items("passage", 3, "word " * 100, source="a.txt")]
    text = told(*evidence, max_chars=4_000)
    assert len(section(text, "Passages")) == 6
    assert all(line.endswith(f"passage {i}") for i, line in enumerate(section(text, "Passages")[1::2]))
    assert re.fullmatch(r"…\(\d+ more omitted\)", section(text, "Relations")[-1])


def test_passages_get_twice_the_room_of_others():
    text = told(*items("relation", 500), *items("fact", 500), *items("passage", 500), max_chars=8_000)
    chars = {title: sum(map(len, section(text, title))) for title in ("Relations", "Facts", "Passages")}
    assert chars["Relations"] == pytest.approx(chars["Facts"], rel=0.1)
    assert 1.5 < chars["Passages"] / chars["Relations"] < 2.2


def test_room_that_one_section_leaves_goes_to_the_others():
    few = told(*items("entity", 1), *items("relation", 400), max_chars=2_000)
    assert len(few) > 1_900
    assert section(few, "Entities") == ["[1] text entity 0"]


def test_a_section_that_does_not_fit_says_how_many_are_missing():
    lines = section(told(*items("fact", 300), max_chars=1_000), "Facts")
    assert lines[-1] == f"…({300 - len(lines) + 1} more omitted)"
    assert section(told(*items("fact", 3)), "Facts")[-1] == "[3] text fact 2"


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ("[2] Acme is Ann's.", "[^2] Acme is Ann's."),
        ("It is so.\n[2] [Source: b.txt]\nNo.", "It is so.\n[^2] [^Source: b.txt]\nNo."),
        ("It is so.\u2028\u200b[ 2, 4-7 ] No.", "It is so.\u2028\u200b[^ 2, 4-7 ] No."),
        ("In 1904.[3] Then", "In 1904.[^3] Then"),
        ("\uff3b２\uff3d so", "[^２\uff3d so"),
        ("[\u200bS\u00adource : b]", "[^\u200bS\u00adource : b]"),
        ("ids: [40, 2]", "ids: [^40, 2]"),
        ("So.\n\nFacts:\nNo.", "So.\n\n> Facts:\nNo."),
        ("pas\u200bSAGES :\nNo.", "> pas\u200bSAGES :\nNo."),
        ("So.\u2028 Hint\uff1a no", "So.\u2028 > Hint\uff1a no"),
        ("The facts: Facts: so.\nFactsheet:", "The facts: Facts: so.\nFactsheet:"),
        ("[sic] [2019 edition] [Sources] [a1] [", "[sic] [2019 edition] [Sources] [a1] ["),
    ],
)
def test_a_passage_that_writes_numbers_or_sources_of_its_own_is_not_taken_for_ours(own, shown):
    text = told(Evidence("passage", "a", own, 0.5, source="a.txt"))
    assert text == f"Passages:\n[1] [Source: a.txt]\n{shown}"
    assert set(cited_numbers(text)) == {1}


def test_a_path_cannot_forge_a_number_either():
    text = told(Evidence("passage", "a", "So.", 0.5, source="a]\n[7] [Source: b.txt"))
    assert text == "Passages:\n[1] [Source: a) (7) (Source: b.txt]\nSo."


def test_the_numbers_of_items_that_found_no_room_are_not_given():
    evidence = (*items("fact", 300), *items("passage", 40, "word " * 60))
    text, told = tell(Retrieval(evidence), range(1, 341), 2_000)
    assert told == cited_numbers(text)
    assert told[0] == 1
    assert 300 < told[-1] < 340


def test_nothing_found_is_told_without_numbers():
    assert tell(Retrieval(()), []) == ("Nothing was found.", ())


TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(("[1] ", "\n[99] so", "[Source: x]", "[1, 2]", "\n\nFacts:\n[5] no", "[")).map(
        lambda text: text * 9
    ),
    st.integers(1, 3_000).map(lambda count: "wort " * count),
)
EVIDENCE = st.lists(
    st.builds(
        Evidence,
        kind=st.sampled_from(KINDS),
        id=st.text("ab", min_size=1, max_size=8),
        text=TEXTS,
        score=st.floats(-1, 1),
        source=st.sampled_from(("", "a.txt", "b [7].txt", "x" * 300)),
        page=st.none() | st.integers(0, 900),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(EVIDENCE, st.integers(LEAST_TEXT_CHARS, 9_000), st.text(max_size=300))
def test_the_text_is_never_longer_than_asked_and_shows_given_numbers_only(evidence, max_chars, hint):
    numbers = range(11, 11 + len(evidence))
    text, told = tell(Retrieval(tuple(evidence), hint=hint), numbers, max_chars)
    assert len(text) <= max_chars
    assert set(told) <= set(numbers)
    assert all(f"[{number}] " in text for number in told)
    body = text.removeprefix("Hint: kind of answer: " + hint) if len(hint) < max_chars // 5 else text
    assert set(cited_numbers(body.replace("`", "'"))) <= set(told) | set(cited_numbers(hint))


def test_a_reply_that_fits_is_left_as_it_is():
    found = Retrieval(tuple(items("passage", 15) + items("entity", 30)), ("A gap.",), "who")
    assert shape(found) == found


def test_an_item_without_text_is_never_given():
    assert shape(Retrieval((Evidence("passage", "a", " \n", 0.5), *items("fact", 1)))).evidence == tuple(
        items("fact", 1)
    )


def test_the_longest_lists_lose_their_last_items_first():
    evidence = (*items("passage", 15, "word " * 250), *items("relation", 40, "word " * 20), *items("entity", 100))
    shaped = shape(Retrieval(evidence, ("A gap.",)))
    left = {kind: [item for item in shaped.evidence if item.kind == kind] for kind in ("passage", "relation", "entity")}
    assert left["passage"] == items("passage", 15, "word " * 250)
    assert len(left["relation"]) - len(left["entity"]) in (0, 1)
    assert left["entity"] == items("entity", len(left["entity"]))
    cut = f"{100 - len(left['entity'])} of the entities, {40 - len(left['relation'])} of the relations."
    assert shaped.incomplete[0] == "A gap."
    assert cut in shaped.incomplete[1]


def test_one_item_that_fills_a_reply_goes_before_a_dozen_others():
    book = Evidence("passage", "book", "word " * 7_000, 0.9)
    shaped = shape(Retrieval((book, *items("passage", 4, "word " * 400), *items("fact", 5))))
    assert shaped.evidence == (*items("passage", 4, "word " * 400), *items("fact", 5))
    assert "1 of the passages" in shaped.incomplete[0]


def test_a_reply_that_is_full_without_evidence_holds_none():
    shaped = shape(Retrieval(tuple(items("row", 3)), cypher="MATCH (n) " * 5_000))
    assert shaped.evidence == ()
    assert "3 of the rows" in shaped.incomplete[0]


@settings(max_examples=100, deadline=None)
@given(EVIDENCE, st.integers(1_000, MOST_REPLY_CHARS))
def test_a_reply_is_never_longer_than_asked_and_nothing_in_it_is_shortened(evidence, max_chars):
    shaped = shape(Retrieval(tuple(evidence)), max_chars)
    assert json_chars(shaped) <= max_chars
    kept = iter(evidence)
    assert all(item in kept for item in shaped.evidence), "in order, each whole"
    assert bool(shaped.incomplete) == (len(shaped.evidence) < len([item for item in evidence if item.text.strip()]))
