"""Which pairs are nominated: near names of one label, and what spelling puts together."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resolve import nominate
from pipeline.resolve.nominate import LEAST_COSINE, NEAREST, nominate_groups, nominate_nearest
from pipeline.resolve.values import Pair, pair_of

DIMENSION = 8


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def make(seed, size, labels=2, keyed=0.2, spread=0.6):
    """Make names that lie near each other, some of them at the same place."""
    random = np.random.default_rng(seed)
    vectors = unit(random.standard_normal((size, DIMENSION)) * spread + 1)
    copies = random.integers(0, size, size // 4)
    vectors[random.integers(0, size, size // 4)] = vectors[copies]
    return (
        [f"e{number:03d}" for number in random.permutation(size)],
        [f"L{number}" for number in random.integers(0, labels, size)],
        vectors,
        random.random(size) < 0.5,
        random.random(size) < keyed,
    )


def nominate_slowly(ids, labels, vectors, pending, keyed):
    exact = vectors.astype(np.float64)
    found = {}
    for row in np.flatnonzero(pending):
        cosines = {
            other: round(float(exact[row] @ exact[other]), 6)
            for other in range(len(ids))
            if other != row and labels[other] == labels[row] and not (keyed[row] and keyed[other])
        }
        near = sorted((-cosine, ids[other]) for other, cosine in cosines.items() if cosine >= LEAST_COSINE)
        found |= {pair_of(ids[row], other): -cosine for cosine, other in near[:NEAREST]}
    return found


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([(1_024, 8_192, 64), (7, 5, 64), (3, 16, 0)]))
def test_the_nearest_names_are_exact_whatever_the_blocks(seed, size, blocks):
    rows, columns, crowded = blocks
    names = make(seed, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nominate, "_ROWS", rows)
        patch.setattr(nominate, "_COLUMNS", columns)
        patch.setattr(nominate, "_CROWDED", crowded)
        found = nominate_nearest(*names)
    slow = nominate_slowly(*names)
    assert found.keys() == slow.keys()
    assert all(found[pair] == pytest.approx(slow[pair], abs=2e-6) for pair in found)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_the_order_of_names_decides_nothing(seed, size):
    ids, labels, vectors, pending, keyed = make(seed, size)
    order = np.random.default_rng(seed).permutation(size)
    shuffled = [ids[row] for row in order], [labels[row] for row in order], vectors[order], pending[order], keyed[order]
    assert nominate_nearest(*shuffled) == nominate_nearest(ids, labels, vectors, pending, keyed)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4))
def test_shards_of_the_pending_bring_together_what_the_whole_brings(seed, size, shards):
    ids, labels, vectors, pending, keyed = make(seed, size)
    found = {}
    for shard in range(shards):
        found |= nominate_nearest(ids, labels, vectors, pending & (np.arange(size) % shards == shard), keyed)
    assert found == nominate_nearest(ids, labels, vectors, pending, keyed)


def test_names_that_are_equally_near_are_taken_by_id():
    ids = [f"e{number}" for number in range(9)]
    vectors = np.tile(unit(np.ones((1, DIMENSION))), (9, 1))
    pending = np.arange(9) == 8
    found = nominate_nearest(ids, ["Person"] * 9, vectors, pending, np.zeros(9, bool))
    assert sorted(found) == [(f"e{number}", "e8") for number in range(NEAREST)]
    assert set(found.values()) == {1.0}


@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_a_name_without_a_vector_is_near_nothing(bad):
    vectors = np.vstack((np.full((1, DIMENSION), bad), unit(np.ones((2, DIMENSION))))).astype(np.float32)
    flags = np.ones(3, bool), np.zeros(3, bool)
    assert set(nominate_nearest(["a", "b", "c"], ["Person"] * 3, vectors, *flags)) == {("b", "c")}


def test_a_name_is_near_from_the_least_cosine_on():
    vectors = np.zeros((3, DIMENSION), np.float32)
    vectors[0, 0] = 1
    vectors[1, :4] = 0.5
    vectors[2, :5] = unit(np.array([[0.4999, 0.5, 0.5, 0.5, 0.5]]))
    flags = np.array([True, False, False]), np.zeros(3, bool)
    assert nominate_nearest(["a", "b", "c"], ["Person"] * 3, vectors, *flags) == {("a", "b"): 0.5}


def test_nothing_is_looked_for_where_nothing_is_pending():
    ids, labels, vectors, _, keyed = make(1, 20)
    assert nominate_nearest(ids, labels, vectors, np.zeros(20, bool), keyed) == {}


def test_a_group_brings_pairs_of_which_one_is_pending_and_not_both_are_rows_of_tables():
    groups = [("a", "b", "c"), ("d", "e")]
    found = nominate_groups(groups, pending={"a"}, keyed={"a", "b"})
    assert set(found) == {("a", "c")}
    everything = nominate_groups(groups, pending=set("abcde"), keyed=set())
    assert set(everything) == {*combinations("abc", 2), ("d", "e")}


def test_pairs_of_a_large_group_grow_with_its_size_and_join_all_its_members():
    def pair_up(size: int) -> dict[Pair, float]:
        members = [f"{number:04}" for number in range(size)]
        return nominate_groups([members], pending=set(members), keyed=set())

    assert len(pair_up(60)) == 60 * 59 // 2
    found = pair_up(2_000)
    assert len(found) < 2_000 * 10
    firsts = {one for one, other in found if other == "1999"}
    assert firsts == {f"{number:04}" for number in range(8)} | {"1998"}
