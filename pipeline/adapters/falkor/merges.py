"""The merges and verdicts of a graph, as one object."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pipeline.adapters.falkor import choose, contested, explain, named, undo, verdicts
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.models.judging import Judged, Named, Pair
from pipeline.ports import Vectors
from pipeline.ports.merges import Explanation, MergeRecord, NamePage, StoredVerdict


class FalkorMerges:
    """Implements `pipeline.ports.merges.GraphMerges` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def named(self, ids: Sequence[str]) -> list[Named]:
        """See `GraphMerges.named`."""
        return named.read_named(self._graph, ids)

    def names(self, after: int, limit: int) -> NamePage:
        """See `GraphMerges.names`."""
        return named.list_names(self._graph, after, limit)

    def name_vectors(self, ids: Sequence[str], dimension: int) -> Vectors:
        """See `GraphMerges.name_vectors`."""
        return named.read_name_vectors(self._graph, ids, dimension)

    def choose(self, survivor: str, name: str, keep: Mapping[str, str], epoch: int) -> bool:
        """See `GraphMerges.choose`."""
        return choose.choose(self._graph, survivor, name, keep, epoch)

    def undo(
        self, duplicate: str, epoch: int, progress: Callable[[], object] = lambda: None, *, for_good: bool = True
    ) -> bool:
        """See `GraphMerges.undo`."""
        return undo.undo_merge(self._graph, duplicate, epoch, progress, for_good=for_good)

    def contested(self, ids: Sequence[str]) -> list[str]:
        """See `GraphMerges.contested`."""
        return contested.list_contested(self._graph, ids)

    def merges(self, after: str = "", limit: int = 100, *, number: int = 0) -> list[MergeRecord]:
        """See `GraphMerges.merges`."""
        return explain.list_merges(self._graph, after, limit, number)

    def explain(self, identity: str, places: int = 5) -> Explanation | None:
        """See `GraphMerges.explain`."""
        return explain.explain_entity(self._graph, identity, places)

    def verdicts(self, pairs: Iterable[Pair]) -> dict[Pair, StoredVerdict]:
        """See `GraphMerges.verdicts`."""
        return verdicts.find_verdicts(self._graph, pairs)

    def put_verdicts(self, rows: Sequence[Judged], epoch: int) -> int:
        """See `GraphMerges.put_verdicts`."""
        return verdicts.put_verdicts(self._graph, rows, epoch)

    def undecided(self, after: Pair | None = None, limit: int = 100) -> list[StoredVerdict]:
        """See `GraphMerges.undecided`."""
        return verdicts.list_undecided(self._graph, after, limit)

    def kept_apart(self) -> set[Pair]:
        """See `GraphMerges.kept_apart`."""
        return verdicts.list_kept_apart(self._graph)

    def forget_verdicts(self, epoch: int) -> int:
        """See `GraphMerges.forget_verdicts`."""
        return verdicts.forget_verdicts(self._graph, epoch)
