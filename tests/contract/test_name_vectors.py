"""Vectors of names come from the artifact store where they were read before, and from the graph else."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import redis

from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.errors import ArtifactMissing
from pipeline.ports import Vectors
from scheduler.finalize import FinalizeLedger
from scheduler.name_vectors import MOST_PARTS, NOTHING_FRESH, NameVectors

GRAPH, WIDTH = "my: graph", 3


class CountedGraph:
    """Stands for a graph's names; counts what is read of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def name_vectors(self, ids: Sequence[str], dimension: int) -> Vectors:
        self.asked += ids
        vectors = np.zeros((len(ids), dimension), dtype=np.float32)
        for row, identity in enumerate(ids):
            if not identity.startswith("none"):
                vectors[row] = vector(identity)
        return vectors


def vector(identity: str) -> list[float]:
    return [float(ord(identity[-1])), 0.25, 0.0]


@pytest.fixture
def store(tmp_path: Path) -> FolderArtifactStore:
    return FolderArtifactStore(tmp_path)


@pytest.fixture
def kept(store: FolderArtifactStore, client: "redis.Redis") -> NameVectors:
    return NameVectors(store, FinalizeLedger(client, ttl_ms=1_000), "model", WIDTH)


def read(kept: NameVectors, ids: Sequence[str]) -> tuple[list[str], Vectors]:
    graph = CountedGraph()
    hashes = [(identity, f"hash of {identity}" if identity else "") for identity in ids]
    vectors = kept.read(GRAPH, graph, hashes, NOTHING_FRESH, lambda: None)  # type: ignore[arg-type]
    return graph.asked, vectors


def test_only_what_is_new_is_read_of_the_graph(kept):
    assert read(kept, ["a", "b"])[0] == ["a", "b"]
    asked, vectors = read(kept, ["c", "b", "a"])
    assert asked == ["c"]
    assert vectors.tolist() == [vector("c"), vector("b"), vector("a")]
    assert read(kept, ["c", "b", "a"])[0] == []


def test_equal_texts_are_read_once(kept):
    graph = CountedGraph()
    vectors = kept.read(GRAPH, graph, [("a", "same"), ("b", "same"), ("c", "")], NOTHING_FRESH, lambda: None)
    assert graph.asked == ["a"]
    assert vectors.tolist() == [vector("a"), vector("a"), [0.0, 0.0, 0.0]]


def test_what_has_no_vector_is_asked_for_again(kept):
    assert read(kept, ["none"])[1].tolist() == [[0.0, 0.0, 0.0]]
    assert read(kept, ["none", "a"])[0] == ["none", "a"]


def test_another_model_or_width_reads_its_own(kept, store):
    read(kept, ["a"])
    for other in (
        NameVectors(store, kept.finalizes, "another", WIDTH),
        NameVectors(store, kept.finalizes, "model", WIDTH + 1),
    ):
        graph = CountedGraph()
        graph.name_vectors = lambda ids, dimension: np.ones((len(ids), dimension), dtype=np.float32)
        assert other.read(GRAPH, graph, [("a", "hash of a")], NOTHING_FRESH, lambda: None).tolist() == [
            [1.0] * other.dimension
        ]


def test_what_was_kept_just_now_is_not_read_of_the_graph(kept):
    kept.keep("fresh", [("a", "hash of a", np.array(vector("a"), dtype=np.float32))])
    kept.keep("empty", [])
    fresh = kept.find_fresh(["fresh", "empty"])
    assert fresh.hashes == {"hash of a"}
    for _ in range(2):
        graph = CountedGraph()
        vectors = kept.read(GRAPH, graph, [("b", ""), ("a", "hash of a")], fresh, lambda: None)
        assert graph.asked == []
        assert vectors.tolist() == [[0.0, 0.0, 0.0], vector("a")]
    # From then on nobody needs to name it, and an empty one is not kept.
    assert kept.finalizes.name_vectors(GRAPH, "model:3") == ["fresh"]
    assert read(kept, ["a"])[0] == []


def test_what_was_kept_just_now_is_found_by_hash(kept):
    kept.keep("fresh", [("a", "hash of a", np.array(vector("a"), dtype=np.float32))])
    assert {text_hash: one.tolist() for text_hash, one in kept.load("fresh").items()} == {"hash of a": vector("a")}
    assert kept.load("gone") == {}


def test_a_lost_part_of_what_was_kept_just_now_is_an_error_as_others_have_compared_by_it(kept):
    kept.keep("fresh", [])
    with pytest.raises(ArtifactMissing):
        kept.find_fresh(["fresh", "gone"])


def test_parts_that_are_gone_cost_nothing_but_time(kept, store):
    read(kept, ["a", "b"])
    for part in kept.finalizes.name_vectors(GRAPH, "model:3"):
        Path(store._place(part)).unlink()
    asked, vectors = read(kept, ["a", "b"])
    assert asked == ["a", "b"]
    assert vectors.tolist() == [vector("a"), vector("b")]


def test_many_parts_become_one_of_what_is_in_use(kept):
    letters = [chr(ord("0") + number) for number in range(MOST_PARTS)]
    for letter in letters:
        read(kept, [letter])
    assert len(kept.finalizes.name_vectors(GRAPH, "model:3")) == MOST_PARTS
    assert read(kept, letters[5:])[0] == []
    assert len(kept.finalizes.name_vectors(GRAPH, "model:3")) == 1
    assert read(kept, letters)[0] == letters[:5]
