"""What the members of a merge hold together, however many merges it took."""

from pipeline.adapters.falkor.unmerged import Family, Unmerged

LONG = 3_000


def test_a_chain_of_thousands_of_merges_is_folded_with_the_nearest_value_first() -> None:
    own = {str(one): Unmerged({"born": 1960}, frozenset()) for one in range(LONG)}
    own |= {"0": Unmerged({}, frozenset()), str(LONG - 1): Unmerged({"born": 1961, "seat": "Ely"}, frozenset())}
    family = Family("0", own, {str(one): [str(one + 1)] for one in range(LONG - 1)})
    assert family.foreign("0") == {"born": 1960, "born__dropped": [1961], "seat": "Ely"}


def test_a_circle_has_an_end() -> None:
    own = {one: Unmerged({one: 1}, frozenset()) for one in "ab"}
    family = Family("a", own, {"a": ["b"], "b": ["a"]})
    assert (family.foreign("a"), sorted(family.members("b"))) == ({"a": 1, "b": 1}, ["a", "b"])
