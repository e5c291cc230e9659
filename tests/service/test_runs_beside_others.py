"""A run that takes its time does not undo what newer runs do to its documents meanwhile, through real workers."""

import time

import pytest

from scheduler.leases import Leases
from scheduler.records import NewFile
from workers.connections import connect_redis

SLOW = "file:slow.txt"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("Ada Quill founded Northlight Press.", "utf-8")
    (tmp_path / "slow.txt").write_text("Cass Verity sold Lighthouse.", "utf-8")
    return tmp_path


@pytest.fixture
def long_run(system, folder, graph_name):
    """Give a run that has written a.txt, and what lets it end: somebody else has the lease of its other document."""
    leases = Leases(connect_redis(system.settings), ttl_ms=60_000)
    leases.take_documents(graph_name, "somebody", [SLOW])
    run = system.client.submit([folder], folder, graph=graph_name)
    deadline = time.monotonic() + 30
    while system.outcomes(run)["a.txt"][0] != "written":
        assert time.monotonic() < deadline, system.outcomes(run)
        system.client.tick()
        time.sleep(0.05)

    def end():
        leases.release_documents(graph_name, "somebody", [SLOW])
        status = system.finish(run)
        assert status.error == ""
        assert {name: state for name, (state, _) in system.outcomes(run).items()} == {
            "a.txt": "written",
            "slow.txt": "written",
        }
        assert system.client.verify(graph_name).findings == ()
        return {document.id for document in system.client.documents(graph_name)}

    return end


def test_a_document_that_is_deleted_while_a_longer_run_goes_on_stays_deleted(system, long_run, graph_name):
    deleted = system.finish(system.client.delete(["file:a.txt"], graph=graph_name))
    assert deleted.counts["removed"] == 1
    assert long_run() == {SLOW}


def test_a_file_that_is_renamed_while_a_longer_run_goes_on_is_not_looked_for_at_its_old_place(
    system, folder, long_run, graph_name
):
    (folder / "a.txt").rename(folder / "b.txt")
    order = NewFile("b.txt", 1, order={"op": "rename", "from": "file:a.txt"})
    renamed = system.finish(system.client.submit_files([order], folder, graph=graph_name))
    assert renamed.counts["updated"] == 1
    assert long_run() == {SLOW, "file:b.txt"}


def test_a_file_that_is_emptied_while_a_longer_run_goes_on_stays_out(system, folder, long_run, graph_name):
    (folder / "a.txt").write_text("", "utf-8")
    emptied = system.finish(system.client.submit([folder / "a.txt"], folder, graph=graph_name))
    assert emptied.counts["skipped"] == 1
    assert long_run() == {SLOW}
