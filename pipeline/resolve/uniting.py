"""Groups of entities that are the same by agreements on pairs, none with two members that are kept apart."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from pipeline.resolve.rules import RULES
from pipeline.resolve.values import EXACT, PERSON, Judged, Pair, Verdict

_RANKS = {PERSON: 0, EXACT: 1, RULES: 3}
_RANK_OF_MODELS = 2


def rule(verdicts: Iterable[Judged]) -> dict[Pair, Judged]:
    """Give the verdict that counts of each pair, sorted."""
    ruled: dict[Pair, Judged] = {}
    for one in verdicts:
        other = ruled.setdefault(one.pair, one)
        if _precedence(one) < _precedence(other):
            ruled[one.pair] = one
    return dict(sorted(ruled.items()))


def _precedence(judged: Judged) -> tuple[bool, int, bool, str, str]:
    decided = judged.verdict is not Verdict.UNDECIDED
    return not decided, _rank(judged), judged.verdict is Verdict.SAME, judged.judge, judged.reason


def _rank(judged: Judged) -> int:
    return _RANKS.get(judged.judge, _RANK_OF_MODELS)


class Uniting:
    """Unites what is the same, the surest agreements first.

    Args:
        ruled: The verdict of each pair.
        keyed: Ids of which no two may come together.
        apart: Pairs that may not come together, whatever the verdicts.
    """

    def __init__(self, ruled: Mapping[Pair, Judged], keyed: AbstractSet[str], apart: Collection[Pair]) -> None:
        self._keyed = keyed
        self._foes: dict[str, set[str]] = defaultdict(set)
        different = (pair for pair, one in ruled.items() if one.verdict is Verdict.DIFFERENT)
        for first, second in (*different, *apart):
            self._foes[first].add(second)
            self._foes[second].add(first)
        same = [one for pair, one in ruled.items() if one.verdict is Verdict.SAME]
        self._group: dict[str, set[str]] = {member: {member} for one in same for member in one.pair}
        self._agreed: dict[str, list[tuple[str, Judged]]] = defaultdict(list)
        for one in sorted(same, key=lambda one: (_rank(one), one.pair)):
            self._unite(one)

    @property
    def groups(self) -> list[set[str]]:
        """The groups of two or more, in no order."""
        distinct = {id(group): group for group in self._group.values()}
        return [group for group in distinct.values() if len(group) > 1]

    def together(self, pair: Pair) -> bool:
        """Tell whether both are in one group."""
        return pair[0] in self._group and pair[1] in self._group[pair[0]]

    def reasons(self, survivor: str, group: Collection[str]) -> Iterator[tuple[str, Judged]]:
        """Yield each other member with the agreement that joins it to the survivor, or to one nearer to it."""
        reached, left = {survivor}, deque([survivor])
        while left:
            for member, judged in sorted(self._agreed[left.popleft()]):
                if member in group and member not in reached:
                    reached.add(member)
                    left.append(member)
                    yield member, judged

    def _unite(self, judged: Judged) -> None:
        smaller, larger = sorted((self._group[member] for member in judged.pair), key=len)
        if smaller is not larger:
            if self._must_stay_apart(smaller, larger):
                return
            larger |= smaller
            self._group |= dict.fromkeys(smaller, larger)
        first, second = judged.pair
        self._agreed[first].append((second, judged))
        self._agreed[second].append((first, judged))

    def _must_stay_apart(self, smaller: set[str], larger: set[str]) -> bool:
        if any(not self._foes[member].isdisjoint(larger) for member in smaller if member in self._foes):
            return True
        return not self._keyed.isdisjoint(smaller) and not self._keyed.isdisjoint(larger)
