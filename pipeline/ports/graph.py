"""What stages need of one graph: to write, revise, curate and inspect it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from pipeline.findings import Fault, KindFingerprint
from pipeline.models import (
    Document,
    EmbeddingText,
    GraphCounts,
    GraphRecord,
    Pending,
    PlacedDocument,
    StoredDocument,
)
from pipeline.ontology import Ontology
from pipeline.ports.merges import UNTOLD, MergeReason
from pipeline.ports.models import Vectors

Progress = Callable[[], None]
"""Called between units of work; renews the caller's leases and raises when one is lost."""


class GraphWriter(Protocol):
    """Changes one graph, each change under the fence of an epoch."""

    def prepare(self, ontology: Ontology) -> None:
        """Make fence, labels, relation types, indexes; wait until they are operational. Idempotent.

        Must be complete before the first concurrent write: the first MERGE of a new type races.
        """

    def remember_recipe(self, fingerprint: str, settings: str) -> None:
        """Write down what documents of that fingerprint are made with (JSON), so that they can be made so again."""

    def raise_fence(self, epoch: int, *, exclusive: bool) -> None:
        """Move the fence to `epoch`; an exclusive one must be strictly newer. Raises `LeaseLost`."""

    def fence(self) -> int:
        """Read the fence's epoch; raises `GraphMissing` where there is none."""

    def stored(self, ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Look up completely written documents by id; unknown ones are left out."""

    def write(self, documents: Sequence[Document], epoch: int, progress: Progress) -> None:
        """Write documents with all they say, then stamp them. Repeating it changes nothing.

        Raises `LeaseLost`, `GraphUnavailable`, `WriteIncomplete`, `GraphMissing`; `GraphRejected` with
        the names of the documents at fault, once all others are written: `stored` tells which.
        """

    def drop(self) -> None:
        """Remove the graph with all that it holds, fence or not; raises `GraphMissing` where there is none."""

    def make_durable(self) -> None:
        """Wait until all that has been written would survive a crash of the server; raises `GraphUnavailable`."""

    def build_search_indexes(self, dimension: int, progress: Progress) -> None:
        """Build what retrieval searches, for vectors of that width, and wait for it. Idempotent."""


class GraphReviser(Protocol):
    """Replaces and removes the stored documents of one graph, each step under an epoch's fence.

    A document is staged, swapped and cleared, or retired and cleared. Readers see it change in the
    second step only. Each step is harmless to repeat, and `stage`, `clear` and `GraphWriter.write` end what
    a crash left.
    """

    def stage(self, documents: Sequence[Document], epoch: int, progress: Progress) -> None:
        """Write the next versions of stored documents beside them, for no reader.

        Raises as `GraphWriter.write`, but `GraphRejected` for any of them means that none can be relied on.
        """

    def swap(self, document: Document, epoch: int) -> None:
        """Put the staged version in the stored one's place, in one step of two nodes.

        Needs the exclusive lease, so that one who sleeps while writing an older version is fenced off.
        Raises `WriteIncomplete` where this very version is not staged.
        """

    def retire(self, document_id: str, epoch: int) -> bool:
        """Take a document from all readers, in one step; False where there is none. Needs the exclusive lease.

        Raises `WriteIncomplete` where a past version has not been cleared.
        """

    def rename(self, document_id: str, to: Document, epoch: int) -> bool:
        """Give a document the id, path, root and run of another that has its text; False where there is none.

        One step of one node, whose passages `clear` names afterwards; nothing is extracted or embedded anew.
        Needs the exclusive lease. Raises `WriteIncomplete` where the name is taken, or leftovers are in the way.
        """

    def restamp(self, document: Document, epoch: int) -> None:
        """Note from which folder and bytes a stored document is now that has the same content; else nothing."""

    def clear(self, document_ids: Sequence[str], epoch: int, progress: Progress) -> dict[str, int]:
        """Remove what replaced or retired versions alone held, and versions that were never finished or swapped in.

        Gives how many passages of each document went. Where there is nothing of the kind, nothing is done.
        """


class GraphCurator(Protocol):
    """Finalize's side of one graph: what is pending, what is the same, what follows from the mentions.

    Kinds of pending things are `chunk`, `entity` and `relation`; a relation's id is its
    `ids.relation_key`. Changes run under an epoch's fence and raise `LeaseLost` where it is over;
    each is harmless to repeat.
    """

    def pending(self, kind: str, after: int, limit: int) -> list[Pending]:
        """List what is pending of a kind, beyond a place (-1 begins). New things may wait for the next pass."""

    def clear_pending(self, things: Sequence[Pending], epoch: int) -> int:
        """Forget what is done, unless it was marked again since it was listed; gives how many went."""

    def settle(self) -> None:
        """Let the store take in what was written, before a series of merges removes entities."""

    def merge(self, survivor: str, duplicate: str, epoch: int, why: MergeReason = UNTOLD) -> bool:
        """Make two entities one, in one step; False where one is gone or has just changed.

        What both say differently is kept, and listed by `GraphMerges.merges`.
        Needs the exclusive lease: writers rely on the map of merged ids while they hold theirs.
        """

    def derive_entities(self, ids: Sequence[str], epoch: int) -> int:
        """Derive names, descriptions and aliases from all mentions; gives how many entities changed.

        An entity that nothing mentions any more goes. The result does not depend on the order of writes.
        """

    def derive_relations(self, ids: Sequence[str], epoch: int) -> int:
        """Derive facts and their chunks from all supports; gives how many relations changed.

        A relation that no chunk states any more goes.
        """

    def texts(self, kind: str, ids: Sequence[str]) -> list[EmbeddingText]:
        """Look up what to embed: a chunk's text, an entity's name, a relation's fact. Unknown ids are left out."""

    def set_vectors(self, kind: str, rows: Sequence[tuple[str, str, Vectors]], epoch: int) -> None:
        """Store (id, hash of the embedded text, unit vector) rows; ids that are gone are left out."""

    def record_embedder(self, record: GraphRecord) -> GraphRecord:
        """Write down, once, what the graph is made with; gives what is written there.

        Raises `EmbedderMismatch` where model or dimension differ. Another store is the caller's to judge.
        """

    def record_store(self, store_id: str) -> None:
        """Write down that another artifact store is used from now on."""

    def forget_superseded(self, keep_days: int, epoch: int) -> int:
        """Forget a page of the passages that were superseded longer ago than that (0 days: all of them).

        Gives how many went, 0 once none is left.
        """

    def counts(self) -> GraphCounts:
        """Count what the graph holds."""


class GraphInspector(Protocol):
    """Reads all of one graph in bounded pages, to compare it; never writes.

    What is written meanwhile may be seen in part. All raise `GraphMissing` and `GraphUnavailable`.
    """

    def fingerprint(self) -> list[KindFingerprint]:
        """Hash each kind of elements, in a fixed order of kinds and none of elements."""

    def faults(self) -> Iterator[Fault]:
        """Find what contradicts itself in the graph; what is pending may lack what finalize gives it."""

    def unstamped(self) -> Iterator[str]:
        """List the nodes of documents that are not completely written or replaced, see `ids.document_of`."""

    def documents(self) -> Iterator[PlacedDocument]:
        """List the completely written documents, in no order."""

    def recipes(self) -> dict[str, str]:
        """Read what `GraphWriter.remember_recipe` has written down, by fingerprint."""
