"""Keeps the passages of superseded versions as `__Past__` nodes, so that what was cited is found again for a while.

`(:__Past__ {id, document_id, replaced_at, text, path, version, index, start_char, end_char, page_first,
heading_path})` holds a passage that no version has any more; one with `moved_to` instead of a text was given another
id when its document got another name. `document_id` names the document by which both live and go. What is to be
kept is told by the one step that readers see, on the document's node: `kept_version`, `replaced_at`, `moved_from`.
"""

from collections.abc import Sequence

from pipeline import ids
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.ports import Progress

_PAGE = 500
_DAY_MILLISECONDS = 24 * 60 * 60 * 1000
# What has a text under its old id again as soon as its document's new passages get their names is not kept.
_KEEP = """
UNWIND $rows AS r MATCH (c:Chunk {id: r[0]}) WHERE indegree(c, 'PART_OF') = 1
WITH c, r MATCH (c)<-[part:PART_OF]-(d:Document) WHERE d.id = r[1] AND d.kept_version <> ''
OPTIONAL MATCH (n:Chunk {id: r[0] + $suffix})
WITH c, d, part, r WHERE n IS NULL
MERGE (p:__Past__ {id: r[0]})
SET p = {id: r[0], document_id: r[2], replaced_at: d.replaced_at, text: c.text, path: d.path, version: d.kept_version,
         index: part.index, start_char: c.start_char, end_char: c.end_char, page_first: c.page_first,
         heading_path: c.heading_path}
RETURN count(*)
"""
_KEEP_NAMES = """
UNWIND $rows AS r MATCH (d:Document {id: r[2]}) WHERE d.kept_version <> ''
MERGE (p:__Past__ {id: r[0]})
SET p = {id: r[0], document_id: r[2], replaced_at: d.replaced_at, moved_to: r[1]}
RETURN count(*)
"""
_MARKED = "UNWIND $rows AS id MATCH (d:Document {id: id}) WHERE d.kept_version <> '' RETURN d.id"
_RENAMED = """
UNWIND $rows AS id MATCH (d:Document {id: id}) WHERE d.moved_from <> '' RETURN d.id, d.moved_from, d.replaced_at
"""
# Who takes the old name afterwards keeps passages of its own under it.
_FOLLOW = """
MATCH (p:__Past__ {document_id: $old}) WHERE p.replaced_at <= $at
WITH p LIMIT $limit SET p.document_id = $new RETURN count(p)
"""
_LIVING = "UNWIND $rows AS id MATCH (d:Document {id: id}) WHERE d.content_hash <> '' RETURN d.id"
_KNOWN = "UNWIND $rows AS id MATCH (p:__Past__ {document_id: id}) RETURN DISTINCT id"
_FORGET = "MATCH (p:__Past__ {document_id: $id}) WITH p LIMIT $limit DELETE p RETURN count(p)"
_NOW = "RETURN timestamp()"
_EXPIRED = "MATCH (p:__Past__) WHERE p.replaced_at <= $before RETURN p.id LIMIT $limit"
# Deleted without a scan of their label since they were written, nodes may leave ghosts: see `settle_labels`.
_SETTLE = "MATCH (p:__Past__) RETURN max(ID(p))"
_EXPIRE = "UNWIND $rows AS id MATCH (p:__Past__ {id: id}) WHERE p.replaced_at <= $before DELETE p RETURN count(*)"


def settle_past(graph: FalkorGraph, nodes: Sequence[str], epoch: int, progress: Progress) -> frozenset[str]:
    """Forget what is kept of documents that were removed; gives the nodes whose passages are to be kept.

    `nodes` are about to be discarded; only past versions among them count.
    """
    owners = {node: owner for node in nodes if node == ids.past_version(owner := ids.document_of(node))}
    if not owners:
        return frozenset()
    follow_renames(graph, list(owners), epoch, progress)
    living = {one for (one,) in graph.ro_query(_LIVING, list(owners.values()))}
    removed = [owner for owner in owners.values() if owner not in living]
    for (owner,) in graph.ro_query(_KNOWN, removed) if removed else ():
        while run_fenced(graph, _FORGET, epoch, id=owner, limit=_PAGE):
            progress()
    marked = {node for (node,) in graph.ro_query(_MARKED, list(owners))}
    return frozenset(node for node in marked if owners[node] in living)


def follow_renames(graph: FalkorGraph, nodes: Sequence[str], epoch: int, progress: Progress) -> None:
    """Let what is kept of documents that were renamed go with them."""
    for node, old, at in graph.ro_query(_RENAMED, nodes):
        while run_fenced(graph, _FOLLOW, epoch, old=old, at=at, new=ids.document_of(node), limit=_PAGE):
            progress()


def keep_passages(graph: FalkorGraph, rows: Sequence[Sequence[str]], epoch: int) -> None:
    """Keep a page of [passage, node of its past version] rows, before the passages go."""
    run_fenced(graph, _KEEP, epoch, [[*row, ids.document_of(row[1])] for row in rows], suffix=ids.VERSION_SUFFIX)


def keep_names(graph: FalkorGraph, rows: Sequence[Sequence[str]], epoch: int) -> None:
    """Keep the old ids of a page of [old id, new id, document] rows, before the passages get the new ones."""
    moved = [row for row in rows if ids.document_of(row[0]) != row[1]]
    if moved and graph.ro_query(_MARKED, sorted({document for *_, document in moved})):
        run_fenced(graph, _KEEP_NAMES, epoch, moved)


def forget_superseded(graph: FalkorGraph, keep_days: int, epoch: int) -> int:
    """See `GraphCurator.forget_superseded`."""
    before = int(graph.ro_query(_NOW)[0][0]) - keep_days * _DAY_MILLISECONDS
    expired = [one for (one,) in graph.ro_query(_EXPIRED, before=before, limit=_PAGE)]
    if not expired:
        return 0
    graph.ro_query(_SETTLE)
    return run_fenced(graph, _EXPIRE, epoch, expired, before=before)
