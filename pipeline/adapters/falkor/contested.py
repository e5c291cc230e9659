"""Names that two rows of tables bear by now: what went into one of them for its name alone is nobody's any more."""

from collections import defaultdict
from collections.abc import Iterable

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.ids import key_of
from pipeline.models.judging import EXACT
from pipeline.resolve import canonical_key

_NAMES = """
UNWIND $rows AS id MATCH (e:__Entity__ {id: id}) WHERE e.canonical_key <> '' RETURN DISTINCT e.canonical_key, e.type
"""
_BEARERS = """
UNWIND $rows AS r MATCH (o:__Entity__ {canonical_key: r[0]}) WHERE o.type = r[1] RETURN r[0], r[1], o.id
"""
_MERGED = """
UNWIND $rows AS id MATCH (m:__Merged__ {into: id}) WHERE m.judge = $exact RETURN m.id, m.name, m.into
"""


def list_contested(graph: FalkorGraph, ids: Iterable[str]) -> list[str]:
    """See `GraphMerges.contested`."""
    rows = sorted({one for one in ids if key_of(one)})
    # Each name once: thousands of rows may bear the same.
    names = sorted({(key, label) for page in fill_pages(rows) for key, label in graph.ro_query(_NAMES, page)})
    bearers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for page in fill_pages(names):
        for key, label, identity in graph.ro_query(_BEARERS, page):
            if key_of(identity):
                bearers[key, label].add(identity)
    key_by_row = {one: key for (key, _), named in bearers.items() if len(named) > 1 for one in named}
    found = (row for page in fill_pages(sorted(key_by_row)) for row in graph.ro_query(_MERGED, page, exact=EXACT))
    return sorted(identity for identity, name, into in found if canonical_key(name or "") == key_by_row[into])
