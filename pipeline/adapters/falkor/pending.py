"""What finalize still has to look at: `(:__Pending__ {id, kind, mark})`, one node a thing."""

from collections.abc import Iterable, Sequence

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.models import Pending

# In the order of internal node ids, which the engine scans without a sort; a freed id may be given to
# a node that is new, which then waits for the next pass.
_LIST = """
MATCH (p:__Pending__) WHERE ID(p) > $after AND p.kind = $kind
RETURN p.id, p.mark, ID(p) LIMIT $limit
"""
_MARK = """
UNWIND $rows AS r MERGE (p:__Pending__ {id: r[0]})
ON CREATE SET p.kind = r[1], p.mark = $mark ON MATCH SET p.mark = $mark
RETURN count(*)
"""
_CLEAR = "UNWIND $rows AS r MATCH (p:__Pending__ {id: r[0]}) WHERE p.mark = r[1] DELETE p RETURN count(*)"


def list_pending(graph: FalkorGraph, kind: str, after: int, limit: int) -> list[Pending]:
    """Give one page of what is pending; see `GraphCurator.pending`."""
    return [Pending(*row) for row in graph.ro_query(_LIST, kind=kind, after=after, limit=limit)]


def mark_pending(graph: FalkorGraph, things: Iterable[tuple[str, str]], mark: str, epoch: int) -> None:
    """Make (kind, id) pairs pending under a mark that nobody has read yet."""
    for page in fill_pages([identity, kind] for kind, identity in things):
        run_fenced(graph, _MARK, epoch, page, mark=mark)


def clear_pending(graph: FalkorGraph, things: Sequence[Pending], epoch: int) -> int:
    """Forget what is done, unless it has been marked again since; gives how many went."""
    pages = fill_pages([thing.id, thing.mark] for thing in things)
    return sum(run_fenced(graph, _CLEAR, epoch, page) for page in pages)
