"""Finalize's side of a graph, as one object."""

from collections.abc import Sequence

from pipeline.adapters.falkor import derive, merge, past, pending, record, vectors
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.models import EmbeddingText, GraphCounts, GraphRecord, Pending
from pipeline.ports import Vectors
from pipeline.ports.merges import UNTOLD, MergeReason


class FalkorCurator:
    """Implements `pipeline.ports.GraphCurator` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def pending(self, kind: str, after: int, limit: int) -> list[Pending]:
        """See `GraphCurator.pending`."""
        return pending.list_pending(self._graph, kind, after, limit)

    def clear_pending(self, things: Sequence[Pending], epoch: int) -> int:
        """See `GraphCurator.clear_pending`."""
        return pending.clear_pending(self._graph, things, epoch)

    def settle(self) -> None:
        """See `GraphCurator.settle`."""
        settle_labels(self._graph)

    def merge(self, survivor: str, duplicate: str, epoch: int, why: MergeReason = UNTOLD) -> bool:
        """See `GraphCurator.merge`."""
        return merge.merge_entities(self._graph, survivor, duplicate, epoch, why)

    def derive_entities(self, ids: Sequence[str], epoch: int) -> int:
        """See `GraphCurator.derive_entities`."""
        return derive.derive_entities(self._graph, ids, epoch)

    def derive_relations(self, ids: Sequence[str], epoch: int) -> int:
        """See `GraphCurator.derive_relations`."""
        return derive.derive_relations(self._graph, ids, epoch)

    def texts(self, kind: str, ids: Sequence[str]) -> list[EmbeddingText]:
        """See `GraphCurator.texts`."""
        return vectors.read_texts(self._graph, kind, ids)

    def set_vectors(self, kind: str, rows: Sequence[tuple[str, str, Vectors]], epoch: int) -> None:
        """See `GraphCurator.set_vectors`."""
        vectors.set_vectors(self._graph, kind, rows, epoch)

    def record_embedder(self, record_wanted: GraphRecord) -> GraphRecord:
        """See `GraphCurator.record_embedder`."""
        return record.record_embedder(self._graph, record_wanted)

    def record_store(self, store_id: str) -> None:
        """See `GraphCurator.record_store`."""
        record.record_store(self._graph, store_id)

    def forget_superseded(self, keep_days: int, epoch: int) -> int:
        """See `GraphCurator.forget_superseded`."""
        return past.forget_superseded(self._graph, keep_days, epoch)

    def counts(self) -> GraphCounts:
        """See `GraphCurator.counts`."""
        return record.count_graph(self._graph)
