"""Replaces, removes and renames stored documents: a reader sees the old one or the new one, never a mixture.

The new version is written beside the old one, under a node of its own that no reader looks at, as it
has no content hash. One query over two nodes then swaps them, whatever the document's size; what the
old one alone held is removed afterwards, and nothing reads it any more. Each step can be repeated, and
the next one who writes, retires or renames the document ends what was begun. Rules: ADR 0005.
"""

from collections.abc import Sequence

from pipeline import ids
from pipeline.adapters.falkor import revise_statements as cypher
from pipeline.adapters.falkor import statements
from pipeline.adapters.falkor.clear import clear_documents, read_versions
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.stage import stage_documents
from pipeline.errors import WriteIncomplete
from pipeline.models import Document
from pipeline.ports import Progress


class FalkorReviser:
    """Implements `pipeline.ports.GraphReviser` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph, *, keep_superseded: bool = False) -> None:
        """Change the documents of a graph; replaced passages are kept for citations where it is wanted."""
        self._graph = graph
        self._keep = keep_superseded

    def stage(self, documents: Sequence[Document], epoch: int, progress: Progress) -> None:
        """See `GraphReviser.stage`."""
        stage_documents(self._graph, documents, epoch, progress)

    def swap(self, document: Document, epoch: int) -> None:
        """See `GraphReviser.swap`."""
        swapped = run_fenced(
            self._graph, cypher.SWAP, epoch, id=document.id, next=ids.next_version(document.id),
            past=ids.past_version(document.id), version=statements.version_of(document),
            stamp=statements.stamp_row(document), clearing=statements.CLEARING, keep=self._keep,
        )  # fmt: skip
        if swapped != 1 and not self._is_swapped(document):
            raise WriteIncomplete(f"the new version of document {document.id!r} is not there: it is written again")

    def _is_swapped(self, document: Document) -> bool:
        state = read_versions(self._graph, [document.id]).get(document.id)
        version = (document.content_hash, document.fingerprint, statements.CLEARING)
        return state is not None and (state.content_hash, state.fingerprint, state.writing) == version

    def retire(self, document_id: str, epoch: int) -> bool:
        """See `GraphReviser.retire`."""
        past = ids.past_version(document_id)
        retired = run_fenced(self._graph, cypher.RETIRE, epoch, id=document_id, past=past) > 0
        if not retired and document_id in read_versions(self._graph, [document_id]):
            raise WriteIncomplete(f"a past version of document {document_id!r} is in the way: it is cleared first")
        return retired

    def rename(self, document_id: str, to: Document, epoch: int) -> bool:
        """See `GraphReviser.rename`."""
        place = {"id": to.id, "path": to.path, "run": to.run_id, "root": to.root, "clearing": statements.CLEARING}
        renamed = run_fenced(self._graph, cypher.RENAME, epoch, old=document_id, keep=self._keep, **place) > 0
        if not renamed and document_id in read_versions(self._graph, [document_id]):
            raise WriteIncomplete(f"document {document_id!r} cannot be named {to.id!r}: there is one, or it changes")
        return renamed

    def clear(self, document_ids: Sequence[str], epoch: int, progress: Progress) -> dict[str, int]:
        """See `GraphReviser.clear`."""
        return clear_documents(self._graph, document_ids, epoch, progress)

    def restamp(self, document: Document, epoch: int) -> None:
        """See `GraphReviser.restamp`."""
        told = {"content": document.content_hash, "source": document.source_hash, "root": document.root}
        run_fenced(self._graph, cypher.RESTAMP, epoch, id=document.id, **told)
