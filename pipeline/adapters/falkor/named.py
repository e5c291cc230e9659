"""What judges and nominations need of entities: all that they say of themselves, and names with their vectors."""

from collections.abc import Sequence
from itertools import batched

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.properties import LISTED
from pipeline.adapters.falkor.told import DROPPED
from pipeline.adapters.falkor.united import MERGED_LABELS
from pipeline.ids import key_of
from pipeline.models.judging import Named
from pipeline.ports import Vectors
from pipeline.ports.merges import NamePage
from pipeline.tables import OWN_PROPERTIES

_OWN = sorted(OWN_PROPERTIES | {LISTED, MERGED_LABELS})
_NAMED = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id})
OPTIONAL MATCH (p:__Pending__ {id: id})
RETURN e.id, e.type, e.name, e.aliases, e.description, [k IN keys(e) WHERE NOT k IN $own | [k, e[k]]],
       indegree(e, 'RELATES') + outdegree(e, 'RELATES') + outdegree(e, 'MENTIONED_IN'), p IS NOT NULL, e.merged_labels
"""
# In the order of internal ids, which the engine scans without a sort.
_NAMES = """
MATCH (e:__Entity__) WHERE ID(e) > $after WITH e LIMIT $limit
OPTIONAL MATCH (p:__Pending__ {id: e.id})
RETURN ID(e), e.id, e.type, e.name, e.embedded_hash, p IS NOT NULL
"""
# By place, as a row of a vector and a long id is slower.
_VECTORS = """
UNWIND $rows AS r MATCH (e:__Entity__ {id: r[1]}) WHERE e.embedding IS NOT NULL RETURN r[0], e.embedding
"""
_ASKED_AT_ONCE = 500


def read_named(graph: FalkorGraph, ids: Sequence[str]) -> list[Named]:
    """See `GraphMerges.named`."""
    found = {row[0]: row[1:] for row in graph.ro_query(_NAMED, sorted(set(ids)), own=_OWN)}
    return [
        Named(
            identity,
            label or "",
            name or "",
            aliases=tuple(aliases or ()),
            description=description or "",
            properties={key: value for key, value in sorted(told) if not key.endswith(DROPPED)},
            degree=int(degree),
            keyed=bool(key_of(identity)),
            pending=pending,
            merged_labels=tuple(gained or ()),
        )
        for identity, (label, name, aliases, description, told, degree, pending, gained) in found.items()
    ]


def list_names(graph: FalkorGraph, after: int, limit: int) -> NamePage:
    """See `GraphMerges.names`."""
    import numpy as np

    rows = graph.ro_query(_NAMES, after=after, limit=limit)
    return NamePage(
        ids=tuple(row[1] for row in rows),
        labels=tuple(row[2] or "" for row in rows),
        names=tuple(row[3] or "" for row in rows),
        embedded_hashes=tuple(row[4] or "" for row in rows),
        pending=np.array([row[5] for row in rows], dtype=np.bool_),
        last=int(rows[-1][0]) if rows else after,
    )


def read_name_vectors(graph: FalkorGraph, ids: Sequence[str], dimension: int) -> Vectors:
    """See `GraphMerges.name_vectors`."""
    import numpy as np

    vectors = np.zeros((len(ids), dimension), dtype=np.float32)
    for page in batched(enumerate(ids), _ASKED_AT_ONCE):
        for place, vector in graph.ro_query(_VECTORS, page):
            if len(vector) == dimension:
                vectors[place] = vector
    return vectors
