"""The fence: one node whose epoch every change must reach, so that a writer of the past writes nothing."""

from contextlib import suppress
from typing import Any, NoReturn

from pipeline.adapters.falkor.client import FalkorGraph, Rows
from pipeline.errors import GraphMissing, LeaseLost

FENCE = "MATCH (f:__Fence__ {scope: 'graph'}) WHERE f.epoch <= $epoch SET f.epoch = $epoch WITH f "
"""Begins every changing query; where the epoch has passed, nothing after it runs."""

_ANYTHING = "MATCH (n) RETURN 1 LIMIT 1"
_RAISE = "MATCH (f:__Fence__ {{scope: 'graph'}}) WHERE f.epoch {order} $epoch SET f.epoch = $epoch RETURN count(f)"


def raise_fence(graph: FalkorGraph, epoch: int, *, exclusive: bool) -> None:
    """Move the fence to `epoch`; an exclusive epoch must be strictly newer.

    Raises `LeaseLost` where the fence is ahead, `GraphMissing` where there is none.
    """
    # Asked first: a query that may write would make an empty graph of a missing one.
    read_fence(graph)
    if not graph.query(_RAISE.format(order="<" if exclusive else "<="), epoch=epoch)[0][0]:
        explain_refusal(graph, epoch)


def read_fence(graph: FalkorGraph) -> int:
    """Read the fence's epoch; raises `GraphMissing` where there is none."""
    found = graph.ro_query("MATCH (f:__Fence__ {scope: 'graph'}) RETURN f.epoch")
    if not found:
        raise GraphMissing(f"graph {graph.name!r} was never prepared: it has no fence")
    return int(found[0][0])


def run_fenced(graph: FalkorGraph, cypher: str, epoch: int, rows: Rows | None = None, **parameters: Any) -> int:
    """Run a change behind the fence; `cypher` must end in one count, which is returned.

    A count of zero is looked into: raises `LeaseLost` or `GraphMissing` where the fence explains it.
    """
    count = int(graph.query(FENCE + cypher, rows, epoch=epoch, **parameters)[0][0])
    if count:
        return count
    try:
        if read_fence(graph) > epoch:
            explain_refusal(graph, epoch)
    except GraphMissing:
        _remove_ghost(graph)
        raise
    return count


def _remove_ghost(graph: FalkorGraph) -> None:
    """Remove the empty graph that a change makes of one that was dropped under it; one being prepared has indexes.

    Labels tell nothing: later engines make those that a change names before they look for anything.
    """
    with suppress(GraphMissing):
        if not graph.ro_query(_ANYTHING) and not graph.ro_query("CALL db.indexes() YIELD label RETURN label"):
            graph.delete()


def explain_refusal(graph: FalkorGraph, epoch: int) -> NoReturn:
    """Raise what a change of zero rows means where the fence is the reason."""
    raise LeaseLost(f"epoch {epoch} is over in graph {graph.name!r}: the fence stands at {read_fence(graph)}")
