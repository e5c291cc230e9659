"""The side of a graph that comparisons read, as one object."""

from collections.abc import Iterator

from pipeline.adapters.falkor import fingerprint, record, scan, verify
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.findings import Fault, KindFingerprint
from pipeline.models import PlacedDocument


class FalkorInspector:
    """Implements `pipeline.ports.GraphInspector` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def fingerprint(self) -> list[KindFingerprint]:
        """See `GraphInspector.fingerprint`."""
        return fingerprint.fingerprint_graph(self._graph)

    def faults(self) -> Iterator[Fault]:
        """See `GraphInspector.faults`."""
        return verify.find_faults(self._graph)

    def unstamped(self) -> Iterator[str]:
        """See `GraphInspector.unstamped`."""
        return verify.list_unstamped(self._graph)

    def documents(self) -> Iterator[PlacedDocument]:
        """See `GraphInspector.documents`."""
        return (PlacedDocument(*row) for row in scan.list_documents(self._graph))

    def recipes(self) -> dict[str, str]:
        """See `GraphInspector.recipes`."""
        return record.list_recipes(self._graph)
