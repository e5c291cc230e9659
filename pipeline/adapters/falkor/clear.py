"""Removes what past versions of documents alone held; nothing reads that any more. Many documents in each query."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import batched, pairwise

from pipeline import ids
from pipeline.adapters.falkor import revise_statements as cypher
from pipeline.adapters.falkor import statements
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.derive import derive_entities, derive_relations
from pipeline.adapters.falkor.discard import Touched, discard_documents, read_touched
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.past import follow_renames, keep_names
from pipeline.adapters.falkor.pending import mark_pending
from pipeline.adapters.falkor.settle import settle_labels
from pipeline.ports import Progress

_PAGE = 500


def clear_documents(graph: FalkorGraph, document_ids: Sequence[str], epoch: int, progress: Progress) -> dict[str, int]:
    """See `GraphReviser.clear`."""
    found = read_versions(graph, document_ids)
    half = {one for one in document_ids if one in found and not found[one].content_hash}
    unfinished = [
        one for one in document_ids if one in half or is_unfinished(one, found) or ids.next_version(one) in found
    ]
    if not unfinished:
        return dict.fromkeys(document_ids, 0)
    # Once for all: it takes time that grows with the graph.
    settle_labels(graph)
    gone = end_past(graph, unfinished, epoch, progress)
    # Apart, as they may share passages.
    discard_documents(graph, [node for one in unfinished if (node := ids.next_version(one)) in found], epoch, progress)
    discard_documents(graph, sorted(half), epoch, progress)
    return {one: gone[ids.past_version(one)] for one in document_ids}


def read_versions(graph: FalkorGraph, document_ids: Sequence[str]) -> dict[str, cypher.Version]:
    """Look up the nodes of documents, and of their past and next versions, as far as there are some."""
    makers = (str, ids.past_version, ids.next_version)
    rows = [make(one) for one in document_ids for make in makers]
    return {node: cypher.Version(*told) for node, *told in graph.ro_query(cypher.VERSIONS, rows)}


def is_unfinished(document_id: str, found: Mapping[str, cypher.Version]) -> bool:
    """Tell whether a past version of the document is still to be removed."""
    stored = found.get(document_id)
    return (stored is not None and stored.writing == statements.CLEARING) or ids.past_version(document_id) in found


def end_past(graph: FalkorGraph, document_ids: Sequence[str], epoch: int, progress: Progress) -> Counter[str]:
    """End the change of documents; gives how many passages of each past version's node went.

    The caller has let the engine settle its labels.
    """
    follow_renames(graph, document_ids, epoch, progress)
    gone, touched = discard_documents(graph, [ids.past_version(one) for one in document_ids], epoch, progress)
    progress()
    touched.relations.update(_name_chunks(graph, document_ids, epoch, progress))
    _derive(graph, touched, epoch, progress)
    _place_chunks(graph, document_ids, epoch, progress)
    _unlink(graph, document_ids, epoch, progress)
    run_fenced(graph, cypher.DONE, epoch, document_ids, clearing=statements.CLEARING)
    return gone


def _name_chunks(graph: FalkorGraph, document_ids: Sequence[str], epoch: int, progress: Progress) -> set[str]:
    """Give passages the names of their documents' own: after a renaming, and where one replaced another.

    Gives the relations whose facts name them.
    """
    suffix = ids.VERSION_SUFFIX
    names: defaultdict[str, list[list[str]]] = defaultdict(list)
    for document, chunk in graph.ro_query(cypher.TEMPORARY, document_ids, suffix=suffix):
        names[document].append([chunk, chunk.removesuffix(suffix), document])
    foreign = [document for (document,) in graph.ro_query(cypher.FOREIGN, document_ids)]
    for document in foreign:
        seen: Counter[str] = Counter()
        names[document] = []
        for chunk, text in graph.ro_query(cypher.TEXTS, id=document):
            names[document].append([chunk, ids.chunk_id(document, text, seen[text]), document])
            seen[text] += 1
    relations: set[str] = set()
    for page in batched((row for rows in names.values() for row in rows), _PAGE):
        said = read_touched(graph, [before for before, *_ in page])
        mark_pending(graph, said.marks(), secrets.token_hex(8), epoch)
        keep_names(graph, page, epoch)
        run_fenced(graph, cypher.NAME_CHUNKS, epoch, page)
        relations.update(said.relations)
        progress()
    return relations


def _derive(graph: FalkorGraph, touched: Touched, epoch: int, progress: Progress) -> None:
    for page in batched(sorted(touched.relations), _PAGE):
        derive_relations(graph, page, epoch)
        # Once more, after: another one's clearing may have taken the last support since it was read.
        mark_pending(graph, (("relation", one) for one in page), secrets.token_hex(8), epoch)
        progress()
    for page in batched(sorted(touched.entities), _PAGE):
        derive_entities(graph, page, epoch, settled=True)
        progress()


def _place_chunks(graph: FalkorGraph, document_ids: Sequence[str], epoch: int, progress: Progress) -> None:
    """Let passages that were kept tell their new place themselves."""
    moved = graph.ro_query(cypher.MOVED, document_ids)
    placed = [[chunk, document] for document, chunk, differs in moved if differs]
    _run_pages(graph, cypher.PLACE_CHUNKS, placed, epoch, progress)
    _run_pages(graph, cypher.FORGET_PLACES, [[chunk, document] for document, chunk, _ in moved], epoch, progress)


def _unlink(graph: FalkorGraph, document_ids: Sequence[str], epoch: int, progress: Progress) -> None:
    """Remove the order that passages had in the old version."""
    order: defaultdict[str, list[str]] = defaultdict(list)
    for document, chunk in graph.ro_query(cypher.ORDER, document_ids):
        order[document].append(chunk)
    wanted = {pair for chunks in order.values() for pair in pairwise(chunks)}
    links = graph.ro_query(cypher.LINKS, document_ids)
    _run_pages(graph, cypher.UNLINK, [[a, b] for a, b in links if (a, b) not in wanted], epoch, progress)


def _run_pages(graph: FalkorGraph, statement: str, rows: Sequence[list[str]], epoch: int, progress: Progress) -> None:
    for page in batched(rows, _PAGE):
        run_fenced(graph, statement, epoch, page)
        progress()
