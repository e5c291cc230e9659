"""What was thought of pairs of entities, as `(:__Verdict__ {id, one, other, verdict, reason, judge, at})`."""

from collections.abc import Iterable, Sequence

from pipeline import ids
from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import run_fenced
from pipeline.adapters.falkor.merged import resolve_merged
from pipeline.adapters.falkor.pages import fill_pages
from pipeline.models.judging import PERSON, Judged, Pair, Verdict, pair_of
from pipeline.ports.merges import StoredVerdict
from pipeline.write import is_storable

_GET = """
UNWIND $rows AS id MATCH (v:__Verdict__ {id: id}) RETURN v.one, v.other, v.verdict, v.reason, v.judge, v.at
"""
PUT = """
UNWIND $rows AS r MERGE (v:__Verdict__ {id: r[0]})
WITH v, r WHERE v.judge IS NULL OR v.judge <> $person OR r[5] = $person
SET v.one = r[1], v.other = r[2], v.verdict = r[3], v.reason = r[4], v.judge = r[5], v.at = timestamp()
RETURN count(*)
"""
# Only where both are entities still.
_UNDECIDED = """
MATCH (v:__Verdict__) WHERE v.verdict = $undecided AND v.id > $after
MATCH (a:__Entity__ {id: v.one}) MATCH (b:__Entity__ {id: v.other})
RETURN v.one, v.other, v.verdict, v.reason, v.judge, v.at, a.name, b.name ORDER BY v.id LIMIT $limit
"""
_KEPT_APART = "MATCH (v:__Verdict__) WHERE v.judge = $person AND v.verdict = $different RETURN v.one, v.other"
_PAGE = """
MATCH (v:__Verdict__) WHERE ID(v) > $after RETURN ID(v), v.id, v.one, v.other, v.judge LIMIT $limit
"""
_KNOWN = """
UNWIND $rows AS id OPTIONAL MATCH (e:__Entity__ {id: id}) OPTIONAL MATCH (m:__Merged__ {id: id})
WITH id, e, m WHERE e IS NOT NULL OR m IS NOT NULL RETURN DISTINCT id
"""
_FORGET = "UNWIND $rows AS id MATCH (v:__Verdict__ {id: id}) DELETE v RETURN count(*)"
_ASKED_AT_ONCE = 1_000


def verdict_key(pair: Pair) -> str:
    """Name a pair's node: both ids, or their hash where an index would not find these again."""
    key = ids.KEY_SEPARATOR.join(pair)
    return key if is_storable(key) else ids.fingerprint(pair)


def verdict_row(judged: Judged) -> list[str]:
    """For `PUT`."""
    return [verdict_key(judged.pair), *judged.pair, str(judged.verdict), judged.reason, judged.judge]


def find_verdicts(graph: FalkorGraph, pairs: Iterable[Pair]) -> dict[Pair, StoredVerdict]:
    """See `GraphMerges.verdicts`."""
    asked = {verdict_key(pair_of(*pair)): pair for pair in pairs}
    found: dict[Pair, StoredVerdict] = {}
    for page in fill_pages(asked):
        for one, other, *told in graph.ro_query(_GET, page):
            found[asked[verdict_key((one, other))]] = _stored(one, other, *told)
    return found


def put_verdicts(graph: FalkorGraph, rows: Sequence[Judged], epoch: int) -> int:
    """See `GraphMerges.put_verdicts`."""
    spelled = {judged.pair: verdict_row(judged) for judged in rows}
    return sum(run_fenced(graph, PUT, epoch, page, person=PERSON) for page in fill_pages(spelled.values()))


def list_undecided(graph: FalkorGraph, after: Pair | None, limit: int) -> list[StoredVerdict]:
    """See `GraphMerges.undecided`."""
    beyond = verdict_key(after) if after else ""
    rows = graph.ro_query(_UNDECIDED, after=beyond, limit=limit, undecided=Verdict.UNDECIDED)
    return [_stored(*row) for row in rows]


def list_kept_apart(graph: FalkorGraph) -> set[Pair]:
    """See `GraphMerges.kept_apart`."""
    pairs = graph.ro_query(_KEPT_APART, person=PERSON, different=Verdict.DIFFERENT)
    merged = resolve_merged(graph, {one for pair in pairs for one in pair})
    resolved = ((merged.get(one, one), merged.get(other, other)) for one, other in pairs)
    return {pair_of(one, other) for one, other in resolved if one != other}


def forget_verdicts(graph: FalkorGraph, epoch: int) -> int:
    """See `GraphMerges.forget_verdicts`."""
    forgotten, after = 0, -1
    while found := graph.ro_query(_PAGE, after=after, limit=_ASKED_AT_ONCE):
        after = found[-1][0]
        judged = [row for row in found if row[4] != PERSON]
        asked = {one for _, _, *pair, _ in judged for one in pair}
        known = {one for (one,) in graph.ro_query(_KNOWN, sorted(asked))}
        gone = [key for _, key, one, other, _ in judged if not (one in known and other in known)]
        forgotten += sum(run_fenced(graph, _FORGET, epoch, page) for page in fill_pages(gone))
    return forgotten


def _stored(one: str, other: str, verdict: str, reason: str, judge: str, at: int, *names: str | None) -> StoredVerdict:
    first, second = names or ("", "")
    return StoredVerdict(Judged((one, other), Verdict(verdict), reason, judge), int(at), (first or "", second or ""))
