import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cite import Unsupported, check_citations, cited_numbers

EVIDENCE = {
    1: "Alice works at Acme Corp since 2019. Its revenue was 2.8 million, from 1,234,567 units.",
    2: "They were planning two mergers with Corvane.",
    3: "Globex was acquired by Dr. Müller's fund.",
    4: "Initech opened an office in Oslo.",
}


def check(draft):
    return check_citations(draft, EVIDENCE)


@pytest.mark.parametrize(
    ("draft", "cited"),
    [
        ("Alice works at Acme Corp [1].", (1,)),
        ("So it is [1, 4].", (1, 4)),
        ("So it is [1-3].", (1, 2, 3)),
        ("So it is [3 – 4; 1].", (1, 3, 4)),
        ("So it is [3-1].", (1, 2, 3)),
        ("So it is [1][2].", (1, 2)),
        ("So it is. [1]", (1,)),
        ("So [[1]] it is.", (1,)),
    ],
)
def test_markers_cite_one_item_a_list_or_a_range(draft, cited):
    result = check(draft)
    assert result.cited == cited
    assert result.grounded
    assert result.invalid == ()
    assert result.answer == draft


@pytest.mark.parametrize(
    ("draft", "answer", "cited", "invalid"),
    [
        ("So it is [9].", "So it is.", (), (9,)),
        ("[9] So it is.", "So it is.", (), (9,)),
        ("So it is [1, 9].", "So it is [1].", (1,), (9,)),
        ("So it is [3-6].", "So it is [3, 4].", (3, 4), (5, 6)),
        ("So [8] it [1] is [0].", "So it [1] is.", (1,), (0, 8)),
        ("So it is [1-999999999].", "So it is.", (), (1, 999999999)),
    ],
)
def test_numbers_that_point_at_nothing_leave_the_answer(draft, answer, cited, invalid):
    result = check(draft)
    assert (result.answer, result.cited, result.invalid) == (answer, cited, invalid)
    assert not result.grounded


@pytest.mark.parametrize(
    "draft",
    [
        "See [Acme](https://example.com/1).",
        "See [1](https://example.com).",
        "See this.[^1]",
        "[1]: https://example.com",
        "So `a[1]` it is.",
        "So:\n```python\na[1] = b[9]\n```\n",
        "So:\n~~~\na[1]",
        "So [one] it is [a1] [1a] [1.5] [] [1234567890].",
    ],
)
def test_links_footnotes_and_code_are_not_markers(draft):
    result = check(draft)
    assert (result.answer, result.cited, result.invalid) == (draft, (), ())
    assert not result.grounded


def test_cited_numbers_tells_which_evidence_to_look_up():
    assert cited_numbers("A [3], b [1, 9], c [5-7], `d[2]`, [1-999999999].") == (1, 3, 5, 6, 7, 9)


@pytest.mark.parametrize(
    ("draft", "missing"),
    [
        ("It was 2.80 million [1].", ()),
        ("It was 02.8 million [1].", ()),
        ("It sold 1234567 units [1].", ()),
        ("It sold 1'234'567.0 units [1].", ()),
        ("It was 28 million [1].", ("28",)),
        ("It planned 2 mergers [2].", ("2",)),
        ("It was 2.8 million [2].", ("2.8",)),
        ("It was 2.8 million [1, 2].", ()),
        ("We met Ann there [2].", ("Ann",)),
        ("Corvane Systems ships [2].", ("Corvane Systems",)),
        ("CORVANE ships from there [2].", ()),
        ("Globex acquired Initech [3].", ("Initech",)),
        ("Initech was acquired by Mu\u0308ller [3].", ("Initech",)),
        ("Revenue grew [2].", ()),
        ("However, Acme Corp grew [1].", ()),
        ("The Acme Corp grew [1].", ()),
        ("She moved to Bergen [4].", ("Bergen",)),
        ("Alice, of Acme Corp, left Oslo [1-4].", ()),
        ("Boeing 747 flew there [4].", ("747",)),
    ],
)
def test_figures_and_names_must_stand_in_the_cited_evidence(draft, missing):
    result = check(draft)
    assert result.unsupported == ((Unsupported(draft, missing),) if missing else ())
    assert result.uncited == ()
    assert result.grounded, "warnings never change the verdict"


@pytest.mark.parametrize(
    "sentence",
    [
        "Alice works at Acme Corp.",
        "Globex does not provide pensions.",
        "Globex Inc. does not provide pensions.",
        "It opened in 2019.",
        "She moved to Oslo.",
        "Nothing was shredded by Globex.",
        "No documents were shredded by Globex.",
        "The graph does not say who founded Globex, but Initech Ltd was founded by Bob.",
        "The results of Acme Corp do not matter.",
    ],
)
def test_a_claim_without_a_number_of_its_own_is_listed(sentence):
    assert check(sentence).uncited == (sentence,)


@pytest.mark.parametrize(
    "sentence",
    [
        "The graph does not say who founded Globex.",
        "However, the graph doesn't say who founded Globex in 1990.",
        "The retrieved evidence contains no information about Globex Corporation.",
        "There is no information on Globex Corporation in 2020.",
        "I could not find who founded Globex.",
        "We were unable to find Globex.",
        "No passages were found for Globex.",
        "Nothing in the graph names Globex.",
        "The search for Globex returned nothing.",
        "The founder of Globex is not mentioned in the provided context.",
        "None of the sources mention Globex.",
        "Based on the provided context, I cannot determine when Globex was founded.",
    ],
)
def test_saying_that_the_evidence_lacks_something_needs_no_number(sentence):
    assert check(sentence).uncited == ()


@pytest.mark.parametrize(
    ("draft", "missing"),
    [
        ("I could not find the date, Carl Zorn stole 40 million [1].", ("40", "Carl Zorn")),
        ("I could not find the date: Carl Zorn stole 40 million [1, 2].", ("40", "Carl Zorn")),
        ("No sources mention Bob, Carl Zorn stole 40 million from Acme [1].", ("40", "Carl Zorn")),
        ("The evidence does not mention it, and Berlin was founded in 1237 [1].", ("1237", "Berlin")),
        ("The evidence does not mention it (Carl Zorn was there) [1].", ("Carl Zorn",)),
        ("The evidence does not mention it - it opened in 1990 [1].", ("1990",)),
        ("The evidence does not mention Bob, who stole 40 million [1].", ("40",)),
        ("Carl Zorn stole it, its date is not stated [1].", ("Carl Zorn",)),
        ("The graph does not say, it costs 40 million [1].", ("40",)),
        ("I could not find it, revenue: 40 million [1].", ("40",)),
    ],
)
def test_a_claim_beside_what_is_lacking_must_stand_in_the_evidence(draft, missing):
    assert check(draft).unsupported == (Unsupported(draft, missing),)


@pytest.mark.parametrize(
    "sentence",
    [
        "The graph does not say who founded Globex, Initech, and Acme Corp.",
        "The graph does not say who founded Globex, when it was founded in 1990, or why Bob left.",
        "The founder of Globex, Ann Smith, is not mentioned in the evidence.",
        "The evidence does not mention Globex and its founder Ann Smith in 1990.",
        "I could not find who founded Globex, and the sources do not mention Ann Smith.",
        "Based on the context, I cannot determine when Globex was founded, or by whom in 1990.",
        "There is no information on Ann, Bob, or Carl in 2020, 2021 and 2022.",
    ],
)
def test_the_rest_of_what_is_lacking_needs_no_number(sentence):
    assert check(sentence).uncited == ()


@pytest.mark.parametrize(
    "sentence", ["It is so.", "This works well.", "Yes.", "Sources:", "", "…", "# Acme Corp in 2019"]
)
def test_a_sentence_that_states_no_figure_or_name_needs_no_number(sentence):
    assert check(sentence).uncited == ()


def test_each_sentence_needs_its_own_number():
    draft = "Alice works at Acme Corp. [1] She met Dr. Smith of the U.S. Senate in Oslo. It was 2019 [1]. So be it!"
    assert check(draft).uncited == ("She met Dr. Smith of the U.S. Senate in Oslo.",)


def test_lists_quotes_tables_and_wrapped_lines_are_cut_where_a_reader_would():
    draft = (
        "## Acme Corp, 2019\n\n"
        "Alice works at\nAcme Corp [1].\n\n"
        "1. She lives in Oslo\n2. It began in\n   2019 [1]\n"
        "> Bob left\n> Initech.\n\n"
        "| Company | Year 2020 |\n|---|---|\n| Acme Corp | 2019 [1] |\n| Foo Bar | 1990 |\n"
    )
    assert check(draft).uncited == ("She lives in Oslo", "Bob left > Initech.", "| Foo Bar | 1990 |")


def test_code_makes_no_claims():
    assert check("So:\n```\nAcme Corp = 1990\n```\nand `Foo Bar` too.").uncited == ()


def test_addresses_make_no_claims():
    assert check("See https://example.com/Foo/2019 and [this](https://example.com/1990) too.").uncited == ()


MARKUP = (
    "[",
    "]",
    "[1]",
    "[1-",
    "[9, 2]",
    "[^1]",
    "](",
    ")",
    "`",
    "```",
    "\n",
    "\n\n",
    "|",
    "|--|",
    "- ",
    "# ",
    "> ",
    "**",
)
WORDS = (
    "Acme Corp",
    " ",
    "Dr. ",
    "U.S.",
    "2.80",
    "1,234,567",
    "1,",
    "the graph does not say",
    " but ",
    "no evidence of",
)
ODD = ("é", "e\u0301", "İ", "ß", "🙂", "\u202e", "\x00", "٣", "—", "…", "。", ".", "1.", "https://a.b/1")
PIECES = st.sampled_from(MARKUP + WORDS + ODD)


@settings(max_examples=250)
@given(st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=40).map("".join)))
def test_no_draft_breaks_the_check(draft):
    result = check(draft)
    assert set(result.cited) <= EVIDENCE.keys()
    assert result.grounded == (bool(result.cited) and not result.invalid)
    again = check_citations(result.answer, EVIDENCE)
    assert set(again.cited) <= set(result.cited)
    if not result.invalid:
        assert result.answer == draft
    for sentence in (*result.uncited, *(one.sentence for one in result.unsupported)):
        assert sentence in " ".join(result.answer.split())


REPEATED_MARKUP = ("[", "[1,", "`", "`a", "```\n", "|", "](", "> ", ".*", "http://", "[1-100]", "[1-999999999]")
REPEATED_WORDS = (".", ". ", ".x", " ", "1,111", "Acme ", "the  ", "no evidence of ", "Alice works at Acme [1-100]. ")


@pytest.mark.parametrize("unit", REPEATED_MARKUP + REPEATED_WORDS)
def test_time_grows_linearly_with_the_draft(unit):
    evidence = {number: f"Item {number} of Acme Corp" for number in range(1, 500)}
    draft = (unit * (50_000 // len(unit))) + "x"
    started = time.process_time()
    check_citations(draft, evidence)
    # A quadratic step over 50,000 characters takes far longer; a linear check a fraction of a second.
    assert time.process_time() - started < 5
