"""How well retrieval finds the documents that answer two-hop questions: recall@5 and all-gold@5.

    python bench/retrieval.py FOLDER --graph hotpot

FOLDER holds `docs.jsonl` (id, title, text) and `questions.jsonl` (id, question, gold_docs); the graph holds the
documents as files named by their ids, title and text a paragraph each (the settings' servers are asked). The settings
of retrieval are chosen on the half `tune` alone; `held` says whether they hold elsewhere.
"""

import argparse
import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import mean
from typing import Any

from pipeline.adapters.falkor import FalkorReader
from pipeline.models import WHOLE_GRAPH, Query, SearchPath
from pipeline.ports import Embedder, GraphReader, Vectors
from pipeline.retrieve import find_passages
from pipeline.retrieve.question import split_words
from pipeline.retrieve.rank import Ranking, fuse
from workers.graphs import open_graph
from workers.parts import build_embedder
from workers.settings import load_settings

TOP = 5
DEPTH = 30
"""Passages looked at for the first documents: several may be of one."""
ENTITIES = 10
"""First entities whose passages stand for the path that finds entities by words and meaning."""
HALVES = ("tune", "held", "all")
K1, B = 1.5, 0.75


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of one question: of its gold documents among the first, and whether all of them are."""

    recall: float
    complete: float


class Bm25:
    """The yardstick: plain BM25 over whole documents, without a graph."""

    def __init__(self, documents: dict[str, str]) -> None:
        self._counts = {name: Counter(split_words(text)) for name, text in documents.items()}
        self._frequencies = Counter(word for counts in self._counts.values() for word in counts)
        self._mean = sum(counts.total() for counts in self._counts.values()) / len(self._counts)

    def rank(self, words: Sequence[str]) -> list[str]:
        """Give all documents, best first."""
        return sorted(self._counts, key=lambda name: (-self._score(name, words), name))

    def _score(self, name: str, words: Sequence[str]) -> float:
        counts, total = self._counts[name], len(self._counts)
        long = K1 * (1 - B + B * counts.total() / self._mean)
        return sum(
            math.log(1 + (total - self._frequencies[word] + 0.5) / (self._frequencies[word] + 0.5))
            * (counts[word] * (K1 + 1) / (counts[word] + long))
            for word in words
        )


def half_of(question_id: str) -> str:
    """Assign a question to a half, once and for all, by its id."""
    return "held" if hashlib.sha256(question_id.encode()).digest()[-1] % 2 else "tune"


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judge(names: Sequence[str], gold: Sequence[str]) -> Score:
    """Score the first distinct documents."""
    found = set(list(dict.fromkeys(names))[:TOP]) & set(gold)
    return Score(len(found) / len(gold), float(len(found) == len(gold)))


def rank_all(text: str, reader: GraphReader, embedder: Embedder, bm25: Bm25) -> dict[str, list[str]]:
    """Rank documents for one question by each method, best first."""
    found = find_passages(Query(text), reader, embedder)
    by = {ranking.way or str(ranking.path): ranking for ranking in found.rankings}
    fuzzy = [identity for identity, paths in found.entities.items() if SearchPath.FUZZY_NAMES in paths]
    of_fuzzy = reader.passages_naming(fuzzy[:ENTITIES], found.vector, DEPTH, WHOLE_GRAPH)
    methods = {
        "passages by meaning": [by["meaning"]],
        "passages by words": [by["words"]],
        "exact_names": [by["exact_names"]],
        "fuzzy_names": [Ranking("fuzzy_names", 1.0, of_fuzzy)],
        "facts": [by["facts"]],
        "links of the rest": [by["links"]],
        "without links": [ranking for ranking in found.rankings if ranking is not by["links"]],
        "without vectors": [ranking for ranking in found.rankings if ranking is not by["vectors"]],
        "fused": list(found.rankings),
    }
    ranked = {name: [identity for identity, _ in fuse(rankings)][:DEPTH] for name, rankings in methods.items()}
    ranked["rerank=cosine"] = list(by["vectors"].ids)[:DEPTH]
    documents = {name: _documents(ids, reader, found.vector) for name, ids in ranked.items()}
    return {"BM25 (no graph)": bm25.rank(found.question.words), **documents}


def _documents(ids: Sequence[str], reader: GraphReader, vector: Vectors) -> list[str]:
    return [PurePosixPath(passage.source).stem for passage in reader.passages(ids, vector, WHOLE_GRAPH)]


def main() -> None:
    """Run the bench and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graph", required=True)
    arguments = parser.parse_args()
    settings = load_settings()
    reader, embedder = FalkorReader(open_graph(settings, arguments.graph)), build_embedder(settings)
    documents = read_lines(arguments.folder / "docs.jsonl")
    bm25 = Bm25({document["id"]: f"{document['title']}\n{document['text']}" for document in documents})
    for gap in reader.gaps():
        print(f"Careful: {gap}")

    scores: defaultdict[tuple[str, str], list[Score]] = defaultdict(list)
    for asked in read_lines(arguments.folder / "questions.jsonl"):
        for method, names in rank_all(asked["question"], reader, embedder, bm25).items():
            score = judge(names, asked["gold_docs"])
            for half in (half_of(asked["id"]), "all"):
                scores[method, half].append(score)

    print(f"{'':22}" + "".join(f"{half:>16}" for half in HALVES))
    for method in dict.fromkeys(method for method, _ in scores):
        row = [scores[method, half] for half in HALVES]
        cells = (f"{mean(s.recall for s in one):9.3f} {mean(s.complete for s in one):6.3f}" for one in row)
        print(f"{method:22}" + "".join(cells))
    print(f"recall@{TOP} and all-gold@{TOP} of {', '.join(f'{len(scores[method, h])} {h}' for h in HALVES)} questions")


if __name__ == "__main__":
    main()
