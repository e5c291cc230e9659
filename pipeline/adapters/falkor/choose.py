"""What a judge wants of a merged entity: the name that it bears, and whose values it keeps.

Both stand on its `__Unmerged__` node, so they end with its merges.
"""

import secrets
from collections.abc import Mapping

import orjson

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.united import CHOSEN, KEPT, select_foreign
from pipeline.adapters.falkor.unmerged import Changes, differing, read_family

_PRESENT = "MATCH (e:__Entity__ {id: $id}) MATCH (o:__Unmerged__ {id: $id}) RETURN properties(e)"
_WRITE = """
MATCH (o:__Unmerged__ {{id: $id}}) MATCH (e:__Entity__ {{id: $id}})
{changes}
MERGE (p:__Pending__ {{id: $id}}) ON CREATE SET p.kind = 'entity', p.mark = $mark ON MATCH SET p.mark = $mark
RETURN count(*)
"""


def choose(graph: FalkorGraph, survivor: str, name: str, keep: Mapping[str, str], epoch: int) -> bool:
    """See `GraphMerges.choose`."""
    found = graph.ro_query(_PRESENT, id=survivor)
    if not found:
        return False
    family = read_family(graph, survivor)
    before = family.foreign(survivor)
    after = family.keeping(survivor, keep).foreign(survivor)
    changes = Changes()
    # What others have changed since the merges is theirs.
    for one in sorted(differing(before, after) - differing(before, select_foreign(found[0][0]))):
        changes.set("e", one, after.get(one))
    changes.set("o", CHOSEN, name or None)
    changes.set("o", KEPT, orjson.dumps(dict(sorted(keep.items()))).decode() if keep else None)
    return (
        run_fenced(
            graph,
            _WRITE.format(changes=changes.spell("o, e")),
            epoch,
            id=survivor,
            mark=secrets.token_hex(8),
            **changes.values,
        )
        > 0
    )
