"""Nominated pairs put together into small sets, so that a judge sees at once what may be one and the same."""

from collections.abc import Collection, Container, Iterable, Mapping
from itertools import combinations

from pipeline.resolve.rules import RULES
from pipeline.resolve.values import Judged, Pair, Verdict, pair_of

MOST_MEMBERS = 8


def settle(known: Iterable[Judged]) -> set[Pair]:
    """Give the pairs that a person or a model has decided. What rules said is judged anew: it costs nothing."""
    return {one.pair for one in known if one.verdict is not Verdict.UNDECIDED and one.judge != RULES}


def make_sets(
    nominated: Mapping[Pair, float], settled: Container[Pair], keyed: Container[str]
) -> tuple[tuple[str, ...], ...]:
    """Group nominated pairs into dense sets of ids, sorted; each pair stands in one, at least.

    More than half of a set's pairs are nominated, so a chain of near names is no set. What is left between two sets
    becomes a set of two.

    Args:
        nominated: How near the names of each pair are; the nearest come together first, equal ones by id.
        settled: Pairs nobody is to be asked about, as they are judged or must stay apart: no set holds one.
        keyed: Rows of tables: no set holds two.
    """
    asked = {pair: near for pair, near in nominated.items() if not _is_settled(pair, settled, keyed)}
    clusters: dict[str, tuple[str, ...]] = {one: (one,) for pair in asked for one in pair}
    for first, second in sorted(asked, key=lambda pair: (-asked[pair], pair)):
        one, other = clusters[first], clusters[second]
        if one != other and _make_a_set((*one, *other), asked, settled, keyed):
            clusters |= dict.fromkeys((*one, *other), (*one, *other))
    sets = {tuple(sorted(members)) for members in clusters.values() if len(members) > 1}
    between = {pair for pair in asked if clusters[pair[0]] != clusters[pair[1]]}
    return tuple(sorted(sets | between))


def pairs_of(members: Iterable[str]) -> list[Pair]:
    """List all pairs of some ids."""
    return [pair_of(one, other) for one, other in combinations(members, 2)]


def _make_a_set(
    members: tuple[str, ...], asked: Collection[Pair], settled: Container[Pair], keyed: Container[str]
) -> bool:
    if len(members) > MOST_MEMBERS:
        return False
    pairs = pairs_of(members)
    dense = 2 * sum(pair in asked for pair in pairs) > len(pairs)
    return dense and not any(_is_settled(pair, settled, keyed) for pair in pairs)


def _is_settled(pair: Pair, settled: Container[Pair], keyed: Container[str]) -> bool:
    return pair in settled or (pair[0] in keyed and pair[1] in keyed)
