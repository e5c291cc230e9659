"""How well finalize finds which names are one entity: pairwise and B-cubed scores, and wrong merges.

    python bench/resolution.py FOLDER

FOLDER holds `company_clusters.csv` (cluster_id, name), `doc_aliases.csv` (type, names_longest_first) and
`name_pairs.csv` (schema, name1, name2, is_match). Every distinct name is an entity, as if each stood in documents of
its own. Phase 2 nominates by the bundled embedder's vectors, one name of each group that phase 1 found. The rules
were written with one half in view, `tune`; `held` says whether they hold elsewhere.
"""

import argparse
import csv
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from cleanco import basename
from rapidfuzz import fuzz
from scores import Clusters, Item, Score, score_b_cubed, score_pairwise, split

from pipeline.adapters.minilm import MiniLmEmbedder
from pipeline.ids import normalise_name
from pipeline.resolve.bridges import doubt_bridges
from pipeline.resolve.merges import plan_exact
from pipeline.resolve.nominate import LEAST_COSINE, nominate_groups, nominate_nearest
from pipeline.resolve.resolution import resolve
from pipeline.resolve.rules import judge_grouped, judge_pair
from pipeline.resolve.values import Judged, Named, Pair, Verdict

HALVES = ("tune", "held", "all")
THRESHOLDS = (80, 85, 90, 95)
LABELS = {"PER": "Person", "ORG": "Organization", "LOC": "Location", "MISC": "Thing"}


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names, and whether they are one entity."""

    one: Named
    other: Named
    same: bool
    group: str
    """Pairs that share a name are of one group."""


class Groups:
    """Names joined to groups, never across a pair that is kept apart."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._members = {one: frozenset((one,)) for one in ids}
        self._apart: set[frozenset[str]] = set()

    def keep_apart(self, pair: Pair) -> None:
        """Never join two names."""
        self._apart.add(frozenset(pair))

    def join(self, pair: Pair) -> None:
        """Join the groups of two names, if nothing in them is kept apart."""
        ours, theirs = (self._members[one] for one in pair)
        if ours is not theirs and not any(frozenset((a, b)) in self._apart for a in ours for b in theirs):
            joined = ours | theirs
            self._members |= dict.fromkeys(joined, joined)

    def all(self) -> list[list[str]]:
        """List the groups, each sorted."""
        return sorted(map(sorted, set(self._members.values())))


def half_of(group: str) -> str:
    """Assign a group of rows to a half, once and for all, by its name."""
    return "held" if hashlib.sha256(group.encode()).digest()[-1] % 2 else "tune"


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a table with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_companies(folder: Path) -> list[Item]:
    """Give the distinct names of applicants."""
    rows = Counter((row["name"], row["cluster_id"]) for row in read_rows(folder / "company_clusters.csv"))
    return [Item(Named(f"{gold} {name}", "Company", name), gold, count) for (name, gold), count in sorted(rows.items())]


def read_aliases(folder: Path) -> list[Item]:
    """Give the surface forms of entities; those of equal type and longest name are one entity.

    A form that several entities share tells nobody apart without its document, and is left out.
    """
    golds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in read_rows(folder / "doc_aliases.csv"):
        names = [name.strip() for name in row["names_longest_first"].split(" | ")]
        for name in names:
            golds[name, row["type"]].add(f"{row['type']} {normalise_name(names[0])}")
    alone = {key: next(iter(gold)) for key, gold in sorted(golds.items()) if len(gold) == 1}
    return [Item(Named(f"{kind} {name}", LABELS[kind], name), gold, 1) for (name, kind), gold in alone.items()]


def read_pairs(folder: Path) -> list[NamePair]:
    """Give the pairs of names, in groups that share no name."""
    rows = read_rows(folder / "name_pairs.csv")
    groups = Groups({row[column] for row in rows for column in ("name1", "name2")})
    for row in rows:
        groups.join((row["name1"], row["name2"]))
    group_of = {name: members[0] for members in groups.all() for name in members}
    return [
        NamePair(
            Named("1", row["schema"], row["name1"]),
            Named("2", row["schema"], row["name2"]),
            row["is_match"] == "true",
            group_of[row["name1"]],
        )
        for row in rows
    ]


# The phases


def nominate(entities: Sequence[Named], ambiguous: Iterable[Pair], embedder: MiniLmEmbedder) -> dict[Pair, float]:
    """Nominate the nearest names, and the ambiguous acronyms."""
    ids = [one.id for one in entities]
    everything = np.ones(len(ids), dtype=np.bool_)
    vectors = embedder.embed([one.name for one in entities])
    near = nominate_nearest(ids, [one.label for one in entities], vectors, everything, ~everything)
    return near | nominate_groups(ambiguous, set(ids), set())


def unite(items: Mapping[str, Item], verdicts: Iterable[Judged]) -> Clusters:
    """Resolve verdicts as finalize does."""
    group_of = {one: [item] for one, item in items.items()}
    for merge in resolve(verdicts, {one: item.entity for one, item in items.items()}).merges:
        group_of[merge.survivor].extend(group_of.pop(merge.duplicate))
    return list(group_of.values())


def cluster(items: Sequence[Item], embedder: MiniLmEmbedder) -> Iterator[tuple[str, Clusters]]:
    """Group items by a baseline and by every phase."""
    keyed: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        keyed[item.entity.label, fold(basename(basename(item.entity.name)))].append(item)
    yield "cleanco twice, then case and punctuation", list(keyed.values())
    of_id = {item.entity.id: item for item in items}
    plan = plan_exact(item.entity for item in items)
    exact = [
        judge_grouped(of_id[one].entity, of_id[other].entity)
        for group in plan.groups
        for one, other in combinations(group, 2)
    ]
    yield "phase 1", unite(of_id, exact)
    grouped = {one for group in plan.groups for one in group[1:]}
    entities = [item.entity for item in items if item.entity.id not in grouped]
    nominated = sorted(nominate(entities, plan.ambiguous, embedder))
    ruled = [judge_pair(of_id[one].entity, of_id[other].entity) for one, other in nominated]
    named = {one: item.entity for one, item in of_id.items()}
    yield "phase 1 + rules", unite(of_id, doubt_bridges([*exact, *ruled], named))
    told = [Judged((one, other), judge_by_gold(of_id[one], of_id[other]), "gold", "gold") for one, other in nominated]
    yield "phase 1 + oracle", unite(of_id, [*exact, *told])


def judge_by_gold(one: Item, other: Item) -> Verdict:
    """Judge without a fault."""
    return Verdict.SAME if one.gold == other.gold else Verdict.DIFFERENT


def fold(name: str) -> str:
    """Fold case and punctuation, as the simplest key does."""
    return " ".join(re.findall(r"\w+", name.casefold()))


# What is printed


def tell_clusters(title: str, items: Sequence[Item], embedder: MiniLmEmbedder) -> Iterator[str]:
    """Print all phases over both halves."""
    yield f"\n| {title} | | pairs of names | pairs of rows | B-cubed, names | wrong merges |"
    yield "|---|---|---|---|---|---|"
    for half in HALVES:
        chosen = [item for item in items if half in {"all", half_of(item.gold)}]
        for stage, groups in cluster(chosen, embedder):
            pairs, rows = (score_pairwise(groups, by_rows=by_rows) for by_rows in (False, True))
            wrong = sum(len(split(group)) - 1 for group in groups)
            yield f"| {half}, {len(chosen)} | {stage} | {pairs} | {rows} | {score_b_cubed(groups)} | {wrong} |"


def score_pairs(pairs: Sequence[NamePair], says: Callable[[NamePair], bool]) -> tuple[Score, int]:
    """Compare verdicts with the gold ones; count those wrongly called the same."""
    said = [(says(pair), pair.same) for pair in pairs]
    right, found, wanted = said.count((True, True)), sum(same for same, _ in said), sum(gold for _, gold in said)
    return Score(right / found if found else 1.0, right / wanted if wanted else 1.0), found - right


def tell_pairs(pairs: Sequence[NamePair], embedder: MiniLmEmbedder) -> Iterator[str]:
    """Print what is said of single pairs, by baselines and by every phase."""
    yield "\n| name_pairs | | all | organisations | wrongly the same |\n|---|---|---|---|---|"
    cosines = (embedder.embed([p.one.name for p in pairs]) * embedder.embed([p.other.name for p in pairs])).sum(axis=1)
    near = {(p.one.name, p.other.name) for p, cosine in zip(pairs, cosines, strict=True) if cosine >= LEAST_COSINE}
    stages: dict[str, Callable[[NamePair], bool]] = {
        "phase 1": lambda pair: same_at_once(pair.one, pair.other),
        "phase 1 + rules": lambda pair: (
            same_at_once(pair.one, pair.other) or judge_pair(pair.one, pair.other).verdict is Verdict.SAME
        ),
        f"oracle, of pairs with a cosine of {LEAST_COSINE} and more": lambda pair: (
            pair.same and (pair.one.name, pair.other.name) in near
        ),
    }
    for half in HALVES:
        chosen = [pair for pair in pairs if half in {"all", half_of(pair.group)}]
        firms = [pair for pair in chosen if pair.one.label in {"Company", "Organization", "LegalEntity"}]
        for scorer in (fuzz.token_sort_ratio, fuzz.WRatio):
            every, orgs = (
                max((score_pairs(some, _over(scorer, least)) for least in THRESHOLDS), key=lambda one: one[0].f1)
                for some in (chosen, firms)
            )
            yield f"| {half}, {len(chosen)} | {scorer.__name__} at its best | {every[0]} | {orgs[0]} | {every[1]} |"
        for stage, says in stages.items():
            every, orgs = score_pairs(chosen, says), score_pairs(firms, says)
            yield f"| {half}, {len(chosen)} | {stage} | {every[0]} | {orgs[0]} | {every[1]} |"


def same_at_once(one: Named, other: Named) -> bool:
    """Say whether phase 1 takes two names for one, where there are no others."""
    return bool(plan_exact((one, other)).groups)


def _over(scorer: Callable[..., float], least: int) -> Callable[[NamePair], bool]:
    return lambda pair: scorer(pair.one.name.casefold(), pair.other.name.casefold()) >= least


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure resolution against gold clusters and pairs.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    embedder = MiniLmEmbedder()
    print("Precision / recall / F1.")
    for title, read in (("company_clusters", read_companies), ("doc_aliases", read_aliases)):
        for line in tell_clusters(title, read(folder), embedder):
            print(line)
    for line in tell_pairs(read_pairs(folder), embedder):
        print(line)


if __name__ == "__main__":
    main()
