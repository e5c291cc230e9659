"""Scores of what was found to be one entity: pairwise and B-cubed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.resolve.values import Named


@dataclass(frozen=True, slots=True)
class Item:
    """A name as an entity, the gold entity it stands for, and how many rows bear it."""

    entity: Named
    gold: str
    rows: int


Clusters = Sequence[Sequence[Item]]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall, as shares."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __str__(self) -> str:
        return " / ".join(f"{value:.3f}".lstrip("0") for value in (self.precision, self.recall, self.f1))


def score_pairwise(groups: Clusters, *, by_rows: bool) -> Score:
    """Count pairs of names, or of rows, that are and should be together."""

    def count(some: Iterable[Sequence[Item]]) -> float:
        sizes = (sum(item.rows for item in group) if by_rows else len(group) for group in some)
        return sum(size * (size - 1) / 2 for size in sizes)

    found, wanted = count(groups), count(split([item for group in groups for item in group]))
    right = count(part for group in groups for part in split(group))
    return Score(right / found if found else 1.0, right / wanted if wanted else 1.0)


def score_b_cubed(groups: Clusters) -> Score:
    """Average over names: the share of a name's group that belongs to it, and the share of its entity found there."""
    total = sum(map(len, groups))
    sizes = Counter(item.gold for group in groups for item in group)
    shared = [(len(part), len(group), sizes[part[0].gold]) for group in groups for part in split(group)]
    return Score(
        sum(part * part / group for part, group, _ in shared) / total,
        sum(part * part / gold for part, _, gold in shared) / total,
    )


def split(items: Iterable[Item]) -> list[list[Item]]:
    """Part items by their gold entities; all but one part of a group are wrong merges."""
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        parts[item.gold].append(item)
    return list(parts.values())
