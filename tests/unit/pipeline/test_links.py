from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.models import WHOLE_GRAPH, Evidence, FoundRelation, Scope
from pipeline.ports import Vectors
from pipeline.retrieve.links import cap_relations, follow_links, share_hops

VECTOR = np.ones(1, dtype=np.float32)


@dataclass
class Relations:
    """Answers `relations_of` from pairs of ends with their similarity, as a reader does."""

    pairs: dict[tuple[str, str], float]
    asked: list[list[str]] = field(default_factory=list)

    def relations_of(self, entity_ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[FoundRelation]:
        self.asked.append(list(entity_ids))
        touching = [pair for pair in self.pairs if set(pair) & set(entity_ids)]
        ranked = sorted(touching, key=lambda pair: (-self.pairs[pair], pair))[:k]
        return [
            FoundRelation(Evidence("relation", f"{one}-{other}", "", self.pairs[one, other]), one, other)
            for one, other in ranked
        ]


def follow(pairs: dict[tuple[str, str], float], seeds: Sequence[str], hops: int, cap: int) -> tuple[list, bool]:
    reader = Relations(pairs)
    found, more = follow_links(seeds, hops, cap, VECTOR, WHOLE_GRAPH, reader)  # type: ignore[arg-type]
    return [(one.evidence.id, one.evidence.hop) for one in found], more


def test_several_hops_are_capped_by_the_passages_and_one_by_what_is_asked_for():
    assert cap_relations(20, 15, 1) == 20
    assert cap_relations(20, 3, 1) == 12
    assert cap_relations(100, 15, 1) == 40
    assert cap_relations(20, 15, 2) == 40
    assert cap_relations(20, 4, 5) == 16
    assert cap_relations(0, 15, 3) == 0


@pytest.mark.parametrize(
    ("cap", "found", "shares"),
    [
        (40, [100, 100], [20, 20]),
        (40, [100, 100, 100], [14, 13, 13]),
        (40, [5, 100], [5, 35]),
        (40, [100, 5], [35, 5]),
        (40, [5, 5, 100], [5, 5, 30]),
        (10, [3, 0, 0, 2, 100], [2, 0, 0, 2, 6]),
        (2, [9, 9, 9], [1, 1, 0]),
        (40, [1, 2], [1, 2]),
        (0, [4], [0]),
        (7, [], []),
    ],
)
def test_each_hop_has_its_share_and_what_one_leaves_goes_to_others(cap, found, shares):
    assert share_hops(cap, found) == shares


@given(st.integers(0, 60), st.lists(st.integers(0, 60), max_size=5))
def test_shares_use_the_cap_and_no_more(cap, found):
    shares = share_hops(cap, found)
    assert all(0 <= share <= count for share, count in zip(shares, found, strict=True))
    assert sum(shares) == min(cap, sum(found))


def test_hops_are_numbered_and_a_relation_counts_at_its_first_one_only():
    pairs = {("a", "b"): 0.5, ("b", "c"): 0.9, ("c", "d"): 0.9, ("c", "a"): 0.1}
    assert follow(pairs, ["a"], 1, 9) == ([("a-b", 1), ("c-a", 1)], False)
    assert follow(pairs, ["a"], 2, 9) == ([("a-b", 1), ("c-a", 1), ("b-c", 2), ("c-d", 2)], False)
    assert follow(pairs, ["d"], 5, 9) == ([("c-d", 1), ("b-c", 2), ("c-a", 2), ("a-b", 3)], False)


def test_a_busy_first_hop_crowds_nobody_out():
    pairs = {("a", f"b{i:02}"): 0.9 for i in range(50)} | {("b00", "deep"): 0.1}
    found, more = follow(pairs, ["a"], 2, 10)
    assert ("b00-deep", 2) in found
    assert len(found) == 10
    assert more


def test_what_an_earlier_hop_cut_is_not_told_as_of_a_later_one():
    pairs = {("a", f"b{i:02}"): 0.9 for i in range(30)}
    found, _ = follow(pairs, ["a"], 3, 6)
    assert {hop for _, hop in found} == {1}


def test_one_hop_says_whether_more_is_there():
    pairs = {("a", f"b{i}"): 0.9 for i in range(4)}
    assert follow(pairs, ["a"], 1, 4)[1] is False
    assert follow(pairs, ["a"], 1, 3)[1] is True


def test_nothing_is_asked_without_seeds_or_with_no_relation_wanted():
    reader = Relations({("a", "b"): 1.0})
    assert follow_links([], 3, 9, VECTOR, WHOLE_GRAPH, reader) == ([], False)  # type: ignore[arg-type]
    assert follow_links(["a"], 3, 0, VECTOR, WHOLE_GRAPH, reader) == ([], False)  # type: ignore[arg-type]
    assert reader.asked == []
