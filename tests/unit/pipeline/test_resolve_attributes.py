"""Which properties of two entities contradict each other."""

import pytest

from pipeline.resolve.attributes import find_contradiction
from pipeline.resolve.rules import judge_pair
from pipeline.resolve.values import Named, Verdict


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        ({"born": 1960}, {"born": 1961}, "birth"),
        ({"born": "1960"}, {"birthDate": "1961-05-12"}, "birth"),
        ({"date_of_birth": "1960-05-12"}, {"dob": "1960-05-13"}, "birth"),
        ({"born": "12 May 1960"}, {"born": "May 1961"}, "birth"),
        ({"Death Year": 1990}, {"died": 1991}, "death"),
        ({"birthplace": "Port Ember"}, {"placeOfBirth": "Utrecht"}, "birthplace"),
        ({"founded": 1901}, {"founding_date": "1902"}, "founding"),
        ({"ISBN": "978-0-00-000001-1"}, {"isbn": "978-0-00-000002-1"}, "isbn"),
        ({"born": "12 May 1960"}, {"born": "12 June 1960"}, "birth"),
        ({"born": "12. Mai 1960"}, {"born": "12 juin 1960"}, "birth"),
        ({"born": "1960-12-05"}, {"born": "1960-05-12"}, "birth"),
        ({"born": "May 1960"}, {"born": "1960-06-01"}, "birth"),
        ({"born": "5 December 1960"}, {"born": "5/11/1960"}, "birth"),
        ({"founded": "44 BC"}, {"founded": "44 AD"}, "founding"),
        ({"birthplace": "York"}, {"birthplace": "New York"}, "birthplace"),
        ({"birthplace": "Orleans, France"}, {"birthplace": "New Orleans"}, "birthplace"),
        ({"lei": ["A1", "A2"]}, {"lei": "A3"}, "lei"),
        ({"isbn": "12"}, {"isbn": "123"}, "isbn"),
    ],
)
def test_facts_that_never_change_contradict_each_other(one, other, about):
    assert find_contradiction(one, other) == find_contradiction(other, one) == about


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"born": 1960}),
        ({"born": None}, {"born": 1960}),
        ({"born": ""}, {"born": 1960}),
        ({"born": 1960}, {"born": "1960"}),
        ({"born": 1960}, {"born": "12 May 1960"}),
        ({"born": "1960-05-12"}, {"birth_date": "12 May 1960"}),
        ({"born": "1960-5-12"}, {"born": "1960-05-12"}),
        ({"birthplace": "Paris"}, {"birthplace": "Paris, France"}),
        ({"birthplace": "Paris"}, {"birthplace": "Paris France"}),
        ({"birthplace": "Paris"}, {"birthplace": "in the city of Paris (France)"}),
        ({"birthplace": "France"}, {"birthplace": "Paris, France"}),
        ({"born": "5/12/1960"}, {"born": "12/5/1960"}),
        ({"born": "1960-31-12"}, {"born": "31 December 1960"}),
        ({"born": "1960-05-12T00:00:00"}, {"born": "12 maggio 1960"}),
        ({"born": "c. 1960"}, {"born": "May 1960"}),
        ({"birthplace": "Orléans"}, {"birthplace": "ORLEANS"}),
        ({"isbn": "978-0"}, {"isbn": "9780"}),
        ({"born": [1960, 1961]}, {"born": 1961}),
        ({"age": 60, "title": "CEO"}, {"age": 61, "title": "CFO"}),
        ({"born": 1960}, {"died": 1961}),
    ],
)
def test_more_said_nothing_said_or_what_changes_contradicts_nothing(one, other):
    assert find_contradiction(one, other) == find_contradiction(other, one) == ""


def test_namesakes_with_other_dates_of_birth_are_different():
    one, other = (Named(str(year), "Person", "Ada Quill", properties={"born": year}) for year in (1960, 1961))
    judged = judge_pair(one, other)
    assert (judged.verdict, judged.reason) == (Verdict.DIFFERENT, "birth")
