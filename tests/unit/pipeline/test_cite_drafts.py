"""The citation check on drafts as models write them, and on what they never should."""

import random
import time

import pytest

from pipeline.cite import Unsupported, check_citations, cited_numbers

EVIDENCE = {
    1: "Initech runs 40 offices, one of them in Oslo. It earned 2.8 million in 2019.",
    2: "Globex was founded by Dr. Ann Müller. Its software has the version 3.8.18.",
    3: "名古屋 Works sold 1\u202f234\u202f567 pumps; Müller GmbH & Co. KG bought 3 % of them.",
}
SAYINGS = (
    *("Globex", "Ann Müller", "the U.S. Senate", "Dr. Smith", "Müller GmbH & Co. KG", "名古屋", "İstanbul", "O’Neill"),
    *(
        "2.80",
        "3.8.18",
        "1,234,567",
        "1 234",
        "-7",
        ".5",
        "3 %",
        "1e9",
        "٣",
        "½",
        "№ 5",
        "the graph does not say",
        "but",
    ),
    *(
        "e.g.",
        "i.e.",
        "etc.",
        "no. 5",
        "a.m.",
        "J. R. R.",
        "cf.",
        "…",
        "?!",
        "。",
        "\u2028",
        "\u202e",
        "\x00",
        "🙂",
        "ﬁ",
    ),
)
MARKS = (
    *(
        "[1]",
        "[2, 3]",
        "[1-3]",
        "[3–1]",
        "[9]",
        "[0]",
        "[7-999999999]",
        "[[1]]",
        "[[1], [2]]",
        "[1",
        "1]",
        "[]",
        "[1,]",
    ),
    *("[^1]", "[1](http://a.b/2)", "[1]: http://a.b", "［1］", "[ 1 ; 2 ]", "[1][", "][1]", "[a1]", "\\[1]", "[1\n]"),
    *(
        "`",
        "```",
        "~~~",
        "``",
        "\n",
        "\n\n",
        "| ",
        " |",
        "\n|---|---|\n",
        "\n# ",
        "\n- ",
        "\n1. ",
        "\n> ",
        "**",
        "(",
        ")",
    ),
    *("&lt;", "<b>", "</context>", "[Source: a.txt]", '"', "“", "—", "; ", ". ", ".", ", ", " "),
)


def write_draft(chance: random.Random, pieces: int) -> str:
    said = [chance.choice(SAYINGS if chance.random() < 0.5 else MARKS) for _ in range(pieces)]
    return "".join(piece + chance.choice(("", " ")) for piece in said)


@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_generated_drafts_never_crash_the_checker(seed):
    chance = random.Random(seed)
    for _ in range(50):
        draft = write_draft(chance, chance.randint(1, 400))
        verdict = check_citations(draft, EVIDENCE)
        assert set(verdict.cited) <= EVIDENCE.keys(), draft
        assert not set(verdict.invalid) & EVIDENCE.keys(), draft
        assert set(verdict.cited) == set(cited_numbers(draft)) & EVIDENCE.keys(), draft
        assert verdict.grounded == bool(verdict.cited and not verdict.invalid), draft
        assert [c for c in verdict.answer if c.isalpha()] == [c for c in draft if c.isalpha()], "no word is lost"
        plain = " ".join(verdict.answer.split())
        sentences = (*verdict.uncited, *(one.sentence for one in verdict.unsupported))
        assert all(sentence in plain for sentence in sentences), draft


PROSE = (
    "Initech runs 40 offices [1]. However, Ann Müller of Globex earned 2.80 million [1, 2].\n\n| Globex | 3 |\n- So.\n"
)


@pytest.mark.parametrize("unit", [PROSE, write_draft(random.Random(5), 120)], ids=["prose", "hostile"])
def test_eight_times_the_draft_takes_about_eight_times_as_long(unit):
    def seconds(chars):
        draft = (unit * (chars // len(unit) + 1))[:chars]
        started = time.process_time()
        check_citations(draft, EVIDENCE)
        return time.process_time() - started

    small, large = (min(seconds(chars) for _ in range(3)) for chars in (12_000, 96_000))
    # A step that is quadratic would make it 64 times.
    assert large < 24 * small


def test_a_draft_with_claims_that_lack_a_number_or_support_is_grounded_all_the_same():
    verdict = check_citations("Initech runs 41 offices [1]. Globex is in Bergen.", EVIDENCE)
    assert verdict.grounded
    assert verdict.uncited == ("Globex is in Bergen.",)
    assert verdict.unsupported == (Unsupported("Initech runs 41 offices [1].", ("41",)),)


@pytest.mark.parametrize("draft", ["", "Initech runs 40 offices.", "So it is [4].", "`[1]`"])
def test_a_draft_that_cites_no_real_evidence_is_not_grounded(draft):
    assert not check_citations(draft, EVIDENCE).grounded


@pytest.mark.parametrize(
    ("draft", "missing"),
    [
        ("Globex acquired Initech [1].", ("Globex",)),
        ("Globex acquired Initech [2].", ("Initech",)),
        ("Globex acquired Initech [1, 2].", ()),
        ("The software is at 3.8.18 [2].", ()),
        ("The software is at 3.8 [2].", ("3.8",)),
        ("Revenue was 2.800 million in 2019.0 [1].", ()),
        ("It sold 1,234,567 pumps [3].", ()),
        ("It was founded by Dr. Ann Müller [2].", ()),
        ("It was founded by DR. ANN MU\u0308LLER [2].", ()),
        ("The buyer was Müller GmbH & Co. KG [3].", ()),
        ("The U.S. Senate met in Oslo [1].", ("U.S. Senate",)),
        ("| Initech | 41 [1] |", ("41",)),
        ("So it is `Bergen 1990`, says Initech [1].", ()),
        ("So it is [[1]], in Bergen.", ("Bergen",)),
    ],
)
def test_decimals_abbreviations_tables_code_and_brackets_do_not_mislead_the_check(draft, missing):
    verdict = check_citations(draft, EVIDENCE)
    assert verdict.unsupported == ((Unsupported(draft, missing),) if missing else ())
    assert verdict.uncited == ()
