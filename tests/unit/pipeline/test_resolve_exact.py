"""What equal names and initials settle without a judge, and which of a group survives."""

import random
from itertools import pairwise

import pytest

from pipeline.resolve.merges import ExactPlan, Merge, plan_exact, rank_survivor
from pipeline.resolve.values import Named

AIHS = "Ashford Island Historical Society"


def row(key: str, name: str, label: str = "Club", **values: int) -> Named:
    return Named(f"KEY:{label}:{key}", label, name, keyed=True, **values)


def club(identity: str, name: str) -> Named:
    return Named(identity, "Club", name)


RANKED = [
    row("1", "AIHS"),
    Named("a", "Club", AIHS, degree=1),
    Named("b", "Club", f"The {AIHS}", description="Old."),
    Named("c", "Club", f"The {AIHS}"),
    Named("d", "Club", AIHS),
    Named("e", "Club", AIHS),
    Named("f", "Club", "AIHS", description="Long and old.", degree=9),
    Named("g", "Club", AIHS, description="Long and old.", degree=9, properties={"is_stub": True}),
]


def test_the_survivor_is_a_row_then_real_then_long_then_connected_described_longest_smallest():
    for seed in range(10):
        shuffled = RANKED[:]
        random.Random(seed).shuffle(shuffled)
        assert rank_survivor(shuffled) == RANKED


@pytest.mark.parametrize(("better", "worse"), list(pairwise(RANKED)))
def test_each_step_of_the_ranking_decides_between_two(better, worse):
    both = [better, worse]
    # Alone with a long form, an acronym is one; two acronyms are equals in that.
    assert rank_survivor([worse, better]) == both


def test_a_short_name_is_no_acronym_where_no_member_is_spelled_by_it():
    short, long = Named("1", "Club", "AIHS", degree=1), Named("2", "Club", "Aihs")
    assert rank_survivor([long, short]) == [short, long]


def test_mentions_go_into_the_only_row_of_their_name():
    plan = plan_exact([club("1", "AIHS"), club("2", f"The {AIHS}"), row("7", AIHS)])
    assert plan == ExactPlan((Merge("KEY:Club:7", "1"), Merge("KEY:Club:7", "2")), (), (), frozenset())


def test_two_rows_are_never_merged_nor_a_mention_that_both_could_own():
    plan = plan_exact([row("1", "Acme"), row("2", "ACME Ltd"), club("m", "Acme"), club("n", "acme inc")])
    assert plan.merges == ()
    assert plan.protected == {(one, mention) for one in ("KEY:Club:1", "KEY:Club:2") for mention in "mn"}
    assert plan.groups == (("n", "m"),)


def test_many_rows_of_one_name_are_no_pairs():
    plan = plan_exact(row(str(number), "Unknown") for number in range(2_000))
    assert plan == ExactPlan((), (), (), frozenset())


def test_mentions_alone_are_left_to_a_judge():
    plan = plan_exact([club("1", "Acme"), club("2", "ACME Ltd."), club("3", "Globex")])
    assert plan == ExactPlan((), (("2", "1"),), (), frozenset())


def test_an_acronym_joins_its_only_expansion_of_the_same_label():
    other = Named("4", "Place", "Ashford Island Hill Station")
    plan = plan_exact([club("1", "AIHS"), club("2", AIHS), club("3", f"The {AIHS}"), other])
    assert plan.groups == (("3", "2", "1"),)
    assert plan.ambiguous == ()


def test_an_acronym_of_several_names_is_left_alone():
    plan = plan_exact([club("1", "AIHS"), club("2", AIHS), club("3", "Alder Inn Hiking Squad"), club("4", "A.I.H.S.")])
    assert plan.groups == (("4", "1"),)
    assert plan.ambiguous == (("1", "2"), ("1", "3"), ("2", "4"), ("3", "4"))


def test_labels_blank_names_and_repeated_ids_make_no_group():
    assert plan_exact([club("1", "Acme"), Named("2", "Place", "Acme")]) == ExactPlan((), (), (), frozenset())
    assert plan_exact([club("1", " "), club("2", "")]) == ExactPlan((), (), (), frozenset())
    assert plan_exact([club("1", "Acme"), club("1", "Acme")]) == ExactPlan((), (), (), frozenset())


def test_the_order_of_arrival_decides_nothing():
    members = [
        *(
            club(f"{number}", ("Acme", "ACME Ltd", "ABC", "A.B.C.", "Alder Boat Club")[number % 5])
            for number in range(20)
        ),
        row("1", "Globex"),
        row("2", "Globex"),
        club("g", "Globex"),
        row("3", "Initech"),
        club("i", "The Initech"),
    ]
    plans = []
    for seed in range(10):
        random.Random(seed).shuffle(members)
        plans.append(plan_exact(members))
    assert all(plan == plans[0] for plan in plans)
    assert [len(group) for group in plans[0].groups] == [8, 12]


@pytest.mark.parametrize(("label", "groups"), [("Company", 1), ("Concept", 1), ("Person", 0), ("Customer", 0)])
def test_a_legal_form_is_taken_off_where_the_name_cannot_be_a_persons(label, groups):
    plan = plan_exact([Named("1", label, "Ada Quill Ltd"), Named("2", label, "Ada Quill")])
    assert len(plan.groups) == groups


def test_a_mention_of_a_person_goes_into_no_row_by_its_initials():
    plan = plan_exact([row("1", "Maria Anna Xu", "Person"), Named("2", "Person", "MAX")])
    assert (plan.merges, plan.ambiguous) == ((), (("2", "KEY:Person:1"),))
