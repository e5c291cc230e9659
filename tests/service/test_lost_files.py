"""What a finalize sends round again: work that the graph lost, and never what a newer run has undone."""

import dataclasses
from types import SimpleNamespace

import pytest

from pipeline.adapters.falkor import FalkorCurator, FalkorWriter
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler import curation
from scheduler.curation import Curation
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.seals import Seals
from scheduler.states import FileState

SAID = ("Ada founded Acme.", [("Ada", "Person")], [])
LONG_AGO = "20200101-000000-aaaaaa"
FILE, DELETE = NewFile("a.txt", 1), NewFile("a.txt", 0, order={"op": "delete"})
RENAME = NewFile("z.txt", 1, order={"op": "rename", "from": "file:a.txt"})


def proceed():
    """Stands for leases that hold."""


class Shelf(dict):
    """An artifact store in memory."""

    put = dict.__setitem__
    store_id = "shelf"


class Mill:
    """Runs of one graph, which end as they are told to, and its finalize."""

    def __init__(self, client, graph):
        self.client, self.opened = client, 0
        self.ledger = Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
        self.finalizes = FinalizeLedger(client, ttl_ms=60_000)
        self.writer = FalkorWriter(graph)
        self.writer.prepare(DEFAULT_ONTOLOGY)
        shelf = Shelf()
        used = {
            "ledger": self.ledger,
            "finalizes": self.finalizes,
            "artifacts": shelf,
            "seals": Seals(shelf, self.finalizes),
            "embedder": SimpleNamespace(model_id="model", dimension=4),
            "writer_of": lambda _: self.writer,
            "curator_of": lambda _: FalkorCurator(graph),
        }
        self.curation = Curation(**{**dict.fromkeys(Curation.__dataclass_fields__), **used})

    def run(self, file, outcome, graph="kb"):
        """List one file, and end it where an outcome is given."""
        run = self.ledger.open_run(graph, "/files", finalize="auto", options={})
        # Two that were opened within a millisecond have no order.
        self.opened += 1
        self.client.zadd("gm:runs", {run: self.opened})
        self.ledger.append(run, 0, [file])
        self.ledger.seal(run)
        if outcome:
            batch = self.ledger.take(window=99, max_files=20, max_bytes=10_000, spread=1)
            assert batch.run == run
            self.ledger.claim(batch, "load", run, "w")
            self.ledger.settle(run, run, ended={0: outcome})
        return run

    def store(self, documents, run):
        """Write documents as of a run."""
        self.writer.write([dataclasses.replace(one, run_id=run) for one in documents], 1, proceed)

    def finalize(self, *, forced=False):
        """Do what the plan of a finalize does."""
        self.curation.run(Shard("kb", self.finalizes.begin("kb", forced=forced), Phase.PLAN, 0))
        status = self.finalizes.status("kb")
        assert status.error == ""
        return status.report["files_lost"]

    def state(self, run):
        (report,) = self.ledger.files(run)
        return report.state


@pytest.fixture
def mill(redis_client, graph):
    return Mill(redis_client, graph)


def test_a_graph_that_was_dropped_is_not_made_anew_by_its_finalize(mill, graph):
    graph.delete()
    mill.curation.run(Shard("kb", mill.finalizes.begin("kb", forced=True), Phase.PLAN, 0))
    assert graph.name in mill.finalizes.status("kb").error
    assert graph.name not in graph.names()


def test_a_finalize_by_workers_of_another_embedder_ends_with_its_reason(mill):
    assert mill.finalize(forced=True) == 0
    other = SimpleNamespace(model_id="another", dimension=4)
    curation = dataclasses.replace(mill.curation, embedder=other)
    mill.finalizes.end(Shard("kb", mill.finalizes.status("kb").number, Phase.PLAN, 0), "over")
    curation.run(Shard("kb", mill.finalizes.begin("kb", forced=True), Phase.PLAN, 0))
    assert "was embedded with model (4 dimensions), not with another" in mill.finalizes.status("kb").error


def test_a_written_file_whose_document_is_gone_goes_round_again(mill):
    run = mill.run(FILE, Outcome(FileState.WRITTEN))
    assert mill.finalize() == 1
    assert mill.state(run) == "waiting"


def test_a_written_file_whose_document_is_there_does_not(mill, make_document):
    run = mill.run(FILE, Outcome(FileState.WRITTEN))
    mill.store([make_document("a.txt", SAID)], run)
    assert mill.finalize() == 0
    assert mill.state(run) == "written"


@pytest.mark.parametrize("done", [FileState.WRITTEN, FileState.UPDATED])
@pytest.mark.parametrize(
    ("newer", "outcome"),
    [
        (DELETE, Outcome(FileState.REMOVED, stage="write")),
        (DELETE, None),
        (RENAME, Outcome(FileState.UPDATED, stage="write")),
        (RENAME, None),
        (FILE, Outcome(FileState.SKIPPED, "empty_document", stage="write")),
        (FILE, Outcome(FileState.UPDATED, stage="write")),
        (FILE, None),
    ],
)
def test_what_a_newer_run_has_removed_renamed_or_in_hand_stays_as_that_run_leaves_it(mill, done, newer, outcome):
    run = mill.run(FILE, Outcome(done))
    mill.run(newer, outcome)
    mill.finalize()
    assert mill.state(run) == done


@pytest.mark.parametrize(
    ("newer", "outcome", "of"),
    [
        (FILE, Outcome(FileState.UNCHANGED, stage="load"), "kb"),
        (FILE, Outcome(FileState.CHANGED, stage="load"), "kb"),
        (FILE, Outcome(FileState.FAILED, "corrupt", stage="load"), "kb"),
        (FILE, Outcome(FileState.SKIPPED, "empty_document", stage="load"), "kb"),
        (RENAME, Outcome(FileState.FAILED, "internal_error", stage="write"), "kb"),
        (NewFile("b.txt", 1), Outcome(FileState.WRITTEN), "kb"),
        (DELETE, Outcome(FileState.REMOVED, stage="write"), "another"),
    ],
)
def test_what_a_newer_run_left_as_it_was_is_written_again_by_the_run_that_wrote_it(mill, newer, outcome, of):
    run = mill.run(FILE, Outcome(FileState.WRITTEN))
    mill.run(newer, outcome, of)
    mill.finalize()
    assert mill.state(run) == "waiting"


def test_what_an_older_run_removed_is_written_again(mill):
    mill.run(DELETE, Outcome(FileState.REMOVED))
    run = mill.run(FILE, Outcome(FileState.WRITTEN))
    assert mill.finalize() == 1
    assert mill.state(run) == "waiting"


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (FileState.UNCHANGED, "removed"),
        (FileState.CHANGED, "removed"),
        (FileState.FAILED, "waiting"),
        (None, "removed"),
    ],
)
def test_a_document_that_came_back_is_removed_again_unless_a_newer_run_found_it_in_order(
    mill, make_document, outcome, state
):
    mill.store([make_document("a.txt", SAID)], LONG_AGO)
    run = mill.run(DELETE, Outcome(FileState.REMOVED))
    mill.run(FILE, Outcome(outcome, stage="load") if outcome else None)
    mill.finalize()
    assert mill.state(run) == state


def test_newer_runs_are_read_only_where_something_is_missing_and_once_for_all_that_is(mill, make_document, monkeypatch):
    monkeypatch.setattr(curation, "PAGE", 2)
    files = [NewFile(f"{i}.txt", 1) for i in range(5)]
    run = mill.ledger.open_run("kb", "/files", finalize="auto", options={})
    mill.client.zadd("gm:runs", {run: 0})
    mill.ledger.append(run, 0, files)
    mill.ledger.seal(run)
    batch = mill.ledger.take(window=99, max_files=20, max_bytes=10_000, spread=1)
    mill.ledger.claim(batch, "load", "h", "w")
    mill.ledger.settle(run, "h", ended={i: Outcome(FileState.WRITTEN) for i in range(5)})
    mill.store([make_document(f"{i}.txt", SAID) for i in (0, 2)], run)
    newer = mill.run(NewFile("3.txt", 0, order={"op": "delete"}), Outcome(FileState.REMOVED, stage="write"))
    read = []
    listing = mill.ledger.files
    monkeypatch.setattr(mill.ledger, "files", lambda name, *rest: read.append(name) or listing(name, *rest))
    assert mill.finalize() == 2
    assert [report.state for report in listing(run)] == ["written", "waiting", "written", "written", "waiting"]
    assert read == [run, newer, newer], "once as a newer run, once as one that this finalize serves, too"


def test_runs_of_a_graph_are_told_from_those_of_others_and_from_older_ones(mill):
    runs = [mill.run(FILE, None, graph) for graph in ("kb", "kb", "another", "kb", "another", "kb")]
    assert mill.ledger.newer_runs(runs[1]) == [runs[5], runs[3]]
    assert mill.ledger.newer_runs(runs[5]) == []
    assert mill.ledger.newer_runs("20200101-000000-forgot") == []
