"""Which pairs of entities are worth a judge's time, found without asking anybody: near names and equal spellings."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pipeline.ports import Vectors
from pipeline.resolve.values import Pair, pair_of

NEAREST = 5
"""How many of the nearest names are nominated for each pending entity."""
LEAST_COSINE = 0.5
SURE = 1.0
"""What a nomination by spelling or by initials counts: more than a near name can."""

_ROWS, _COLUMNS = 1_024, 8_192
"""A block of cosines: 32 MB."""
_SHORTLIST = 4 * NEAREST
"""How many are compared once more: single precision may order the last ones wrongly."""
_SLACK = np.float32(1e-5)
"""More than single precision errs."""
_DECIMALS = 6
_CROWDED = 64
"""From so many near names a row of a block on, sorting them all takes longer than finding the best first."""

_ALL_PAIRS_UP_TO = 64
_FIRST = 8
"""In a larger group each is paired with so many of the first and its neighbour: pairs grow with its size."""

_Indices = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


def nominate_nearest(
    ids: Sequence[str], labels: Sequence[str], vectors: Vectors, pending: _Flags, keyed: _Flags
) -> dict[Pair, float]:
    """Pair each pending entity with its nearest names of the same label, by cosine; equal ones by id.

    Two keyed entities are never paired: each is what its table says. The order of rows decides nothing.

    Args:
        ids: Of all entities of the graph, each once; everything else runs parallel to them.
        labels: Only equal ones are compared.
        vectors: Of the names, shape (len(ids), dimension), each of length 1; zero or NaN where there is none.
        pending: The rows whose nearest names are looked for.
        keyed: The rows that tables wrote.

    Returns:
        Cosines, from `LEAST_COSINE` on.
    """
    found: dict[Pair, float] = {}
    of_label: dict[str, list[int]] = defaultdict(list)
    for row in sorted(range(len(ids)), key=ids.__getitem__):
        of_label[labels[row]].append(row)
    for members in of_label.values():
        rows = np.array(members, dtype=np.intp)
        unkeyed, asking = rows[~keyed[rows]], rows[pending[rows]]
        for some, asked in ((asking[~keyed[asking]], rows), (asking[keyed[asking]], unkeyed)):
            for row, other, cosine in _nearest(vectors, some, asked):
                found[pair_of(ids[row], ids[other])] = cosine
    return found


def nominate_groups(
    groups: Iterable[Sequence[str]], pending: Container[str], keyed: Container[str]
) -> dict[Pair, float]:
    """Pair the members of groups that their spelling puts together, where one is pending and not both are keyed.

    Such are mentions that are spelled the same, and an acronym with each of the names that it may stand for.
    """
    return {
        pair_of(one, other): SURE
        for group in groups
        for one, other in _pair_up(group)
        if (one in pending or other in pending) and not (one in keyed and other in keyed)
    }


def _pair_up(group: Sequence[str]) -> Iterator[Pair]:
    if len(group) <= _ALL_PAIRS_UP_TO:
        yield from combinations(group, 2)
        return
    for place, one in enumerate(group):
        for other in group[: min(place, _FIRST)]:
            yield other, one
        if place >= _FIRST + 1:
            yield group[place - 1], one


def _nearest(vectors: Vectors, asking: _Indices, asked: _Indices) -> Iterator[tuple[int, int, float]]:
    """Yield the nearest rows `asked` of each row `asking`, itself left out; both are sorted by id."""
    shortlists = [_Shortlist(asking[start : start + _ROWS]) for start in range(0, len(asking), _ROWS)]
    for start in range(0, len(asked), _COLUMNS):
        columns = asked[start : start + _COLUMNS]
        block = vectors[columns].T
        for shortlist in shortlists:
            shortlist.add(vectors[shortlist.rows] @ block, columns, start)
    for shortlist in shortlists:
        yield from shortlist.best(vectors, asked)


class _Shortlist:
    """The best so far of some rows: positions among those asked, and their cosines, as three parallel arrays."""

    def __init__(self, rows: _Indices) -> None:
        self.rows = rows
        self._row = np.empty(0, dtype=np.intp)
        self._position = np.empty(0, dtype=np.intp)
        self._cosine = np.empty(0, dtype=np.float32)
        self._least = np.full(len(rows), LEAST_COSINE, dtype=np.float32) - _SLACK

    def add(self, cosines: Vectors, columns: _Indices, start: int) -> None:
        """Take what is better of a block of cosines, whose columns are `columns`, from position `start` on."""
        near = cosines >= self._least[:, None]
        if np.count_nonzero(near) > _CROWDED * len(self.rows):
            rank = min(_SHORTLIST, cosines.shape[1])
            best = np.partition(cosines, cosines.shape[1] - rank, axis=1)[:, -rank]
            near &= cosines >= best[:, None]
        row, column = np.nonzero(near)
        self._merge(row, column + start, cosines[row, column], self.rows[row] != columns[column])

    def _merge(self, row: _Indices, position: _Indices, cosine: Vectors, other: _Flags) -> None:
        row = np.concatenate((self._row, row[other]))
        position = np.concatenate((self._position, position[other]))
        cosine = np.concatenate((self._cosine, cosine[other]))
        order = np.lexsort((position, -cosine, row))
        row, position, cosine = row[order], position[order], cosine[order]
        kept = _ranks(row) < _SHORTLIST
        self._row, self._position, self._cosine = row[kept], position[kept], cosine[kept]
        last = _ranks(self._row) == NEAREST - 1
        self._least[self._row[last]] = np.maximum(LEAST_COSINE, self._cosine[last]) - _SLACK

    def best(self, vectors: Vectors, asked: _Indices) -> Iterator[tuple[int, int, float]]:
        """Yield the nearest of each row, compared exactly, so that blocks and threads decide nothing."""
        rows, others = self.rows[self._row], asked[self._position]
        exact = np.round(_cosines(vectors, rows, others), _DECIMALS)
        order = np.lexsort((self._position, -exact, self._row))
        order = order[(_ranks(self._row[order]) < NEAREST) & (exact[order] >= LEAST_COSINE)]
        yield from zip(rows[order].tolist(), others[order].tolist(), exact[order].tolist(), strict=True)


def _ranks(row: _Indices) -> _Indices:
    """Number the entries of each row from 0, where equal rows stand together."""
    if not len(row):
        return row
    starts = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
    lengths = np.diff(np.r_[starts, len(row)])
    return np.arange(len(row)) - np.repeat(starts, lengths)


def _cosines(vectors: Vectors, rows: _Indices, others: _Indices) -> npt.NDArray[np.float64]:
    """Multiply rows pairwise in double precision, some at a time."""
    parts = [
        np.einsum(
            "ij,ij->i",
            vectors[rows[start : start + _COLUMNS]],
            vectors[others[start : start + _COLUMNS]],
            dtype=np.float64,
        )
        for start in range(0, len(rows), _COLUMNS)
    ]
    return np.concatenate(parts) if parts else np.empty(0)
