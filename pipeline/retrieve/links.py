"""Relations around entities, hop by hop: each hop has its share, so that a busy first one crowds nobody out."""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.models import FoundRelation, Scope
from pipeline.ports import GraphReader, Vectors

MOST_RELATIONS = 40
"""Most that are given over several hops; four for each passage, and so many, are the GraphRAG SDK's limits."""
_FOR_A_PASSAGE = 4
_FRONTIER = 30
"""Ends that are followed on; the others' relations are hardly about the question."""
_LOOKED_AT = 4
"""Relations looked at for each that is given: many lead back to where a hop comes from."""


def cap_relations(relations: int, passages: int, hops: int) -> int:
    """Give the most relations for a question: what it asks for, or over several hops by its passages."""
    most = min(_FOR_A_PASSAGE * passages, MOST_RELATIONS)
    return min(relations, most) if hops == 1 or not relations else most


def share_hops(cap: int, found: Sequence[int]) -> list[int]:
    """Share a cap among hops that found so many each.

    All have equal shares, the first ones the remainder; what a hop leaves goes to the later ones, then to the first.
    """
    share, more = divmod(cap, max(1, len(found)))
    given, left = [], 0
    for hop, count in enumerate(found):
        mine = share + (hop < more) + left
        given.append(min(mine, count))
        left = mine - given[-1]
    for hop, count in enumerate(found):
        extra = min(left, count - given[hop])
        given[hop] += extra
        left -= extra
    return given


def follow_links(
    seeds: Sequence[str], hops: int, cap: int, vector: Vectors, scope: Scope, reader: GraphReader
) -> tuple[list[FoundRelation], bool]:
    """Find up to `cap` relations around entities, nearer hops first; and whether there are more.

    A relation counts at its first hop only, in a hop by similarity, ties by id. From a hop the best ends are
    followed on.
    """
    by_hop: list[list[FoundRelation]] = []
    followed: set[str] = set()
    frontier, more = list(dict.fromkeys(seeds)), False
    for hop in range(1, hops + 1):
        wanted = cap * _LOOKED_AT if followed else cap + 1
        found = reader.relations_of(frontier, vector, wanted, scope) if frontier and cap else []
        more |= bool(found) and len(found) == wanted
        # What touches an entity that an earlier hop began at belongs to that hop, even where it was cut there.
        new = [one for one in found if not followed & {one.source, one.target}]
        by_hop.append([replace(one, evidence=replace(one.evidence, hop=hop)) for one in new])
        followed.update(frontier)
        ends = dict.fromkeys(end for one in new for end in (one.source, one.target) if end not in followed)
        more |= hop < hops and len(ends) > _FRONTIER
        frontier = list(ends)[:_FRONTIER]
    shares = share_hops(cap, [len(one) for one in by_hop])
    more |= sum(shares) < sum(len(one) for one in by_hop)
    return [one for found, share in zip(by_hop, shares, strict=True) for one in found[:share]], more
