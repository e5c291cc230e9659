"""Replaces, removes and renames stored documents: a reader sees the old one or the new one, never a mixture.

The new version is written beside the old one, under a node of its own that no reader looks at, as it
has no content hash. One query over two nodes then swaps them, whatever the document's size; what the
old one alone held is removed afterwards, and nothing reads it any more. Each step can be repeated, and
the next one who writes, retires or renames the document ends what was begun. Rules: ADR 0005.
"""

import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import batched, pairwise

from pipeline import ids
from pipeline.adapters.falkor import revise_statements as cypher
from pipeline.adapters.falkor import statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.derive import derive_entities, derive_relations
from pipeline.adapters.falkor.discard import Touched, discard_document, read_touched
from pipeline.adapters.falkor.fence import raise_fence, run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.adapters.falkor.write import check_counts, send_rows
from pipeline.errors import WriteIncomplete
from pipeline.models import Document, Extraction
from pipeline.ports import Progress
from pipeline.write import GraphRows, StoredCounts, extracted_ids, make_rows

_PAGE = 500


class FalkorReviser:
    """Implements `pipeline.ports.GraphReviser` for one FalkorDB graph."""

    def __init__(self, graph: FalkorGraph) -> None:
        self._graph = graph

    def stage(self, document: Document, epoch: int, progress: Progress) -> None:
        """See `GraphReviser.stage`."""
        # Before ids are resolved through merges: a merger whose lease has ended cannot merge in between.
        raise_fence(self._graph, epoch, exclusive=False)
        node, version = ids.next_version(document.id), statements.version_of(document)
        found = self._versions([document.id])
        stored, leftover = found.get(document.id), found.get(node)
        stale = leftover is not None and leftover.writing != version
        if stale or _is_unfinished(document.id, found):
            settle_labels(self._graph)
            self._end_past(document.id, epoch, progress)
            if stale:
                discard_document(self._graph, node, epoch)
        # With other settings the same passage may say other things: then none is kept.
        same = stored is not None and stored.fingerprint == document.fingerprint
        kept = {chunk for (chunk,) in self._graph.ro_query(cypher.KEPT, id=document.id)} if same else set()
        suffix = "" if same else ids.VERSION_SUFFIX
        rows = make_rows([_leave_out(document, kept)], resolve_merged(self._graph, extracted_ids([document])), suffix)
        send_rows(self._graph, [document], rows, epoch, progress, node=node)
        progress()
        self._check(document.id, node, rows, kept)
        if suffix:
            pairs = [[one.id.removesuffix(suffix), one.id] for one in rows.chunks]
            for page in batched(pairs, _PAGE):
                run_fenced(self._graph, cypher.COPY_VECTORS, epoch, page)
        run_fenced(self._graph, cypher.STAGED, epoch, id=node, version=version)

    def _check(self, document_id: str, node: str, rows: GraphRows, kept: Collection[str]) -> None:
        """Count what is new by itself: what kept passages say would make up for what is missing."""
        expected = rows.expected[document_id]
        check_counts(self._graph, {node: StoredCounts(expected.chunks)})
        new = [one.id for one in rows.chunks if one.id not in kept]
        mentions, supports = self._graph.ro_query(cypher.SAID, new)[0]
        stored = StoredCounts(expected.chunks, int(mentions or 0), int(supports or 0))
        if not stored.covers(expected):
            raise WriteIncomplete(f"document {document_id!r}: sent {expected}, stored {stored}")

    def swap(self, document: Document, epoch: int) -> None:
        """See `GraphReviser.swap`."""
        swapped = run_fenced(
            self._graph, cypher.SWAP, epoch, id=document.id, next=ids.next_version(document.id),
            past=ids.past_version(document.id), version=statements.version_of(document),
            stamp=statements.stamp_row(document), clearing=statements.CLEARING,
        )  # fmt: skip
        if swapped != 1 and not self._is_swapped(document):
            raise WriteIncomplete(f"the new version of document {document.id!r} is not there: it is written again")

    def _is_swapped(self, document: Document) -> bool:
        state = self._versions([document.id]).get(document.id)
        version = (document.content_hash, document.fingerprint, statements.CLEARING)
        return state is not None and (state.content_hash, state.fingerprint, state.writing) == version

    def retire(self, document_id: str, epoch: int) -> bool:
        """See `GraphReviser.retire`."""
        past = ids.past_version(document_id)
        retired = run_fenced(self._graph, cypher.RETIRE, epoch, id=document_id, past=past) > 0
        if not retired and document_id in self._versions([document_id]):
            raise WriteIncomplete(f"a past version of document {document_id!r} is in the way: it is cleared first")
        return retired

    def rename(self, document_id: str, to: Document, epoch: int) -> bool:
        """See `GraphReviser.rename`."""
        place = {"id": to.id, "path": to.path, "run": to.run_id, "root": to.root, "clearing": statements.CLEARING}
        renamed = run_fenced(self._graph, cypher.RENAME, epoch, old=document_id, **place) > 0
        if not renamed and document_id in self._versions([document_id]):
            raise WriteIncomplete(f"document {document_id!r} cannot be named {to.id!r}: there is one, or it changes")
        return renamed

    def clear(self, document_ids: Sequence[str], epoch: int, progress: Progress) -> dict[str, int]:
        """See `GraphReviser.clear`."""
        found = self._versions(document_ids)
        half = {one for one in document_ids if one in found and not found[one].content_hash}
        unfinished = [
            one for one in document_ids if one in half or _is_unfinished(one, found) or ids.next_version(one) in found
        ]
        if unfinished:
            # Once for all: it takes time that grows with the graph.
            settle_labels(self._graph)
        cleared = {}
        for one in unfinished:
            cleared[one] = self._end_past(one, epoch, progress)
            for node in (ids.next_version(one), *([one] if one in half else [])):
                if node in found:
                    discard_document(self._graph, node, epoch)
        return {one: cleared.get(one, 0) for one in document_ids}

    def restamp(self, document: Document, epoch: int) -> None:
        """See `GraphReviser.restamp`."""
        told = {"content": document.content_hash, "source": document.source_hash, "root": document.root}
        run_fenced(self._graph, cypher.RESTAMP, epoch, id=document.id, **told)

    def _versions(self, document_ids: Sequence[str]) -> dict[str, cypher.Version]:
        """Look up the nodes of documents, and of their past and next versions, as far as there are some."""
        makers = (str, ids.past_version, ids.next_version)
        rows = [make(one) for one in document_ids for make in makers]
        return {node: cypher.Version(*told) for node, *told in self._graph.ro_query(cypher.VERSIONS, rows)}

    def _end_past(self, document_id: str, epoch: int, progress: Progress) -> int:
        touched = discard_document(self._graph, ids.past_version(document_id), epoch)
        progress()
        named = self._name_chunks(document_id, epoch)
        everything = Touched(touched.chunks, touched.entities, touched.relations | named.relations)
        self._derive(everything, epoch, progress)
        self._place_chunks(document_id, epoch)
        self._unlink(document_id, epoch)
        run_fenced(self._graph, cypher.DONE, epoch, id=document_id, clearing=statements.CLEARING)
        return touched.chunks

    def _name_chunks(self, document_id: str, epoch: int) -> Touched:
        """Give passages the names of the document's own: after a renaming, and where one replaced another."""
        suffix = ids.VERSION_SUFFIX
        found = self._graph.ro_query(cypher.TEMPORARY, id=document_id, suffix=suffix)
        rows = [[one, one.removesuffix(suffix)] for (one,) in found]
        if self._graph.ro_query(cypher.FOREIGN, id=document_id)[0][0]:
            seen: Counter[str] = Counter()
            rows = []
            for identity, text in self._graph.ro_query(cypher.TEXTS, id=document_id):
                rows.append([identity, ids.chunk_id(document_id, text, seen[text])])
                seen[text] += 1
        touched = Touched(0)
        for page in batched(rows, _PAGE):
            said = read_touched(self._graph, [before for before, _ in page])
            # Facts name their passages.
            mark_pending(self._graph, said.marks(), secrets.token_hex(8), epoch)
            run_fenced(self._graph, cypher.NAME_CHUNKS, epoch, page, id=document_id)
            touched = Touched(0, touched.entities | said.entities, touched.relations | said.relations)
        return touched

    def _derive(self, touched: Touched, epoch: int, progress: Progress) -> None:
        for page in batched(sorted(touched.relations), _PAGE):
            derive_relations(self._graph, page, epoch)
            # Once more, after: another one's clearing may have taken the last support since it was read.
            mark_pending(self._graph, (("relation", one) for one in page), secrets.token_hex(8), epoch)
            progress()
        for page in batched(sorted(touched.entities), _PAGE):
            derive_entities(self._graph, page, epoch, settled=True)
            progress()

    def _place_chunks(self, document_id: str, epoch: int) -> None:
        """Let passages that were kept tell their new place themselves."""
        moved = self._graph.ro_query(cypher.MOVED, id=document_id)
        steps = (
            (cypher.PLACE_CHUNKS, [one for one, differs in moved if differs]),
            (cypher.FORGET_PLACES, [one for one, _ in moved]),
        )
        for statement, rows in steps:
            for page in batched(rows, _PAGE):
                run_fenced(self._graph, statement, epoch, page, id=document_id)

    def _unlink(self, document_id: str, epoch: int) -> None:
        """Remove the order that passages had in the old version."""
        order = [one for (one,) in self._graph.ro_query(cypher.ORDER, id=document_id)]
        wanted = set(pairwise(order))
        stale = [[a, b] for a, b in self._graph.ro_query(cypher.LINKS, id=document_id) if (a, b) not in wanted]
        for page in batched(stale, _PAGE):
            run_fenced(self._graph, cypher.UNLINK, epoch, page)


def _is_unfinished(document_id: str, found: Mapping[str, cypher.Version]) -> bool:
    """Tell whether a past version of the document is still to be removed."""
    stored = found.get(document_id)
    return (stored is not None and stored.writing == statements.CLEARING) or ids.past_version(document_id) in found


def _leave_out(document: Document, kept: Collection[str]) -> Document:
    """Give the document without what its kept passages say: that is in the graph already."""
    names = (ids.chunk_id(document.id, chunk.text, chunk.occurrence) for chunk in document.chunks)
    pairs = zip(names, document.extractions, strict=True)
    return replace(document, extractions=tuple(Extraction() if one in kept else said for one, said in pairs))
