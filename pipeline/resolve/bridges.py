"""What pairs say together: a name that could be either of two others is not enough to be one of them."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from pipeline.resolve.attributes import facts_of
from pipeline.resolve.rules import RULES, judge_pair
from pipeline.resolve.values import Judged, Named, Pair, Verdict, pair_of

AMBIGUOUS = "ambiguous"
_SETTLED = "acronym"
"""An agreement for this reason is phase 1's, which has looked at all names."""


def doubt_bridges(verdicts: Iterable[Judged], named: Mapping[str, Named]) -> list[Judged]:
    """Leave open what rules call the same, where that would bring together two that they do not call the same.

    Pat Smith may be Patrick Smith and may be Patricia Smith, so it is neither. Each agreement is weighed against those
    that were given, never against what became of them: the order of anything decides nothing.

    Args:
        verdicts: Of any judge; only agreements of rules are ever changed.
        named: The entities of them by id. Pairs between them that nobody has judged are judged here.
    """
    given = list(verdicts)
    known = {one.pair: one.verdict is Verdict.SAME for one in given if one.judge == RULES}
    agreed: dict[str, set[str]] = defaultdict(set)
    for one in given:
        if _is_doubtful(one):
            agreed[one.pair[0]].add(one.pair[1])
            agreed[one.pair[1]].add(one.pair[0])
    doubted = {pair for one in agreed for pair in _find_ambiguous(one, agreed[one], known, named)}
    return [
        replace(one, verdict=Verdict.UNDECIDED, reason=AMBIGUOUS) if one.pair in doubted and _is_doubtful(one) else one
        for one in given
    ]


def _is_doubtful(one: Judged) -> bool:
    return one.judge == RULES and one.verdict is Verdict.SAME and one.reason != _SETTLED


def _find_ambiguous(
    one: str, others: Iterable[str], known: dict[Pair, bool], named: Mapping[str, Named]
) -> Iterable[Pair]:
    """List the agreements of one entity with two others that are not the same."""
    alike: dict[Hashable, list[str]] = defaultdict(list)
    for other in sorted(others):
        alike[_what_is_judged(named[other])].append(other)
    for ours, theirs in combinations(alike.values(), 2):
        if not _are_same(ours, theirs, known, named):
            yield from (pair_of(one, other) for other in (*ours, *theirs))


def _are_same(ours: Sequence[str], theirs: Sequence[str], known: dict[Pair, bool], named: Mapping[str, Named]) -> bool:
    pair = pair_of(ours[0], theirs[0])
    if pair not in known:
        known[pair] = judge_pair(named[pair[0]], named[pair[1]]).verdict is Verdict.SAME
    return known[pair]


def _what_is_judged(one: Named) -> Hashable:
    """Give what rules look at: entities that are equal in it are the same to each other and to all others."""
    facts = tuple((about, tuple(values)) for about, values in sorted(facts_of(one.properties).items()))
    return one.label, one.merged_labels, one.name, one.aliases, one.keyed and one.id, facts
