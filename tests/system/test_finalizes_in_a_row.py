"""Runs of one graph that end together are served by one finalize, or by two in a row; never by two at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from alike import PATIENT, make_files, start

from scheduler.finalize import PHASES, Phase

ONE = [*PHASES, "idle"]
LAST_WORD = "that is all"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def plant(tmp_path_factory, engine):
    with start(tmp_path_factory.mktemp("plant"), engine, workers=3, **PATIENT) as started:
        yield started


@contextmanager
def watch_moves(client):
    """Write down the phases that the records of finalizes come to, by graph, as Redis is told of them."""
    moves, watching = {}, threading.Event()

    def watch():
        with client.monitor() as monitor:
            watching.set()
            while LAST_WORD not in (command := monitor.next_command()["command"]):
                name, _, rest = command.partition(" ")
                key, *pairs = rest.split(" ")
                if name == "HSET" and key.startswith("gm:graph:"):
                    fields = dict(zip(pairs[::2], pairs[1::2], strict=False))
                    moves.setdefault(key.rpartition(":")[2], []).extend(
                        fields[field] for field in ("phase", "state") if field in fields and fields[field] != "running"
                    )

    with ThreadPoolExecutor(1) as pool:
        watcher = pool.submit(watch)
        assert watching.wait(10)
        try:
            yield moves
        finally:
            client.echo(LAST_WORD)
            watcher.result(10)


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_runs_that_end_together_make_one_finalize_or_two_in_a_row(count, plant, folder):
    files = make_files(folder)
    graphs = [f"together-{count}-{number}" for number in range(count)]
    with watch_moves(plant.redis.client) as moves:
        runs = [
            plant.submit(some, folder, graph, finalize="auto") for graph in graphs for some in (files[::2], files[1::2])
        ]
        plant.end(*runs)
    for graph in graphs:
        times = plant.client.finalize_status(graph).number
        assert times in {1, 2}
        assert moves[graph] == ONE * times
        plant.check_clean(graph)


@pytest.mark.slow
def test_a_run_that_ends_during_a_finalize_waits_for_one_that_begins_after_it(plant, folder):
    files = make_files(folder)
    with watch_moves(plant.redis.client) as moves:
        plant.order("hold", Phase.JUDGE)
        first = plant.submit(files[::2], folder, "during", finalize="auto")
        go_on = plant.wait_for_hold(Phase.JUDGE)
        second = plant.submit(files[1::2], folder, "during", finalize="auto")
        plant.wait_until(lambda: plant.client.finalize_status("during").waiting == 1)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(plant.client.finalizes.begin, ["during"] * 8)) == [0] * 8
        assert moves["during"] == ONE[:3]
        go_on()
        plant.end(first, second)
    assert moves["during"] == ONE * 2
    assert plant.client.finalize_status("during").number == 2
    plant.check_clean("during")
