"""The extract stage reads a whole batch together, pays once, and tells of each file by itself."""

import fakeredis
import pytest

from pipeline.config import ChunkConfig, LoadConfig, RecipeConfig
from pipeline.errors import ArtifactsUnavailable, BudgetSpent, ModelBusy, ModelTimeout, PassageUnread, UnreadCode
from pipeline.models import Chunk, Extraction, Mention, Usage
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.codec import decode_extraction, encode
from scheduler.extracting import TIMEOUTS, ExtractStage
from scheduler.flights import Flights
from scheduler.ledger import Ledger
from scheduler.recipe import Recipe
from scheduler.records import NewFile
from scheduler.stages import run_stage
from scheduler.states import RunState
from scheduler.verbs import RunVerbs

READ = Extraction(mentions=(Mention("Ada Quill", "Person", 0, 9),), usage=Usage(1, 100, 20, 0.001))


class Reads:
    fingerprint = "reads"


class Shelf(dict):
    """An artifact store in memory."""

    store_id = "shelf"
    put = dict.__setitem__


class Asking:
    """An extractor whose calls cost something; what it is told about a text is what becomes of it."""

    fingerprint = "asking"

    def __init__(self):
        self.fates, self.asked = {}, []

    def extract_each(self, texts, ontology):
        for position, text in enumerate(texts):
            self.asked.append(text)
            fate = self.fates.get(text, READ)
            yield position, fate.pop(0) if isinstance(fate, list) else fate


class Local:
    """An extractor of this process that fails where a text says so."""

    fingerprint = "local"

    def __init__(self):
        self.batches = []

    def extract(self, texts, ontology):
        self.batches.append(list(texts))
        if any("bad" in text for text in texts):
            raise ValueError("this text is too much")
        return [READ for _ in texts]


class Mill:
    """A ledger, a store, and the stage."""

    def __init__(self, extractor, turn_seconds=100.0):
        client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
        self.ledger = Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)
        self.flights = Flights(client, ttl_ms=60_000)
        self.shelf = Shelf()
        config = RecipeConfig(extractor="llm", ontology=DEFAULT_ONTOLOGY, load=LoadConfig(), chunk=ChunkConfig())
        self.recipe = Recipe(Reads(), extractor, config)
        self.stage = ExtractStage(lambda run: self.recipe, self.shelf, self.flights, turn_seconds)
        self.run = self.ledger.open_run("kb", "/", finalize="never", options={})

    def submit(self, **files):
        """Make a run of files, each given by its passages."""
        self.files = files
        self.ledger.append(self.run, 0, [NewFile(name, 1) for name in files])
        self.ledger.seal(self.run)

    def go(self):
        """Bring the next batch through the stage; gives the files that passed it."""
        batch = self.ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1)
        for stage in ("load", "chunk"):
            claimed = self.ledger.claim(batch, stage, stage, "w")
            self.ledger.settle(self.run, stage, passed={f.index: self.make_ref(f.relative) for f in claimed})
        return run_stage(self.ledger, batch, "extract", self.stage.extract, "w")

    def make_ref(self, name):
        chunks = [Chunk(i, 0, len(text), text) for i, text in enumerate(self.files[name])]
        self.shelf.put(f"chunks/{name}", encode(chunks))
        return {"chunks": f"chunks/{name}"}

    def files_now(self):
        return {f.relative: (f.state, f.code) for f in self.ledger.files(self.run)}

    def stored(self, text):
        return decode_extraction(self.shelf.get(self.recipe.extraction_key(text)))

    def unread(self, text, attempt=0):
        return self.shelf.get(self.recipe.unread_key(text, self.run, attempt))


@pytest.fixture
def asking():
    return Asking()


def test_the_passages_of_a_batch_are_asked_for_together_and_each_once(asking):
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one.", "Ada Quill two."], b=["Ada Quill two.", "Ada Quill three."])
    assert mill.go() == 2
    assert asking.asked == ["Ada Quill one.", "Ada Quill two.", "Ada Quill three."]
    spent = {f.relative: f.details.get("spent", {}).get("passages") for f in mill.ledger.files(mill.run)}
    assert spent == {"a": 2, "b": 1}, "the first file bears what a shared passage costs"


def test_what_is_stored_is_not_asked_for(asking):
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one.", "Ada Quill two."])
    mill.shelf.put(mill.recipe.extraction_key("Ada Quill one."), encode(Extraction()))
    assert mill.go() == 1
    assert asking.asked == ["Ada Quill two."]
    assert mill.stored("Ada Quill one.") == Extraction()


def test_a_passage_that_could_not_be_read_is_recorded_and_its_file_goes_on(asking):
    asking.fates["Ada Quill bad."] = PassageUnread(UnreadCode.MALFORMED, "no JSON")
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one.", "Ada Quill bad."])
    assert mill.go() == 1
    assert mill.unread("Ada Quill bad.") is not None
    assert mill.shelf.get(mill.recipe.extraction_key("Ada Quill bad.")) is None, "a bad answer is no cached answer"


def test_a_busy_service_lets_the_file_wait_and_keeps_what_was_read(asking):
    asking.fates["Ada Quill two."] = [ModelBusy("slow down", retry_after=30.0), READ]
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one.", "Ada Quill two."], b=["Ada Quill three."])
    assert mill.go() == 1
    assert mill.files_now()["a"] == ("waiting", "model_busy")
    assert mill.files_now()["b"][0] == "queued"
    assert mill.stored("Ada Quill one.").mentions


def test_a_spent_budget_pauses_the_run_and_files_stay_in_it(asking):
    asking.fates["Ada Quill one."] = [BudgetSpent("2 of 2 USD are spent"), READ]
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one."])
    assert mill.go() == 0
    status = mill.ledger.status(mill.run)
    assert (status.state, status.reason) == (RunState.PAUSED, "2 of 2 USD are spent")
    assert mill.files_now() == {"a": ("waiting", "budget_spent")}
    assert mill.ledger.take(window=9, max_files=20, max_bytes=10_000, spread=1) is None


def test_a_run_that_was_let_go_on_meanwhile_is_not_paused_again_for_what_was_before(asking):
    mill = Mill(asking)
    verbs = RunVerbs(mill.ledger._redis, mill.ledger)

    def raise_budget(texts, ontology):
        verbs.pause(mill.run, "another task found the budget spent")
        verbs.go_on(mill.run)
        return iter([(0, BudgetSpent("2 of 2 USD are spent"))])

    asking.extract_each = raise_budget
    mill.submit(a=["Ada Quill one."])
    assert mill.go() == 0
    assert mill.ledger.status(mill.run).state is RunState.RUNNING
    asking.extract_each = lambda texts, ontology: iter([(0, BudgetSpent("3 of 3 USD are spent"))])
    assert mill.go() == 0
    assert mill.ledger.status(mill.run).reason == "3 of 3 USD are spent"


def test_nothing_is_asked_for_while_no_answer_can_be_stored(asking):
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one."])
    keep = mill.shelf.put

    def put(key, data):
        if not key.startswith("chunks/"):
            raise ArtifactsUnavailable("the disk is full")
        keep(key, data)

    mill.shelf.put = put
    assert mill.go() == 0
    assert mill.files_now() == {"a": ("waiting", "artifacts_unavailable")}
    assert asking.asked == []


def test_a_passage_that_another_task_asks_for_is_left_to_it(asking):
    mill = Mill(asking)
    mill.submit(a=["Ada Quill one."], b=["Ada Quill two."])
    mill.flights.take([mill.recipe.extraction_key("Ada Quill one.")], "another")
    assert mill.go() == 1
    assert asking.asked == ["Ada Quill two."]
    assert mill.files_now()["a"] == ("waiting", "passage_in_work")
    mine = mill.recipe.extraction_key("Ada Quill two.")
    assert mill.flights.take([mine], "third") == set(), "its own claims are given back"


def test_a_passage_that_times_out_again_and_again_is_given_up(asking):
    asking.fates["Ada Quill slow."] = ModelTimeout("no answer within 60 s")
    mill = Mill(asking)
    mill.submit(a=["Ada Quill slow."])
    for _ in range(TIMEOUTS - 1):
        assert mill.go() == 0
        assert mill.files_now() == {"a": ("waiting", "model_timeout")}
        mill.ledger._redis.zadd(f"gm:run:{mill.run}:due", {0: 0})
    assert mill.go() == 1
    assert b'"timeout"' in mill.unread("Ada Quill slow.")


def test_what_else_a_file_waits_for_does_not_hide_that_a_passage_times_out(asking):
    late = ModelTimeout("no answer within 60 s")
    asking.fates["Ada Quill slow."] = [late, ModelBusy("broken"), late, ModelBusy("broken"), late]
    mill = Mill(asking)
    mill.submit(a=["Ada Quill slow."])
    for code in ("model_timeout", "model_busy", "model_timeout", "model_busy"):
        assert mill.go() == 0
        assert mill.files_now() == {"a": ("waiting", code)}
        mill.ledger._redis.zadd(f"gm:run:{mill.run}:due", {0: 0})
    assert mill.go() == 1
    assert b'"timeout"' in mill.unread("Ada Quill slow.")


def test_an_answer_that_is_too_much_for_us_fails_its_file_alone_and_costs_no_other_answer(asking):
    texts = [f"Ada Quill {number}." for number in range(4)]
    mill = Mill(asking)
    real = asking.extract_each

    def stumble(given, ontology):
        for position, result in real(given, ontology):
            if given[position] == texts[1]:
                raise ZeroDivisionError("of ours")
            yield position, result

    asking.extract_each = stumble
    mill.submit(a=texts[:1], b=texts[1:2], c=texts[2:3], d=texts[3:])
    assert mill.go() == 3
    assert mill.files_now()["b"] == ("failed", "internal_error")
    assert {mill.files_now()[name][0] for name in "acd"} == {"queued"}
    assert [asking.asked.count(text) for text in texts] == [1, 2, 1, 1]


def test_files_read_one_by_one_keep_to_the_turn_but_the_first(asking):
    asking.fates["Ada Quill bad."] = ValueError("no result")
    mill = Mill(asking, turn_seconds=0.0)
    mill.submit(a=["Ada Quill bad."], b=["Ada Quill one."], c=["Ada Quill two."])
    assert mill.go() == 0
    assert mill.files_now() == {
        "a": ("failed", "internal_error"), "b": ("waiting", "out_of_turn"), "c": ("waiting", "out_of_turn")
    }  # fmt: skip


def test_a_turn_that_is_over_keeps_what_it_has(asking):
    mill = Mill(asking, turn_seconds=0.0)
    mill.submit(a=["Ada Quill one.", "Ada Quill two."])
    assert mill.go() == 0
    assert asking.asked == ["Ada Quill one."]
    assert mill.files_now() == {"a": ("waiting", "out_of_turn")}
    assert mill.go() == 1
    assert asking.asked == ["Ada Quill one.", "Ada Quill two."]


def test_a_local_extractor_reads_the_passages_of_all_files_in_one_batch():
    local = Local()
    mill = Mill(local)
    mill.submit(a=["Ada Quill one."], b=["Ada Quill two."])
    assert mill.go() == 2
    assert local.batches == [["Ada Quill one.", "Ada Quill two."]]


def test_one_text_that_is_too_much_for_a_local_extractor_fails_its_file_alone():
    local = Local()
    mill = Mill(local)
    mill.submit(a=["Ada Quill one."], b=["Ada Quill bad."], c=["Ada Quill two."])
    assert mill.go() == 2
    assert mill.files_now()["b"] == ("failed", "internal_error")
    assert {mill.files_now()[name][0] for name in "ac"} == {"queued"}
