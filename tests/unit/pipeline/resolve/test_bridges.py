"""A name that could be either of two others joins neither."""

import random
from itertools import combinations

import pytest

from pipeline.resolve.bridges import doubt_bridges
from pipeline.resolve.resolution import resolve
from pipeline.resolve.rules import judge_grouped, judge_pair
from pipeline.resolve.values import EXACT, PERSON, Judged, Named, Verdict


def entities(names, label="Person"):
    return {str(number): Named(str(number), label, name) for number, name in enumerate(names)}


def judge_all(named):
    return [judge_pair(one, other) for one, other in combinations(named.values(), 2)]


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("Person", ("Pat Smith", "Patrick Smith", "Patricia Smith")),
        ("Person", ("Sam Smith", "Samuel Smith", "Samantha Smith")),
        ("Person", ("Ted Smith", "Edward Smith", "Theodore Smith")),
        ("Person", ("J. K. Smith", "John Kevin Smith", "James Karl Smith")),
        ("Person", ("George Bush", "George W. Bush", "George H. W. Bush")),
        ("Person", ("Sasha Ivanov", "Alexander Ivanov", "Alexandra Ivanov")),
        ("Organization", ("Acme Ltd", "Acme GmbH, Berlin", "Acme GmbH, Munich")),
    ],
)
def test_what_a_bridge_would_bring_together_stays_apart_in_any_order(label, names):
    named = entities(names, label)
    verdicts = judge_all(named)
    for seed in range(5):
        random.Random(seed).shuffle(verdicts)
        told = doubt_bridges(verdicts, named)
        assert [one.pair for one in told] == [one.pair for one in verdicts]
        assert [one.reason for one in told].count("ambiguous") == 2
        assert resolve(told, named).merges == ()


def test_a_pair_that_nobody_has_judged_is_judged():
    named = entities(("Pat Smith", "Patrick Smith", "Patricia Smith"))
    verdicts = [judge_pair(named["0"], named[other]) for other in "12"]
    assert {(one.verdict, one.reason) for one in doubt_bridges(verdicts, named)} == {(Verdict.UNDECIDED, "ambiguous")}


def test_names_that_are_all_the_same_are_left_alone():
    named = entities(("Tim Quill", "Timothy Quill", "Quill, Timothy"))
    verdicts = judge_all(named)
    assert {one.verdict for one in verdicts} == {Verdict.SAME}
    assert doubt_bridges(verdicts, named) == verdicts


def test_only_what_rules_say_is_doubted():
    named = entities(("Pat Smith", "Patrick Smith", "Patricia Smith"))
    for judge in (PERSON, EXACT, "a-model"):
        verdicts = [Judged(("0", other), Verdict.SAME, "so", judge) for other in "12"]
        assert doubt_bridges(verdicts, named) == verdicts


def test_an_acronym_with_one_expansion_is_no_bridge():
    named = entities(
        ("AIHS", "Ashford Island Historical Society", "Ashford Island Historical Society Ltd, Utrecht"), "Club"
    )
    verdicts = [judge_grouped(named["0"], named["1"]), judge_pair(named["1"], named["2"])]
    assert [one.verdict for one in doubt_bridges(verdicts, named)] == [Verdict.SAME] * 2


def test_namesakes_with_other_births_are_not_brought_together_by_one_without():
    named = {
        str(born): Named(str(born), "Person", "Ada Quill", properties={"born": born} if born else {})
        for born in (0, 1960, 1970)
    }
    verdicts = judge_all(named)
    assert resolve(doubt_bridges(verdicts, named), named).merges == ()


def test_a_thousand_equal_names_are_judged_once():
    named = entities(["Ada Quill"] * 1_000 + ["Quill, Ada"])
    verdicts = [judge_pair(named["1000"], named[str(other)]) for other in range(1_000)]
    assert doubt_bridges(verdicts, named) == verdicts
