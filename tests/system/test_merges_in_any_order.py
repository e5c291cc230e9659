"""Documents come in any order, to one worker or three, and what is one afterwards is the same."""

import random

import pytest
from alike import make_files, start

SEEDS = range(1, 6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


def merge_all(plant, files, folder, graph, runs=3):
    """Write files in their order by some runs at once, finalize once, and give the graph's fingerprint."""
    size = -(-len(files) // runs)
    pieces = [files[first : first + size] for first in range(0, len(files), size)]
    plant.end(*(plant.submit(piece, folder, graph) for piece in pieces))
    assert plant.finalize(graph).number == 1
    return plant.check_clean(graph)


def reasons(plant, graph):
    return {(merge.why.judge, merge.why.reason) for merge in plant.client.merges(graph)}


def test_another_order_and_more_workers_give_the_same_fingerprint(folder, tmp_path, engine):
    files = make_files(folder)
    with start(tmp_path, engine) as plant:
        forward = merge_all(plant, files, folder, "forward", runs=1)
        assert reasons(plant, "forward") >= {
            ("exact", "name"),
            ("rules", "name"),
            ("rules", "acronym"),
            ("rules", "typo"),
        }
        plant.hire(3)
        assert merge_all(plant, files[::-1], folder, "backward").hash == forward.hash


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_random_orders_give_the_same_fingerprint(workers, folder, tmp_path, engine):
    files = make_files(folder)
    with start(tmp_path, engine, workers) as plant:
        expected = merge_all(plant, files, folder, "sorted", runs=1)
        for seed in SEEDS:
            chance = random.Random(seed)
            shuffled = chance.sample(files, len(files))
            found = merge_all(plant, shuffled, folder, f"shuffled-{seed}", runs=chance.randint(1, len(files)))
            assert found.hash == expected.hash, seed
