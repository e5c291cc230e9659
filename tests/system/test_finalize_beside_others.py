"""Merges are undone, and documents deleted, while a finalize is at work: it ends clean, and nothing is lost."""

import pytest
from alike import PATIENT, SOCIETY, make_files, start

from scheduler.errors import LeaseUnavailable
from scheduler.finalize import PHASES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
EARLY = 2
"""So many files are finalized before, so that there is a merge to undo."""
UNDONE, INTO = "aihs__organization", f"{SOCIETY.lower()}__organization"
DELETED = "file:note3.txt"
"""It is written with the files that the finalize is about, and gives names to its merges."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def plant(tmp_path_factory, engine):
    with start(tmp_path_factory.mktemp("plant"), engine, workers=2, **PATIENT) as started:
        yield started


def prepare(plant, folder, graph):
    """Finalize some files, and write the others."""
    files = make_files(folder)
    plant.write(files[:EARLY], folder, graph)
    plant.finalize(graph)
    assert {(merge.id, merge.into) for merge in plant.client.merges(graph)} >= {(UNDONE, INTO)}
    plant.write(files[EARLY:], folder, graph)


def undo(plant, graph):
    """Undo a merge; False where others are at work just then."""
    try:
        plant.client.undo_merge(graph, UNDONE)
    except LeaseUnavailable:
        return False
    return True


def delete(plant, graph, finalize):
    return plant.client.delete([DELETED], graph=graph, finalize=finalize)


@pytest.fixture(scope="module")
def undone(plant, folder):
    """Give the fingerprint of a graph in which the merge was undone before the finalize."""
    prepare(plant, folder, "undone")
    assert undo(plant, "undone")
    plant.finalize("undone")
    return plant.check_clean("undone")


@pytest.fixture(scope="module")
def deleted(plant, folder):
    """Give the fingerprints of graphs from which the document went before the finalize, and after it.

    Their difference is the record of a merge that was made meanwhile, of a name that nobody mentions any more.
    """
    prepare(plant, folder, "before")
    plant.end(delete(plant, "before", "never"))
    plant.finalize("before")
    prepare(plant, folder, "after")
    plant.finalize("after")
    plant.end(delete(plant, "after", "auto"))
    before, after = (plant.check_clean(graph).kinds for graph in ("before", "after"))
    assert {one.kind for one in before} - {one.kind for one in set(before) & set(after)} == {"merges"}
    return before, after


@pytest.mark.parametrize("phase", PHASES)
def test_a_merge_that_is_undone_during_a_finalize_is_as_one_undone_before_it(phase, plant, folder, undone):
    graph = f"undone-in-{phase}"
    prepare(plant, folder, graph)
    plant.order("hold", phase)
    number = plant.client.finalize(graph)
    go_on = plant.wait_for_hold(phase)
    is_undone = undo(plant, graph)
    go_on()
    plant.wait_until(lambda: is_undone or undo(plant, graph))
    plant.end_finalize(graph, number)
    # What the undo left pending.
    plant.finalize(graph)
    found = plant.check_clean(graph)
    assert not {merge.id for merge in plant.client.merges(graph)} & {UNDONE, INTO}
    assert found.kinds == undone.kinds


@pytest.mark.parametrize("phase", PHASES)
def test_a_document_that_is_deleted_during_a_finalize_leaves_what_it_leaves_before_or_after_it(
    phase, plant, folder, deleted
):
    graph = f"deleted-in-{phase}"
    prepare(plant, folder, graph)
    plant.order("hold", phase)
    number = plant.client.finalize(graph)
    go_on = plant.wait_for_hold(phase)
    run = delete(plant, graph, "auto")
    plant.wait_until(lambda: plant.client.status(run).ended or plant.client.stages(run).get("waiting"))
    go_on()
    plant.end(run)
    assert plant.client.finalize_status(graph).number == number + 1
    assert plant.check_clean(graph).kinds in deleted
