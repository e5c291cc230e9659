"""The versions of a graph's ontology: one node each, numbered, and named by its hash."""

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.schema import prepare_schema
from pipeline.errors import GraphRejected, OntologyChanged
from pipeline.ontology import Ontology
from pipeline.ports import StoredOntology

_VERSIONS = "MATCH (o:__Ontology__) RETURN o.number, o.hash, o.settings, o.at ORDER BY o.number DESC"
_CURRENT = f"{_VERSIONS} LIMIT 1"
# One query, and numbers are unique: of two who follow one version, one wins.
_PUT = """
OPTIONAL MATCH (o:__Ontology__)
WITH o ORDER BY o.number DESC LIMIT 1
WITH coalesce(o.hash, '') AS hash, coalesce(o.number, 0) + 1 AS number
WHERE hash = $expected AND hash <> $hash
CREATE (n:__Ontology__ {number: number, hash: $hash, settings: $settings, at: timestamp()})
RETURN n.number
"""


class FalkorOntologies:
    """Implements `pipeline.ports.OntologyStore` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def current(self) -> StoredOntology | None:
        """See `OntologyStore.current`."""
        found = self._graph.ro_query(_CURRENT)
        return _version(*found[0]) if found else None

    def versions(self) -> list[StoredOntology]:
        """See `OntologyStore.versions`."""
        return [_version(*row) for row in self._graph.ro_query(_VERSIONS)]

    def put(self, ontology: Ontology, expected: str = "") -> int:
        """See `OntologyStore.put`."""
        prepare_schema(self._graph, ontology)
        told = {"hash": ontology.fingerprint, "settings": ontology.model_dump_json()}
        try:
            if stored := self._graph.query(_PUT, expected=expected, **told):
                return int(stored[0][0])
        except GraphRejected:
            # Two at once may have taken one number: who has it is looked up below.
            if self._hash() == expected:
                raise
        present = self.current()
        if present is None or present.hash != ontology.fingerprint:
            raise OntologyChanged(
                f"the ontology of graph {self._graph.name!r} was changed in the meantime: "
                f"look at it (`graphmill ontology show --graph {self._graph.name}`) and give the command again"
            )
        return present.number

    def _hash(self) -> str:
        present = self.current()
        return present.hash if present else ""


def _version(number: int, digest: str, settings: str, at: int) -> StoredOntology:
    return StoredOntology(int(number), digest, settings, at / 1000)
