"""Walks through all of a graph in pages of bounded size, by internal node ids, with GRAPH.RO_QUERY only.

What is written meanwhile may be seen or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.falkor.client import FalkorGraph

_NODES = 2_000
"""Nodes of one page."""
_LOAD = 5_000
"""Edges of one page; a node with more is a page of its own, and is read in slices."""


@dataclass(frozen=True, slots=True)
class Page:
    """Nodes of one label with internal ids in (after, last], and the number of edges that make them heavy."""

    label: str
    after: int
    last: int
    load: int


def list_pages(graph: FalkorGraph, label: str, load: str = "0") -> Iterator[Page]:
    """Cut the nodes of a label into pages; `load` is an expression that counts the edges of a node `n`.

    Raises `GraphMissing`, `GraphUnavailable`.
    """
    # The engine scans a label in the order of internal ids.
    cypher = f"MATCH (n:{label}) WHERE ID(n) > $after RETURN ID(n), {load} LIMIT {_NODES}"
    after = -1
    while found := graph.ro_query(cypher, after=after):
        last, total = after, 0
        for identity, own in found:
            if total and total + own > _LOAD:
                yield Page(label, after, last, total)
                after, total = last, 0
            last, total = identity, total + own
        yield Page(label, after, last, total)
        after = last


def read_page(graph: FalkorGraph, page: Page, cypher: str) -> Iterator[list[Any]]:
    """Give the rows of a query that goes on from the nodes `n` of a page."""
    begin = f"MATCH (n:{page.label}) WHERE ID(n) > $after AND ID(n) <= $last WITH n {cypher}"
    if page.load <= _LOAD:
        yield from graph.ro_query(begin, after=page.after, last=page.last)
        return
    place = 0
    while rows := graph.ro_query(f"{begin} SKIP {place} LIMIT {_LOAD}", after=page.after, last=page.last):
        yield from rows
        place += len(rows)


def list_documents(graph: FalkorGraph) -> Iterator[list[str]]:
    """Give id, path, root, source hash, fingerprint and table order of each completely written document."""
    place = "n.id, n.path, coalesce(n.root, '')"
    cypher = f"WHERE n.content_hash IS NOT NULL RETURN {place}, n.source_hash, n.fingerprint, coalesce(n.table, '')"
    for page in list_pages(graph, "Document"):
        yield from read_page(graph, page, cypher)
