"""Dense sets: what is put before a judge together."""

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve.rules import RULES
from pipeline.resolve.sets import MOST_MEMBERS, make_sets, pairs_of, settle
from pipeline.resolve.values import PERSON, Judged, Verdict, pair_of

IDS = st.sampled_from("abcdefghijklmnop")
PAIRS = st.tuples(IDS, IDS).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: pair_of(*pair))
NOMINATED = st.dictionaries(PAIRS, st.sampled_from([0.5, 0.7, 0.9, 1.0]), max_size=60)


@given(NOMINATED, st.sets(PAIRS, max_size=12), st.sets(IDS, max_size=3), st.randoms(use_true_random=False))
def test_sets_are_dense_small_and_cover_what_is_nominated(nominated, settled, keyed, shuffle):
    sets = make_sets(nominated, settled, keyed)
    asked = {pair for pair in nominated if pair not in settled and not keyed.issuperset(pair)}
    covered = set()
    for members in sets:
        pairs = pairs_of(members)
        assert 1 < len(members) <= MOST_MEMBERS
        assert list(members) == sorted(set(members))
        assert 2 * sum(pair in asked for pair in pairs) > len(pairs)
        assert settled.isdisjoint(pairs)
        assert len(keyed.intersection(members)) < 2
        covered.update(pairs)
    assert asked <= covered
    larger = [member for members in sets if len(members) > 2 for member in members]
    assert len(larger) == len(set(larger))
    rows = list(nominated.items())
    shuffle.shuffle(rows)
    assert make_sets(dict(rows), settled, keyed) == sets


def test_what_is_all_near_is_one_set():
    assert make_sets(dict.fromkeys(combinations("abcdefgh", 2), 0.9), (), ()) == (tuple("abcdefgh"),)


def test_a_chain_of_four_is_no_set():
    chain = {("a", "b"): 0.9, ("b", "c"): 0.8, ("c", "d"): 0.7}
    assert make_sets(chain, (), ()) == (("a", "b", "c"), ("c", "d"))


def test_the_nearest_come_together_first():
    assert make_sets({("a", "b"): 0.6, ("b", "c"): 0.7, ("c", "d"): 0.8}, (), ()) == (("a", "b"), ("b", "c", "d"))


def test_nine_near_names_are_a_set_of_eight_and_pairs():
    sets = make_sets(dict.fromkeys(combinations("abcdefghi", 2), 0.9), (), ())
    assert sorted(map(len, sets)) == [2] * 8 + [8]


def test_a_row_of_a_table_never_meets_another_beside_a_mention():
    assert make_sets({("m", "r"): 0.9, ("m", "s"): 0.9}, (), {"r", "s"}) == (("m", "r"), ("m", "s"))


def test_what_was_judged_is_not_asked_again():
    near = dict.fromkeys(combinations("abc", 2), 0.9)
    assert make_sets(near, {("a", "b")}, ()) == (("a", "c"), ("b", "c"))
    assert make_sets(near, set(near), ()) == ()


def test_what_rules_said_or_left_open_is_judged_anew():
    known = [
        Judged(("a", "b"), Verdict.SAME, "", "provider/model"),
        Judged(("a", "c"), Verdict.DIFFERENT, "", PERSON),
        Judged(("a", "d"), Verdict.UNDECIDED, "", "provider/model"),
        Judged(("a", "e"), Verdict.DIFFERENT, "", RULES),
    ]
    assert settle(known) == {("a", "b"), ("a", "c")}


def test_many_pairs_are_grouped_quickly():
    chooser = random.Random(1)
    nominated = {pair_of(*chooser.sample(range(3_000), 2)): chooser.random() for _ in range(10_000)}
    nominated = {(f"{one:05}", f"{other:05}"): near for (one, other), near in nominated.items()}
    sets = make_sets(nominated, (), ())
    assert set(nominated) <= {pair for members in sets for pair in pairs_of(members)}
