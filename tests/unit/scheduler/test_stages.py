"""How long a file waits after an error that passes, and that the wait costs it nothing."""

import fakeredis
import pytest

from pipeline.errors import ArtifactMissing, ModelBusy, TransientError
from scheduler.curation import RETRY_SECONDS, Curation
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import NewFile
from scheduler.stages import LONGEST_ASKED_SECONDS, LONGEST_DEFER_SECONDS, defer_seconds, each_file, run_stage

MANY = range(200)


def test_without_a_word_of_the_other_side_waits_grow_to_a_minute():
    assert all(0.25 <= defer_seconds(TransientError(""), 0) <= 0.5 for _ in MANY)
    assert all(30 <= defer_seconds(TransientError(""), 50) <= LONGEST_DEFER_SECONDS for _ in MANY)


@pytest.mark.parametrize(("asked", "defers"), [(10, 0), (90, 0), (300, 50), (3000, 3)])
def test_a_file_waits_at_least_as_long_as_asked_and_not_all_at_once(asked, defers):
    waits = [defer_seconds(ModelBusy("", retry_after=asked), defers) for _ in MANY]
    assert min(waits) >= asked
    assert max(waits) <= max(LONGEST_DEFER_SECONDS, asked * 1.25)
    assert len({round(wait, 3) for wait in waits}) > 100


def test_a_short_wish_does_not_shorten_the_usual_wait():
    assert all(defer_seconds(ModelBusy("", retry_after=0.1), 50) >= 30 for _ in MANY)


@pytest.mark.parametrize("asked", [4000, 1e9, float("inf")])
def test_nobody_waits_longer_than_an_hour(asked):
    assert defer_seconds(ModelBusy("", retry_after=asked), 0) == LONGEST_ASKED_SECONDS


@pytest.mark.parametrize("asked", [-5, float("nan"), 0])
def test_a_wish_that_is_none_changes_nothing(asked):
    assert 0 < defer_seconds(ModelBusy("", retry_after=asked), 0) <= 0.5


def test_a_missing_artifact_is_made_again_at_once():
    assert defer_seconds(ArtifactMissing(""), 0) == 0


@pytest.mark.parametrize("whole_batch", [False, True])
def test_a_rate_limit_defers_its_files_and_burns_no_attempt(whole_batch):
    client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    ledger = Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=2)
    run = ledger.open_run("kb", "/files", finalize="auto", options={})
    ledger.append(run, 0, [NewFile("a", 1), NewFile("b", 1)])
    ledger.seal(run)

    def refuse(*_):
        raise ModelBusy("429 of the service", retry_after=120)

    for turn in range(1, 6):
        batch = ledger.take(window=9, max_files=9, max_bytes=9, spread=1)
        assert run_stage(ledger, batch, "load", refuse if whole_batch else each_file(refuse), "w") == 0
        seconds, _ = client.time()
        due = client.zrange(f"gm:run:{run}:due", 0, -1, withscores=True)
        assert [name for name, _ in due] in (["0", "1"], ["1", "0"])
        assert all(118 <= at / 1000 - seconds <= 152 for _, at in due)
        for report in ledger.files(run):
            assert (report.state, report.code, report.message) == ("waiting", "model_busy", "429 of the service")
            assert report.details.get("starts", 0) == 0
            assert report.details["defers"] == turn
        client.zadd(f"gm:run:{run}:due", {"0": 0, "1": 0})
    assert ledger.status(run).failed == 0


@pytest.mark.parametrize(("asked", "least"), [(120, 120), (0, RETRY_SECONDS)])
def test_a_part_of_a_finalize_waits_as_long_as_asked(monkeypatch, asked, least):
    client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    finalizes = FinalizeLedger(client, ttl_ms=1000_000)

    def refuse(*_):
        raise ModelBusy("429 of the service", retry_after=asked)

    monkeypatch.setattr(Curation, "_plan", refuse)
    shard = Shard("kb", finalizes.begin("kb", forced=True), Phase.PLAN, 0)
    others = dict.fromkeys(Curation.__dataclass_fields__, None)
    Curation(**{**others, "finalizes": finalizes}).run(shard)
    seconds, _ = client.time()
    assert least - 2 <= client.zscore("gm:graph:kb:left", "0") / 1000 - seconds <= least * 1.25 + 2
