"""The write stage decides each file by itself, whatever happens to its batch."""

import time

import fakeredis
import pytest

from pipeline import ids
from pipeline.config import ChunkConfig, LoadConfig, RecipeConfig
from pipeline.errors import GraphMissing, GraphRejected
from pipeline.models import Chunk, Extraction, LoadedText, StoredDocument
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.assembling import Assembler
from scheduler.codec import encode
from scheduler.leases import Leases
from scheduler.ledger import Ledger
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe
from scheduler.records import Batch, NewFile, Outcome
from scheduler.stages import run_stage
from scheduler.states import FileState
from scheduler.writing import WriteStages


class Shelf(dict):
    """An artifact store in memory."""

    store_id = "shelf"
    put = dict.__setitem__


class Writer:
    """A graph that keeps ids only, and refuses what it is told to; its reviser, too."""

    def __init__(self):
        self.documents, self.refused, self.discarded, self.missing = {}, set(), [], False

    def stored(self, names):
        if self.missing:
            raise GraphMissing("there is no graph")
        return {name: self.documents[name] for name in names if name in self.documents}

    def fence(self):
        return 0

    def write(self, documents, epoch, progress):
        progress()
        for d in documents:
            if d.id not in self.refused:
                self.documents[d.id] = StoredDocument(d.id, d.content_hash, d.source_hash, d.fingerprint, d.run_id)
        if self.refused:
            raise GraphRejected(f"refused: {self.refused}")

    def clear(self, names, epoch, progress):
        self.discarded += names
        return dict.fromkeys(names, 0)


class Reads:
    fingerprint = "same"


CONFIG = RecipeConfig(extractor="reads", ontology=DEFAULT_ONTOLOGY, load=LoadConfig(), chunk=ChunkConfig())
RECIPE = Recipe(Reads(), Reads(), CONFIG)


@pytest.fixture
def client():
    return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))


@pytest.fixture
def writer():
    return Writer()


@pytest.fixture
def stages(client, writer):
    return WriteStages(
        Assembler(root_of=lambda run: "/", recipe_of=lambda run: RECIPE, artifacts=Shelf()),
        graphs=Graphs(lambda graph: writer, lambda graph: writer, lambda graph: None, lambda graph: None),
        leases=Leases(client, ttl_ms=60_000),
    )


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


def make_ref(name):
    ref = {"source": name, "content": name, "text": RECIPE.text_key(name, name), "base": ""}
    return {**ref, "chunks": RECIPE.chunks_key(ref)}


def bring_to_write(ledger, stages, names, warnings=()):
    """Give a batch whose files have passed all stages but the last."""
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile(name, 1) for name in names])
    ledger.seal(run)
    batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
    for stage in ("load", "chunk", "extract"):
        claimed = ledger.claim(batch, stage, stage, "w")
        ledger.settle(run, stage, passed={f.index: make_ref(f.relative) for f in claimed})
    for name in names:
        ref = make_ref(name)
        stages.assembler.artifacts.put(ref["text"], encode(LoadedText(name, "text/plain", warnings=tuple(warnings))))
        stages.assembler.artifacts.put(ref["chunks"], encode((Chunk(0, 0, len(name), name),)))
        stages.assembler.artifacts.put(RECIPE.extraction_key(name), encode(Extraction(dropped={"ungrounded": 2})))
    return batch


def fates(ledger, run):
    return {r.relative: (r.state, r.code) for r in ledger.files(run)}


def test_a_document_that_the_graph_refuses_fails_alone_and_leaves_nothing_behind(ledger, stages, writer):
    batch = bring_to_write(ledger, stages, ["a", "bad", "c"])
    writer.refused = {ids.file_document_id("bad")}
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run) == {
        "a": ("written", "ok"), "bad": ("failed", "graph_rejected"), "c": ("written", "ok"),
    }  # fmt: skip
    assert writer.discarded == [ids.file_document_id("bad")]


def test_a_graph_that_is_removed_meanwhile_is_made_anew_and_fails_no_file(ledger, stages, writer):
    batch = bring_to_write(ledger, stages, ["a", "b"])
    stages.graphs._prepared["kb"] = {RECIPE.fingerprint}
    writer.missing = True
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run) == {"a": ("waiting", "graph_unavailable"), "b": ("waiting", "graph_unavailable")}
    assert stages.graphs._prepared == {}


def test_what_was_dropped_or_could_not_be_read_is_told(ledger, stages):
    batch = bring_to_write(ledger, stages, ["a"], warnings=["Page 3 cannot be read."])
    run_stage(ledger, batch, "write", stages.write, "w")
    (report,) = ledger.files(batch.run)
    assert (report.state, report.code, report.message) == ("written", "partial", "Page 3 cannot be read.")
    assert report.details["dropped"] == {"ungrounded": 2}


def test_a_document_that_another_holds_waits_and_its_mates_are_written(ledger, stages, client):
    batch = bring_to_write(ledger, stages, ["a", "b"])
    Leases(client, ttl_ms=60_000).take_documents("kb", "another", [ids.file_document_id("b")])
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run) == {"a": ("written", "ok"), "b": ("waiting", "lease_unavailable")}


def test_a_file_of_the_same_run_that_is_in_the_graph_already_counts_as_written(ledger, stages, writer):
    batch = bring_to_write(ledger, stages, ["a"])
    name = ids.file_document_id("a")
    writer.documents[name] = StoredDocument(name, "a", "a", RECIPE.fingerprint, batch.run, root="/")
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run)["a"] == ("written", "ok")


def test_a_document_that_another_run_wrote_since_its_file_was_read_is_read_again(ledger, stages, writer):
    batch = bring_to_write(ledger, stages, ["a"])
    name = ids.file_document_id("a")
    writer.documents[name] = StoredDocument(name, "newer", "newer", RECIPE.fingerprint, "another")
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run)["a"] == ("waiting", "document_moved")


def test_an_overdue_batch_goes_round_again_file_by_file(ledger, stages, writer):
    from billiard.exceptions import SoftTimeLimitExceeded

    def overdue(*_):
        raise SoftTimeLimitExceeded

    batch = bring_to_write(ledger, stages, ["a", "b"])
    writer.write = overdue
    run_stage(ledger, batch, "write", stages.write, "w")
    again = [ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1) for _ in range(2)]
    assert [len(b.files) for b in again] == [1, 1]


def test_a_single_file_that_is_overdue_ends_as_a_timeout(ledger, stages, writer):
    from billiard.exceptions import SoftTimeLimitExceeded

    def overdue(*_):
        raise SoftTimeLimitExceeded

    batch = bring_to_write(ledger, stages, ["a"])
    writer.write = overdue
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run)["a"] == ("failed", "timeout")


def test_the_batch_of_a_fault_of_our_own_fails_with_its_name(ledger, stages, writer):
    def faulty(*_):
        raise KeyError("oops")

    batch: Batch = bring_to_write(ledger, stages, ["a"])
    writer.write = faulty
    run_stage(ledger, batch, "write", stages.write, "w")
    assert fates(ledger, batch.run)["a"] == ("failed", "internal_error")


def test_a_file_that_takes_longer_than_a_lease_keeps_its_worker(client, stages):
    """The claim lives as long as the process works, so a slow page is no dead worker."""
    ledger = Ledger(client, lease_ms=200, queue_ttl_ms=60_000, max_starts=3)
    run = ledger.open_run("kb", "/", finalize="never", options={})
    ledger.append(run, 0, [NewFile("slow", 1)])
    ledger.seal(run)
    batch = ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)

    def slow_work(stage_run):
        ends = time.monotonic() + 1.0
        while time.monotonic() < ends:
            assert ledger.sweep(run) == (0, 0, 0)
            time.sleep(0.05)  # the work itself: it reports nothing
        stage_run.ended[0] = Outcome(FileState.UNCHANGED)

    run_stage(ledger, batch, "load", slow_work, "w")
    assert ledger.status(run).counts["unchanged"] == 1
