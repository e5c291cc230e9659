"""A file that changes, or goes, between two stages: what is stored is one state of it, with that state's hash."""

import os
from pathlib import Path

import pytest

from pipeline.ids import bytes_hash
from scheduler.stages import run_stage
from workers.bootstrap import collect_artifacts
from workers.resources import build_resources

HERE = Path(__file__).parent
OLD, NEW = "Ada Quill founded Northlight Press.", "Bram Oster bought Tidewater Press. "
STAGES = ("load", "chunk", "extract", "write")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "files" / "story.txt"
    path.parent.mkdir()
    path.write_text(OLD, "utf-8")
    return path


class Steps:
    """One file, taken by hand from stage to stage, as a worker would."""

    def __init__(self, system, file, graph):
        self.system, self.graph = system, graph
        resources = build_resources(system.settings)
        self.ledger, self.stages = resources.ledger, resources.stages
        # Before the files of runs that other tests have left.
        self.run = system.client.submit([file], file.parent, graph=graph, finalize="never", priority=9)

    def take(self):
        return self.ledger.take(window=9, max_files=20, max_bytes=100_000, spread=1)

    def work(self, batch, *names):
        assert batch.run == self.run
        return [run_stage(self.ledger, batch, name, self.stages[name], "w") for name in names]

    def outcome(self):
        return self.system.outcomes(self.run)["story.txt"]

    def stored(self):
        """Tell the text of each passage beside its document's hash."""
        query = "MATCH (d:Document)-[:PART_OF]->(c) RETURN d.source_hash, c.text"
        return [tuple(row) for row in self.system.rows(self.graph, query)]


@pytest.fixture
def steps(system, file, graph_name, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    return Steps(system, file, graph_name)


def replace(file):
    """Put another file in its place that looks the same: by its size, and by its time."""
    times = file.stat()
    (file.parent / "new").write_text(NEW, "utf-8")
    (file.parent / "new").rename(file)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_size == times.st_size


def of(text):
    return [(bytes_hash(text.encode()), text.strip())]


CHANGES = {"replaced": replace, "removed": Path.unlink}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("done", [1, 2, 3])
def test_what_happens_to_a_file_after_it_was_read_is_left_to_the_next_run(
    done, change, system, file, steps, graph_name
):
    batch = steps.take()
    steps.work(batch, *STAGES[:done])
    CHANGES[change](file)
    steps.work(batch, *STAGES[done:])
    assert steps.outcome() == ("written", "ok")
    assert steps.stored() == of(OLD)
    if change == "replaced":
        again = system.ingest(file.parent, graph_name)
        assert system.outcomes(again.run) == {"story.txt": ("updated", "ok")}
        assert steps.stored() == of(NEW)


@pytest.mark.parametrize("done", [1, 2, 3])
def test_a_file_that_was_replaced_and_goes_round_again_is_stored_as_it_is_now(done, system, file, steps):
    batch = steps.take()
    steps.work(batch, *STAGES[:done])
    replace(file)
    collect_artifacts(system.settings, float("inf"), dry_run=False)
    assert steps.work(batch, STAGES[done]) == [0]
    assert steps.outcome() == ("waiting", "artifact_missing")
    steps.work(steps.take(), *STAGES)
    assert steps.outcome() == ("written", "ok")
    assert steps.stored() == of(NEW)


def test_a_file_that_is_gone_has_its_outcome_at_once_and_is_not_tried_again(system, file, steps):
    file.unlink()
    assert steps.work(steps.take(), "load") == [0]
    assert steps.outcome() == ("failed", "missing")
    (report,) = system.client.files(steps.run)
    assert {name: report.details.get(name, 0) for name in ("starts", "defers")} == {"starts": 0, "defers": 0}
    status = system.client.status(steps.run)
    assert (status.over, status.failed) == (True, 1)
    later = steps.take()
    assert later is None or later.run != steps.run


def test_a_file_that_the_system_refuses_has_its_outcome_at_once_and_is_not_tried_again(
    system, file, steps, monkeypatch
):
    original = os.open

    def refuse(path, *args, **how):
        # Whoever runs the tests may be allowed to read anything.
        if path == b"story.txt":
            raise PermissionError(13, "Permission denied")
        return original(path, *args, **how)

    monkeypatch.setattr(os, "open", refuse)
    assert steps.work(steps.take(), "load") == [0]
    assert steps.outcome() == ("failed", "unreadable")
    (report,) = system.client.files(steps.run)
    assert report.details.get("defers", 0) == 0
    assert system.client.status(steps.run).over
