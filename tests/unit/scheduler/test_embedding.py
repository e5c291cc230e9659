"""Who judges, embeds and stores in a finalize, and what becomes of a part that is over."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.embed import text_hash
from pipeline.errors import GraphUnavailable
from pipeline.models import EmbeddingText, Pending
from scheduler import seals as sealing
from scheduler.embedding import Embedding
from scheduler.errors import ShardOver
from scheduler.finalize import MAX_SHARDS, Phase, Shard
from scheduler.name_vectors import NameVectors
from scheduler.seals import Seals

NAMES, JUDGE = Shard("kb", 1, Phase.NAMES, 0), Shard("kb", 1, Phase.JUDGE, 1)


class Shelf(dict):
    """An artifact store in memory."""

    put = dict.__setitem__


class Record:
    """The record of a finalize: whether its parts are still wanted, and the names of its lists."""

    def __init__(self):
        self.wanted, self.names, self.touched = True, {}, 0

    def touch(self, shard):
        self.touched += 1
        return self.wanted

    def seal(self, shard, phase):
        return self.names[phase]


class Graph:
    """Holds texts and what is pending; notes which vectors it is given."""

    def __init__(self, **pending):
        self.waiting = pending
        self.stored = {}

    def pending(self, kind, after, limit):
        rows = list(enumerate(self.waiting.get(kind, ())))
        return [Pending(one, "m", place) for place, one in rows if place > after][:limit]

    def texts(self, kind, ids):
        hashes = {one: digest for _, one, digest in self.stored.values()}
        return [EmbeddingText(one, f"text of {one}", hashes.get(one)) for one in ids]

    def set_vectors(self, kind, rows, epoch):
        self.stored |= {one: (kind, one, digest) for one, digest, _ in rows}


class Held:
    """A lease that holds."""

    epoch = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def record():
    return Record()


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def seals(shelf, record):
    return Seals(shelf, record)


def seal(seals, record, shard, phase, graph):
    record.names[phase], parts = seals.seal(shard, phase, graph)
    return parts


@pytest.mark.parametrize(
    ("entities", "passages", "names_parts", "parts"),
    [
        pytest.param(0, 0, 1, 2, id="nothing"),
        pytest.param(5, 25, 3, 4, id="as many of each"),
        pytest.param(500, 1, MAX_SHARDS - 1, MAX_SHARDS, id="many names"),
        pytest.param(1, 5_000, 1, MAX_SHARDS, id="many passages"),
    ],
)
def test_every_name_and_passage_has_a_part_beside_the_one_that_judges(
    entities, passages, names_parts, parts, seals, record, monkeypatch
):
    monkeypatch.setattr(sealing, "SHARD_MIN", 2)
    monkeypatch.setattr(sealing, "SHARD_MOST", 2)
    monkeypatch.setattr(sealing, "PASSAGES_MIN", 10)
    graph = Graph(entity=[f"e{n}" for n in range(entities)], chunk=[f"c{n}" for n in range(passages)])
    assert seal(seals, record, NAMES, Phase.NAMES, graph) == names_parts
    assert seal(seals, record, JUDGE, Phase.JUDGE, graph) == parts
    dealt = [[one.id for one in seals.part(JUDGE, Phase.JUDGE, part)["chunk"]] for part in range(parts)]
    assert dealt[0] == []
    assert sorted(one for some in dealt for one in some) == sorted(graph.waiting["chunk"])
    assert names_parts <= parts - 1


@pytest.fixture
def embedding(seals, record, shelf, monkeypatch):
    graph = Graph(entity=["a", "b"])
    asked = []

    def embed(texts):
        asked.extend(texts)
        return [[float(len(text)), 1.0] for text in texts]

    embedder = SimpleNamespace(model_id="model", dimension=2, embed=embed)
    names = NameVectors(shelf, record, "model", 2)
    made = Embedding(record, seals, None, embedder, names, lambda _: graph, 10)
    monkeypatch.setattr("scheduler.embedding.GraphLease.hold", lambda *_: Held())
    seal(seals, record, NAMES, Phase.NAMES, graph)
    return SimpleNamespace(it=made, graph=graph, asked=asked)


def test_vectors_of_names_are_made_once_and_stored_in_the_next_phase(embedding):
    assert embedding.it.embed_names(NAMES, [["a", "b"]]) == 2
    assert embedding.graph.stored == {}
    assert embedding.it.find_fresh(JUDGE).hashes == {text_hash("text of a"), text_hash("text of b")}
    embedding.it.store_names(JUDGE, 0, [["a", "b"]])
    assert embedding.graph.stored.keys() == {"a", "b"}
    assert embedding.asked == ["text of a", "text of b"]


def test_a_page_with_nothing_to_do_is_a_sign_of_life(embedding, record):
    embedding.it.embed(JUDGE, "chunk", [["c"]])
    before = record.touched
    assert embedding.it.embed(JUDGE, "chunk", [["c"]]) == 0
    assert record.touched == before + 1


def test_a_page_is_stored_while_the_next_one_is_made(embedding, monkeypatch):
    next_is_asked_for = threading.Event()
    in_time = []

    def pages():
        yield ["a"]
        next_is_asked_for.set()
        yield ["b"]

    def store(kind, rows, epoch):
        in_time.append(next_is_asked_for.wait(10))

    monkeypatch.setattr(embedding.graph, "set_vectors", store)
    assert embedding.it.embed(JUDGE, "entity", pages()) == 2
    assert in_time == [True, True]


@pytest.mark.parametrize("pages", [[["a"]], [["a"], ["b"]]])
def test_a_page_that_cannot_be_stored_ends_the_part(embedding, monkeypatch, pages):
    def refuse(kind, rows, epoch):
        raise GraphUnavailable("down")

    monkeypatch.setattr(embedding.graph, "set_vectors", refuse)
    with pytest.raises(GraphUnavailable):
        embedding.it.embed(JUDGE, "entity", pages)


def test_a_store_in_hand_is_over_when_the_part_fails(embedding, monkeypatch):
    goes_on = threading.Event()
    over = []

    def pages():
        yield ["a"]
        # Well after the failure below: one that did not wait for the store would be told before.
        threading.Timer(0.2, goes_on.set).start()
        raise GraphUnavailable("down")

    def store(kind, rows, epoch):
        assert goes_on.wait(10)
        over.append(True)

    monkeypatch.setattr(embedding.graph, "set_vectors", store)
    with pytest.raises(GraphUnavailable):
        embedding.it.embed(JUDGE, "entity", pages())
    assert over == [True]


def test_neighbours_go_to_one_part(seals, record, monkeypatch):
    monkeypatch.setattr(sealing, "SHARD_MIN", 3)
    graph = Graph(relation=["b-1", "a-2", "c-1", "a-1", "b-2", "c-2"])
    assert seal(seals, record, NAMES, Phase.FACTS, graph) == 2
    dealt = [[one.id for one in seals.part(NAMES, Phase.FACTS, part)["relation"]] for part in range(2)]
    assert dealt == [["a-1", "a-2", "b-1"], ["b-2", "c-1", "c-2"]]


@pytest.mark.parametrize(("relations", "parts"), [(0, 1), (250, 1), (600, 3), (1_001, 4), (4_001, 8)])
def test_parts_are_a_multiple_of_four_of_a_thousand_at_most(relations, parts, seals, record):
    graph = Graph(relation=[f"r{n:05}" for n in range(relations)])
    assert seal(seals, record, NAMES, Phase.FACTS, graph) == parts
    sizes = {len(seals.part(NAMES, Phase.FACTS, part)["relation"]) for part in range(parts)}
    assert max(sizes) - min(sizes) <= 1


def test_a_name_whose_vector_is_lost_gets_it_all_the_same(embedding, shelf, seals):
    embedding.it.embed_names(NAMES, [["a", "b"]])
    del shelf[seals.vectors_key(NAMES, 0)]
    embedding.it.store_names(JUDGE, 0, [["a", "b"]])
    assert embedding.graph.stored.keys() == {"a", "b"}


def test_a_part_that_is_over_embeds_nothing_more_and_leaves_what_another_try_has_made(embedding, record, shelf, seals):
    embedding.it.embed_names(NAMES, [["a", "b"]])
    made = shelf[seals.vectors_key(NAMES, 0)]
    embedding.it.store_names(JUDGE, 0, [["a"]])
    record.wanted = False
    with pytest.raises(ShardOver):
        embedding.it.embed_names(NAMES, [["a", "b"]])
    assert shelf[seals.vectors_key(NAMES, 0)] == made
    with pytest.raises(ShardOver):
        embedding.it.embed(JUDGE, "chunk", [["c"]])
    assert "c" not in embedding.graph.stored
    assert np.allclose(embedding.it.names.load(seals.vectors_key(NAMES, 0))[text_hash("text of b")], [0.9939, 0.1104])
