"""A worker is killed in the midst of each phase of a finalize, and the graph is that of a quiet run."""

import pytest
from alike import SHORT, make_files, start

from scheduler.finalize import PHASES, Phase

IN_CHECK = (Phase.JUDGE, Phase.MERGE)
"""The cut that everybody runs: where it is decided what is one, and where it is made one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def plant(tmp_path_factory, engine):
    with start(tmp_path_factory.mktemp("plant"), engine, workers=2, **SHORT) as started:
        yield started


@pytest.fixture(scope="module")
def quiet(plant, folder):
    """Give the fingerprint, and the report, of a finalize that nothing disturbs."""
    plant.write(make_files(folder), folder, "quiet")
    report = plant.finalize("quiet").report
    return plant.check_clean("quiet"), report


def cases():
    for strike, phases in (
        ("kill", IN_CHECK),
        *(("kill", (phase,)) for phase in PHASES),
        ("kill", PHASES),
        ("crash", PHASES),
    ):
        marks = [] if phases is IN_CHECK else [pytest.mark.slow]
        name = f"{strike}-{'all' if phases is PHASES else '-'.join(phases)}"
        yield pytest.param(name, strike, phases, marks=marks, id=name)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("graph", "strike", "phases"), list(cases()))
def test_a_finalize_whose_worker_dies_in_its_midst_ends_as_a_quiet_one(
    graph, strike, phases, plant, folder, quiet, survived
):
    plant.write(make_files(folder), folder, graph)
    starts = sum(member.starts for member in plant.members)
    for phase in phases:
        plant.order(strike, phase)
    status = plant.finalize(graph)
    assert list(plant.strikes.iterdir()) == [], "each hit somebody"
    assert sum(member.starts for member in plant.members) == starts + (len(phases) if strike == "kill" else 0)
    assert status.number == 1
    assert plant.check_clean(graph).hash == quiet[0].hash
    assert status.report["merges_planned"] == quiet[1]["merges_planned"] > 0
    survived(f"deaths ({strike}) in the midst of a finalize", len(phases))
