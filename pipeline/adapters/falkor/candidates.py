"""Candidates for a graph's ontology: read, and decided on. Writers make them, in the queries of a write."""

from collections.abc import Sequence

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.candidates import pick_examples
from pipeline.ports import CandidateState, TypeCandidate

# As readers do: what is not completely written, or on its way out, says nothing.
_FOUND = "(k)-[x:FOUND_IN]->(c:Chunk)<-[:PART_OF]-(d:Document) WHERE d.content_hash <> ''"
# A decision stays in sight when nothing says it any more, so that it can be repeated or taken back.
_LIST = f"""
MATCH (k:__Candidate__) WHERE k.state IN $rows
OPTIONAL MATCH {_FOUND}
WITH k, x, c, d ORDER BY c.id
WITH k, count(DISTINCT c) AS chunks, count(DISTINCT d) AS documents, collect(x.examples)[0..$examples] AS examples
WHERE chunks > 0 OR k.state <> '{CandidateState.OPEN.value}'
RETURN k.id, k.kind, k.type, coalesce(k.source, ''), coalesce(k.target, ''), chunks, documents, examples, k.state
"""
_SET_STATE = "UNWIND $rows AS id MATCH (k:__Candidate__ {id: id}) SET k.state = $state RETURN DISTINCT id"
_DOCUMENTS = (
    f"UNWIND $rows AS id MATCH (k:__Candidate__ {{id: id}}) WITH k MATCH {_FOUND} RETURN DISTINCT d.id ORDER BY d.id"
)
_FINDS_ASKED = 10


class FalkorCandidates:
    """Implements `pipeline.ports.CandidateStore` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def find(self, state: CandidateState | None = None) -> list[TypeCandidate]:
        """See `CandidateStore.find`."""
        states = [state.value] if state else [one.value for one in CandidateState]
        rows = self._graph.ro_query(_LIST, states, examples=_FINDS_ASKED)
        found = [
            TypeCandidate(
                *(identity, kind, name, source, target),
                chunks=int(chunks),
                documents=int(documents),
                examples=pick_examples(text for texts in examples for text in texts or ()),
                state=CandidateState(stored),
            )
            for identity, kind, name, source, target, chunks, documents, examples, stored in rows
        ]
        return sorted(found, key=lambda one: (-one.chunks, one.id))

    def set_state(self, ids: Sequence[str], state: CandidateState) -> list[str]:
        """See `CandidateStore.set_state`."""
        # Asked first: a query that may write would make an empty graph of a missing one.
        self._graph.ro_query("MATCH (k:__Candidate__) RETURN count(k)")
        return sorted(one for (one,) in self._graph.query(_SET_STATE, list(ids), state=state.value))

    def documents_of(self, ids: Sequence[str]) -> list[str]:
        """See `CandidateStore.documents_of`."""
        return [document for (document,) in self._graph.ro_query(_DOCUMENTS, list(ids))]
