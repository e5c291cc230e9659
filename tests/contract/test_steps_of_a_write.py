"""The write stage over a real graph: what stops half-way, is refused or overtaken is ended by who comes next."""

import threading

import fakeredis
import pytest

from pipeline import ids
from pipeline.adapters.callables import as_extractor
from pipeline.adapters.falkor import FalkorInspector, FalkorOntologies, FalkorReviser, FalkorWriter
from pipeline.adapters.falkor import write as falkor_write
from pipeline.adapters.readers import FileReader
from pipeline.config import ChunkConfig, LoadConfig, RecipeConfig
from pipeline.errors import GraphRejected, WriteIncomplete
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.assembling import Assembler
from scheduler.extracting import ExtractStage
from scheduler.flights import Flights
from scheduler.given import give_text
from scheduler.ingest import IngestStages
from scheduler.leases import Leases
from scheduler.ledger import Ledger
from scheduler.preparing import Graphs
from scheduler.recipe import Recipe
from scheduler.records import NewFile
from scheduler.stages import run_stage
from scheduler.verbs import RunVerbs
from scheduler.writing import WriteStages

ADA = "Ada Quill founded Northlight Press."
CASS = "Cass Verity sold Lighthouse to Dora Finch."
BEFORE_WRITE = ("load", "chunk", "extract")


def name_words(text):
    """Take every capitalised word for an entity."""
    words = [word.strip(".") for word in text.split() if word[:1].isupper()]
    return [
        {"name": w, "type": "Concept", "start": text.index(w), "end": text.index(w) + len(w), "description": w}
        for w in words
    ], []


class Shelf(dict):
    """An artifact store in memory."""

    store_id = "shelf"
    put = dict.__setitem__


class Bench:
    """Stages over a real graph and a ledger in memory, one batch at a time, in this process."""

    def __init__(self, graph, root, lease_ms=60_000):
        self.graph, self.root, self.max_tokens, self.shelf = graph, root, 384, Shelf()
        self.client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
        self.ledger = Ledger(self.client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
        self.verbs = RunVerbs(self.client, self.ledger)
        self.leases = Leases(self.client, ttl_ms=lease_ms)
        self.writer, self.reviser = FalkorWriter(graph), FalkorReviser(graph)
        graphs = Graphs(
            lambda name: self.writer, lambda name: self.reviser, lambda name: FalkorOntologies(graph), lambda name: None
        )
        flights = Flights(self.client, ttl_ms=lease_ms)
        ingest = IngestStages(lambda run: str(self.root), None, lambda run: self.recipe, self.shelf, graphs)
        extracting = ExtractStage(lambda run: self.recipe, self.shelf, flights, 100.0)
        assembler = Assembler(lambda run: str(self.root), lambda run: self.recipe, self.shelf)
        writing = WriteStages(assembler, graphs, self.leases)
        self.stages = {"load": ingest.load, "chunk": ingest.chunk, "extract": extracting.extract}
        self.stages |= {"write": writing.write, "discard": writing.discard}

    @property
    def recipe(self):
        chunk = ChunkConfig(max_tokens=self.max_tokens)
        config = RecipeConfig(extractor="words", ontology=DEFAULT_ONTOLOGY, load=LoadConfig(), chunk=chunk)
        return Recipe(FileReader(LoadConfig()), as_extractor(name_words, "words"), config)

    def put(self, name, text, **order):
        """Write a file; gives its line of the manifest."""
        (self.root / name).write_bytes(text.encode())
        return NewFile(name, len(text), order=order or None)

    def open(self, *files):
        run = self.ledger.open_run("kb", str(self.root), finalize="never", options={})
        self.ledger.append(run, 0, files)
        self.ledger.seal(run)
        return run

    def take(self):
        """Give the next batch; what waits is due at once."""
        for key in self.client.scan_iter("gm:run:*:due"):
            for file in self.client.zrange(key, 0, -1):
                self.client.zadd(key, {file: 0})
        return self.ledger.take(window=99, max_files=20, max_bytes=10**6, spread=1)

    def bring(self, *files):
        """Bring a run's batch before its write; gives both."""
        run = self.open(*files)
        batch = self.take()
        for stage in BEFORE_WRITE:
            self.work(batch, stage)
        return run, batch

    def work(self, batch, stage):
        run_stage(self.ledger, batch, stage, self.stages[stage], "w")

    def go_on(self, run, rounds=3):
        """Work off what there is; gives the outcomes of a run's files."""
        for _ in range(rounds):
            if (batch := self.take()) is None:
                break
            for stage in ("discard",) if batch.discard else (*BEFORE_WRITE, "write"):
                self.work(batch, stage)
        return {report.relative: (report.state, report.code) for report in self.ledger.files(run)}

    def ingest(self, *files):
        return self.go_on(self.open(*files))

    def documents(self):
        return {document.id: document for document in FalkorInspector(self.graph).documents()}

    def nodes(self):
        return sorted(node for (node,) in self.graph.ro_query("MATCH (d:Document) RETURN d.id"))

    def texts(self):
        return sorted(text for (text,) in self.graph.ro_query("MATCH (c:Chunk) RETURN c.text"))


@pytest.fixture
def bench(graph, tmp_path):
    return Bench(graph, tmp_path)


def refuse(reviser, document_id):
    """Let the graph refuse the next versions of a document."""
    stage = reviser.stage

    def staged(documents, epoch, progress):
        stage(documents, epoch, progress)
        if document_id in {document.id for document in documents}:
            raise GraphRejected("the graph server refuses the query")

    reviser.stage = staged


def write_without_clearing(bench, batch):
    """Write, where the last of the three grants is refused, as while a merge holds the graph."""
    grant, asked = bench.leases.try_graph, []

    def refused_last(*wanted):
        asked.append(wanted)
        return 0 if len(asked) > 2 else grant(*wanted)

    bench.leases.try_graph = refused_last
    bench.work(batch, "write")
    bench.leases.try_graph = grant


def test_bytes_that_change_without_the_text_are_noted_and_the_graph_is_in_step(bench):
    bench.ingest(bench.put("a.txt", f"{ADA}\nMore.\n"))
    assert bench.ingest(bench.put("a.txt", f"{ADA}\r\nMore.\r\n")) == {"a.txt": ("unchanged", "ok")}
    assert bench.documents()["file:a.txt"].source_hash == ids.bytes_hash((bench.root / "a.txt").read_bytes())


def test_a_folder_that_moved_is_noted_whatever_the_settings_are_now(bench, tmp_path):
    bench.ingest(bench.put("a.txt", ADA))
    bench.root = tmp_path / "moved"
    bench.root.mkdir()
    assert bench.ingest(bench.put("a.txt", ADA)) == {"a.txt": ("unchanged", "ok")}
    assert bench.documents()["file:a.txt"].root == str(bench.root)
    bench.root, bench.max_tokens = tmp_path, 64
    assert bench.ingest(bench.put("a.txt", ADA)) == {"a.txt": ("changed", "settings_changed")}
    assert bench.documents()["file:a.txt"].root == str(tmp_path)


def test_a_new_version_that_the_graph_refuses_fails_alone_and_the_old_one_stays(bench):
    bench.ingest(bench.put("a.txt", ADA), bench.put("b.txt", CASS))
    refuse(bench.reviser, "file:a.txt")
    told = bench.ingest(bench.put("a.txt", f"{ADA} Bad."), bench.put("b.txt", f"{CASS} Good."))
    assert told == {"a.txt": ("failed", "graph_rejected"), "b.txt": ("updated", "ok")}
    assert bench.nodes() == ["file:a.txt", "file:b.txt"]
    assert bench.texts() == [ADA, f"{CASS} Good."]


def test_an_emptied_file_leaves_nothing_where_its_clearing_was_put_off(bench):
    bench.ingest(bench.put("a.txt", ADA))
    run, batch = bench.bring(bench.put("a.txt", " "))
    write_without_clearing(bench, batch)
    assert bench.nodes() == [ids.past_version("file:a.txt")], "readers do not see it, and it is still to be removed"
    assert bench.go_on(run) == {"a.txt": ("skipped", "empty_document")}
    assert bench.nodes() == []
    (report,) = bench.ledger.files(run)
    assert report.message.endswith("has left the graph.")


def test_an_empty_file_that_waited_is_not_told_to_have_left_a_graph_that_never_had_it(bench):
    run = bench.open(bench.put("a.txt", " "))
    batch = bench.take()
    bench.ledger.claim(batch, "load", "slow", "w")
    bench.ledger.settle(run, "slow", deferred={0: 0.0})
    assert bench.go_on(run) == {"a.txt": ("skipped", "empty_document")}
    (report,) = bench.ledger.files(run)
    assert "left the graph" not in report.message


def test_a_long_write_goes_on_where_a_batch_mate_is_held_elsewhere(graph, tmp_path):
    bench = Bench(graph, tmp_path, lease_ms=600)
    run, batch = bench.bring(bench.put("a.txt", ADA), bench.put("b.txt", CASS))
    Leases(bench.client, ttl_ms=60_000).take_documents("kb", "another", ["file:b.txt"])
    write = bench.writer.write

    def slowly(documents, epoch, progress):
        # Until the leases are due to be renewed.
        threading.Event().wait(0.3)
        progress()
        write(documents, epoch, progress)

    bench.writer.write = slowly
    bench.work(batch, "write")
    assert {r.relative: (r.state, r.code) for r in bench.ledger.files(run)} == {
        "a.txt": ("written", "ok"), "b.txt": ("waiting", "lease_unavailable"),
    }  # fmt: skip


def leave_half_a_document(bench, name, text):
    """Write a new document up to its stamp, and give its run up."""
    check = falkor_write.check_counts

    def dies(*_):
        raise WriteIncomplete("the worker dies here")

    falkor_write.check_counts = dies
    try:
        run, batch = bench.bring(bench.put(name, text))
        bench.work(batch, "write")
    finally:
        falkor_write.check_counts = check
    return run


def test_a_rename_to_a_path_of_which_half_a_document_is_left_is_done(bench):
    bench.ingest(bench.put("a.txt", ADA), bench.put("c.txt", CASS))
    left = leave_half_a_document(bench, "b.txt", "Esme Venn.")
    bench.verbs.pause(left, "")
    (bench.root / "a.txt").rename(bench.root / "b.txt")
    told = bench.ingest(
        NewFile("b.txt", 1, order={"op": "rename", "from": "file:a.txt"}), bench.put("c.txt", f"{CASS} More.")
    )
    assert told == {"b.txt": ("updated", "ok"), "c.txt": ("updated", "ok")}
    assert bench.nodes() == ["file:b.txt", "file:c.txt"]
    assert bench.texts() == [ADA, f"{CASS} More."]


def test_what_a_cancelled_run_left_half_written_is_removed(bench):
    run = leave_half_a_document(bench, "a.txt", ADA)
    bench.verbs.cancel(run)
    assert bench.go_on(run) == {"a.txt": ("cancelled", "cancelled")}
    assert bench.nodes() == bench.texts() == []


def test_a_document_that_is_made_anew_while_its_past_version_is_cleared_is_made_anew(bench):
    bench.ingest(bench.put("a.txt", ADA))
    _, batch = bench.bring(bench.put("a.txt", CASS))
    write_without_clearing(bench, batch)
    bench.max_tokens = 64
    anew = bench.ingest(bench.put("a.txt", CASS, op="reextract"))
    assert anew == {"a.txt": ("updated", "ok")}
    assert bench.documents()["file:a.txt"].fingerprint == bench.recipe.fingerprint
    assert bench.texts() == [CASS]


def test_a_rename_whose_document_went_meanwhile_brings_the_file_in_as_a_new_one(bench):
    bench.ingest(bench.put("a.txt", ADA))
    (bench.root / "a.txt").rename(bench.root / "b.txt")
    run, batch = bench.bring(NewFile("b.txt", 1, order={"op": "rename", "from": "file:a.txt"}))
    assert bench.ingest(NewFile("a.txt", 0, order={"op": "delete"})) == {"a.txt": ("removed", "ok")}
    bench.work(batch, "write")
    assert [report.code for report in bench.ledger.files(run)] == ["document_moved"]
    assert bench.go_on(run) == {"b.txt": ("written", "ok")}
    assert bench.nodes() == ["file:b.txt"]


def test_a_text_does_not_replace_one_that_was_given_later(bench, monkeypatch):
    older = bench.open(give_text(ADA, "note", bench.shelf))
    first = bench.take()
    monkeypatch.setattr("scheduler.ledger.time.time", lambda later=4e9: later)
    assert bench.ingest(give_text(CASS, "note", bench.shelf)) == {"note": ("written", "ok")}
    for stage in (*BEFORE_WRITE, "write"):
        bench.work(first, stage)
    assert [(report.state, report.code) for report in bench.ledger.files(older)] == [("unchanged", "overtaken")]
    assert bench.texts() == [CASS]


def test_two_orders_for_one_document_are_done_one_after_the_other(bench):
    bench.ingest(bench.put("a.txt", ADA))
    run = bench.open(bench.put("a.txt", CASS), NewFile("a.txt", 0, order={"op": "delete"}))
    bench.go_on(run)
    assert [report.state for report in bench.ledger.files(run)] == ["updated", "removed"]
    assert bench.nodes() == []


def test_a_file_that_another_release_cut_is_cut_again_and_says_what_it_is_made_with(bench, monkeypatch):
    run = bench.open(bench.put("a.txt", ADA))
    batch = bench.take()
    bench.work(batch, "load")
    bench.work(batch, "chunk")
    monkeypatch.setattr("scheduler.recipe.chunk_fingerprint", lambda config: f"next {config.fingerprint}")
    bench.work(batch, "extract")
    bench.work(batch, "write")
    assert [report.code for report in bench.ledger.files(run)] == ["artifact_missing"]
    assert bench.go_on(run) == {"a.txt": ("written", "ok")}
    assert bench.documents()["file:a.txt"].fingerprint == bench.recipe.fingerprint
