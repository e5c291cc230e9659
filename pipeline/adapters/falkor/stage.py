"""Writes next versions of stored documents beside them, under nodes of their own that no reader looks at."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pipeline import ids
from pipeline.adapters.falkor import revise_statements as cypher
from pipeline.adapters.falkor import statements
from pipeline.adapters.falkor.clear import end_past, is_unfinished, read_versions
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.discard import discard_documents
from pipeline.adapters.falkor.fence import raise_fence, run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.adapters.falkor.write import check_counts, send_rows
from pipeline.errors import WriteIncomplete
from pipeline.models import Document, Extraction
from pipeline.ports import Progress
from pipeline.write import GraphRows, StoredCounts, extracted_ids, make_rows


def stage_documents(graph: FalkorGraph, documents: Sequence[Document], epoch: int, progress: Progress) -> None:
    """See `GraphReviser.stage`."""
    # Before ids are resolved through merges: a merger whose lease has ended cannot merge in between.
    raise_fence(graph, epoch, exclusive=False)
    found = read_versions(graph, [document.id for document in documents])
    _make_room(graph, documents, found, epoch, progress)
    # With other settings the same passage may say other things: then none is kept.
    same: list[Document] = []
    others: list[Document] = []
    for one in documents:
        (same if one.id in found and found[one.id].fingerprint == one.fingerprint else others).append(one)
    kept = {chunk for (chunk,) in graph.ro_query(cypher.KEPT, [one.id for one in same])}
    merged = resolve_merged(graph, extracted_ids(documents))
    for some, suffix in ((same, ""), (others, ids.VERSION_SUFFIX)):
        if not some:
            continue
        rows = make_rows([_leave_out(document, kept) for document in some], merged, suffix)
        send_rows(graph, some, rows, epoch, progress, staged=True)
        progress()
        _check(graph, rows, kept)
        if suffix:
            for page in fill_pages([one.id.removesuffix(suffix), one.id] for one in rows.chunks):
                run_fenced(graph, cypher.COPY_VECTORS, epoch, page)
    for page in fill_pages([ids.next_version(one.id), statements.version_of(one)] for one in documents):
        run_fenced(graph, cypher.STAGED, epoch, page)


def _make_room(
    graph: FalkorGraph,
    documents: Sequence[Document],
    found: Mapping[str, cypher.Version],
    epoch: int,
    progress: Progress,
) -> None:
    """End what was begun with these documents, and remove next versions of another content."""
    versions = {ids.next_version(one.id): statements.version_of(one) for one in documents}
    stale = [node for node, version in versions.items() if node in found and found[node].writing != version]
    unfinished = [one.id for one in documents if is_unfinished(one.id, found)]
    if stale or unfinished:
        settle_labels(graph)
    # A past version first: what it shares with a stale one goes with the last of them.
    past = [one.id for one in documents if one.id in unfinished or ids.next_version(one.id) in stale]
    if past:
        end_past(graph, past, epoch, progress)
    if stale:
        discard_documents(graph, stale, epoch, progress)


def _check(graph: FalkorGraph, rows: GraphRows, kept: Collection[str]) -> None:
    """Count what is new by itself: what kept passages say would make up for what is missing."""
    check_counts(graph, {ids.next_version(one): StoredCounts(wanted.chunks) for one, wanted in rows.expected.items()})
    new = [[one.id, one.document_id] for one in rows.chunks if one.id not in kept]
    said = {
        name: (int(mentions or 0), int(supports or 0)) for name, mentions, supports in graph.ro_query(cypher.SAID, new)
    }
    for name, expected in rows.expected.items():
        stored = StoredCounts(expected.chunks, *said.get(name, (0, 0)))
        if not stored.covers(expected):
            raise WriteIncomplete(f"document {name!r}: sent {expected}, stored {stored}")


def _leave_out(document: Document, kept: Collection[str]) -> Document:
    """Give the document without what its kept passages say: that is in the graph already."""
    names = (ids.chunk_id(document.id, chunk.text, chunk.occurrence) for chunk in document.chunks)
    pairs = zip(names, document.extractions, strict=True)
    return replace(document, extractions=tuple(Extraction() if one in kept else said for one, said in pairs))
