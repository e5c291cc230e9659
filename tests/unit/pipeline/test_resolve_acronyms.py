"""Which names are acronyms of which, and when there is only one such name."""

import random

import pytest

from pipeline.resolve.acronyms import Expansion, acronym_of, find_expansions, read_acronym
from pipeline.resolve.values import Named

AIHS = "Ashford Island Historical Society"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("AIHS", AIHS),
        ("A.I.H.S.", AIHS),
        ("A. I. H. S.", AIHS),
        ("The AIHS", f"The {AIHS}"),
        ("AIHS Ltd", AIHS),
        ("FBI", "Federal Bureau of Investigation"),
        ("DoE", "Dept. of Energy"),
        ("DOE", "Department of Energy"),
        ("ABC", "American Broadcasting Company"),
        ("ENS", "École Normale Supérieure"),
        ("ОВК", "Островной Великий Клуб"),
        ("AIHSCC", f"{AIHS} and Culture Club"),
    ],
)
def test_an_acronym_is_spelled_by_initials(short, long):
    assert acronym_of(short, long)
    assert not acronym_of(long, short)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("AI", "Ashford Island"),
        ("AIHSCCT", f"{AIHS} Culture Club Trust"),
        ("AIHX", AIHS),
        ("AIH", AIHS),
        ("Aihs", AIHS),
        ("aihs", AIHS),
        ("A1H", "Ashford 1 House"),
        ("ASH", "Ashford"),
        ("", AIHS),
        ("AIHS", ""),
        ("AIHS", "AIHS"),
    ],
)
def test_other_names_are_no_acronyms(short, long):
    assert not acronym_of(short, long)


@pytest.mark.parametrize(("name", "letters"), [("AIHS", "aihs"), ("A.I.H.", "aih"), ("AI", ""), ("Aids", ""), ("", "")])
def test_an_acronym_has_three_to_six_letters_and_is_written_in_capitals(name, letters):
    assert read_acronym(name) == letters


def test_expansions_are_of_the_same_label_and_counted_by_key():
    members = [
        Named("1", "Club", "AIHS"),
        Named("2", "Club", AIHS),
        Named("3", "Club", f"The {AIHS}"),
        Named("4", "Place", "Ashford Island Hill Station"),
        Named("5", "Place", "ABC"),
        Named("6", "Club", "Apple Board Club"),
    ]
    for seed in range(5):
        random.Random(seed).shuffle(members)
        assert find_expansions(members) == [Expansion("Club", "aihs", (AIHS.casefold(),))]


def test_several_expansions_are_all_listed():
    members = [Named("1", "Club", "AIHS"), Named("2", "Club", AIHS), Named("3", "Club", "Alder Inn Hiking Squad")]
    assert find_expansions(members) == [
        Expansion("Club", "aihs", ("alder inn hiking squad", AIHS.casefold()), sure=False)
    ]


def test_a_name_of_very_many_words_is_no_expansion():
    assert find_expansions([Named("1", "T", "ABC"), Named("2", "T", "a of the b " * 2_000 + "c")]) == []


@pytest.mark.parametrize(
    ("label", "short", "long"),
    [
        ("Person", "MAX", "Maria Anna Xu"),
        ("Person", "ANNA", "Ada Nora Nilsen Alm"),
        ("Author", "IAN", "Ida Anna Nowak"),
        ("Customer", "IAN", "Ida Anna Nowak"),
        ("Customer", "ОЛА", "Ольга Львова Андреева"),
    ],
)
def test_what_may_be_a_person_is_never_joined_by_initials(label, short, long):
    (found,) = find_expansions([Named("1", label, short), Named("2", label, long)])
    assert not found.sure


def test_what_no_person_is_called_is_joined_by_initials_under_any_label():
    (found,) = find_expansions([Named("1", "Corvane", "FBI"), Named("2", "Corvane", "Federal Bureau of Investigation")])
    assert found.sure


def test_a_text_in_place_of_a_name_is_no_expansion():
    assert not acronym_of("ABC", "Alder Boat Club" + " " * 300)
