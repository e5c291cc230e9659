"""What is needed of a graph for the ontology that it is made with: its versions, and candidates for the next one."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.ontology import Ontology


@dataclass(frozen=True, slots=True)
class StoredOntology:
    """A version of a graph's ontology; versions count from 1."""

    number: int
    hash: str
    """Its `Ontology.fingerprint`."""
    settings: str
    """It itself as JSON (`Ontology.model_dump_json`): another release may have written it."""
    at: float
    """When it was stored, in seconds since 1970."""


class OntologyStore(Protocol):
    """The ontology of one graph, version after version. All raise `GraphUnavailable`."""

    def current(self) -> StoredOntology | None:
        """Read the latest version; None where none is stored. Raises `GraphMissing`."""

    def versions(self) -> list[StoredOntology]:
        """Read all versions, the latest first. Raises `GraphMissing`."""

    def put(self, ontology: Ontology, expected: str = "") -> int:
        """Store the next version and make the graph ready for its types; gives its number.

        `expected` is the hash of the version that it follows, '' where there is none; a graph that does not exist is
        made. What is the latest version already stays that. Raises `OntologyChanged` where another one is the latest.
        """


class CandidateState(StrEnum):
    """What was decided about a candidate; a later find changes nothing of it."""

    OPEN = "open"
    """Nobody has decided."""
    REJECTED = "rejected"
    """It never comes back."""
    APPROVED = "approved"
    """The ontology declares it by now."""


@dataclass(frozen=True, slots=True)
class TypeCandidate:
    """Something that texts bear out and the ontology does not declare, and where it was found.

    `kind` is `entity` or `relation`; `source` and `target` are the labels of a relation's ends.
    """

    id: str
    kind: str
    type: str
    source: str
    target: str
    chunks: int
    documents: int
    examples: tuple[str, ...]
    state: CandidateState


class CandidateStore(Protocol):
    """The candidates of one graph; writers put them there. All raise `GraphMissing` and `GraphUnavailable`."""

    def find(self, state: CandidateState | None = None) -> list[TypeCandidate]:
        """List candidates of a state, or all, those of most passages first.

        Only what completely written documents say counts; what none says any more is left out, but for decisions,
        which stay.
        """

    def set_state(self, ids: Sequence[str], state: CandidateState) -> list[str]:
        """Note what was decided; gives the ids that name a candidate."""

    def documents_of(self, ids: Sequence[str]) -> list[str]:
        """List the completely written documents that say one of them, in order."""
