"""A corpus is ingested while faults strike, and the graph is the one of a quiet run."""

import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from faults import FAULTS, Fault
from plant import Plant, change_corpus, make_corpus, make_rows

from pipeline.tables import TableOrder
from scheduler.finalize import PHASES
from scheduler.states import RunState
from workers.giving import prepare_table, prepare_text

GRAPH = "kb"
SECONDS = 150
IN_CHECK = ("all at once",)
"""The cut that everybody runs, a minute; one pass of all (`make faults`) takes six, ten passes an hour."""
IN_MIXTURE = ("all at once", "kills of workers", "kills of the graph's server", "every message twice")
"""What strikes while a changed folder is synced."""
SEEDS = range(1, 11)
TABLE = TableOrder("Person", "id", "name", {"firm": "Firm"})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder)
    return folder


@pytest.fixture(scope="module")
def quiet(corpus, tmp_path_factory, engine):
    """What a run says that nothing disturbs: the graph's fingerprint and every file's outcome."""
    with Plant(tmp_path_factory.mktemp("quiet"), engine) as plant:
        injected, outcomes, fingerprint = ingest(plant, corpus, Fault("none"), random.Random(0))
    assert injected == 0
    assert {state for state, _ in outcomes.values()} == {"written", "skipped", "failed"}
    return outcomes, fingerprint


def cases():
    for seed in SEEDS:
        for name in FAULTS:
            marks = [] if seed == SEEDS[0] and name in IN_CHECK else [pytest.mark.slow]
            if FAULTS[name].plant.get("clocks") and not shutil.which("cc"):
                marks.append(pytest.mark.skip(reason="a wrong clock is made with a C compiler (cc)"))
            yield pytest.param(name, seed, marks=marks, id=f"seed{seed:02}-{name.replace(' ', '-')}")


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("name", "seed"), list(cases()))
def test_the_graph_is_that_of_a_quiet_run(name, seed, corpus, quiet, tmp_path, engine, survived):
    fault = FAULTS[name]
    with Plant(tmp_path, engine, **fault.plant) as plant:
        injected, outcomes, fingerprint = ingest(plant, corpus, fault, random.Random(f"{name} {seed}"))
    assert injected == fault.times
    assert outcomes == quiet[0]
    assert fingerprint == quiet[1]
    survived(name, injected + fault.lasting)


def mixed_cases():
    for seed in SEEDS:
        for name in IN_MIXTURE:
            yield pytest.param(name, seed, id=f"seed{seed:02}-{name.replace(' ', '-')}")


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("name", "seed"), list(mixed_cases()))
def test_updates_removals_and_renames_come_out_as_in_a_quiet_sync(
    name, seed, corpus, changed, tmp_path, engine, survived
):
    fault = FAULTS[name]
    injected, outcomes, fingerprint = sync_under(fault, random.Random(f"{name} {seed} mixed"), corpus, tmp_path, engine)
    assert injected == fault.times
    assert {"updated", "removed", "written"} <= {state for state, _ in outcomes.values()}
    assert outcomes == changed[0]
    assert fingerprint == changed[1]
    survived(f"{name}, while syncing", injected + fault.lasting)


@pytest.fixture(scope="module")
def changed(corpus, tmp_path_factory, engine):
    """What a sync of the changed folder says that nothing disturbs."""
    return sync_under(Fault("none"), random.Random(0), corpus, tmp_path_factory.mktemp("changed"), engine)[1:]


def sync_under(fault, chance, corpus, place, engine):
    """Ingest a folder, a table and a text in peace, change them, and sync under a fault; gives what `ingest` does."""
    folder = place / "files"
    shutil.copytree(corpus, folder)
    make_rows(folder, "spring")
    (place / "plant").mkdir()
    with Plant(place / "plant", engine, **fault.plant) as plant:
        ingest(plant, folder, Fault("none"), chance)
        others = [
            prepare_table(folder / "staff.csv", folder, TABLE),
            give(plant, "In spring Ada Quill met Bram Oster."),
        ]
        drive(plant, plant.client.submit_files(others, folder, graph=GRAPH), Fault("none"), chance)
        change_corpus(folder)
        make_rows(folder, "autumn")
        files = [
            *plant.client.plan_sync(folder, folder, graph=GRAPH).files,
            give(plant, "In autumn Ada Quill met Kora Bell."),
        ]
        return drive(plant, plant.client.submit_files(files, folder, graph=GRAPH), fault, chance)


def give(plant, text):
    return prepare_text(text, "minutes", GRAPH, plant.settings, plant.client.workers())


def ingest(plant, corpus, fault, chance):
    """Ingest a folder under a fault; gives how often it struck, the outcomes, and the graph's fingerprint."""
    return drive(plant, plant.client.submit([corpus], corpus, graph=GRAPH), fault, chance)


def drive(plant, run, fault, chance):
    """Drive a run to its end under a fault; gives what `ingest` does."""
    injected = 0
    # By how far the run has come, so that it does not end before all of them; the last fifth is the finalize.
    moments = sorted(chance.uniform(0, fault.last) for _ in range(fault.times))
    deadline = time.monotonic() + SECONDS
    while not ((status := plant.look(run)) and status.over):
        assert time.monotonic() < deadline, f"{injected} faults injected; {status}\n{plant.tail()}"
        plant.heal()
        due = injected < fault.times and status and progress(plant, status) >= moments[injected]
        if due and fault.strike(plant, chance):
            injected += 1
        time.sleep(0.05)
    assert status.error == "", plant.tail()
    check_nothing_is_left(plant, run, deadline)
    outcomes = {report.relative: (report.state, report.code) for report in plant.client.files(run)}
    return injected, outcomes, plant.client.fingerprint(GRAPH)


def progress(plant, status):
    """Tell how far a run has come, from 0 to 1."""
    if status.state is not RunState.FINALIZING:
        return 0.8 * status.ended / max(1, status.total)
    phase = plant.phase(GRAPH)
    return 0.8 + 0.2 * (PHASES.index(phase) if phase else 0) / len(PHASES)


def check_nothing_is_left(plant, run, deadline):
    """No lease, run or claim stays; the graph has no fault; questions are answered."""
    verdict = plant.client.verify(GRAPH)
    assert verdict.findings == (), plant.tail()
    client = plant.redis.client
    assert client.zcard("gm:active") == client.exists(f"gm:run:{run}:active", f"gm:run:{run}:clock") == 0
    while uses := plant.leases(GRAPH):
        assert time.monotonic() < deadline, uses
        time.sleep(0.1)
    with ThreadPoolExecutor(max_workers=1) as asking:
        answer = asking.submit(plant.client.retrieve, "Who joined Larkspur Optics?", graph=GRAPH)
        while not answer.done():
            # The last fault may have been a deploy of the query worker.
            plant.heal()
            time.sleep(0.1)
    assert answer.result()["evidence"]
