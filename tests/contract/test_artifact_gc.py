"""A collection of garbage takes what nothing uses, nothing else, and may run beside everybody."""

import os
import threading
import time
from pathlib import Path

import fakeredis
import pytest

from pipeline.adapters.artifact_gc import collect_garbage
from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.errors import ArtifactStoreMissing
from pipeline.models import GarbageReport
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.garbage import SLACK_SECONDS, unneeded_since
from scheduler.ledger import Ledger
from scheduler.records import NewFile
from scheduler.verbs import RunVerbs

HOUR, DAY = 3600, 86_400
FAR = float("inf")


@pytest.fixture
def store(tmp_path):
    return FolderArtifactStore(tmp_path / "artifacts")


def place_of(store, key):
    return Path(store._place(key))


def let_age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def put(store, key, age):
    store.put(key, os.urandom(100))
    let_age(place_of(store, key), age)
    return place_of(store, key).stat().st_size


def collect(store, days, **kw):
    return collect_garbage(store.path, time.time() - days * DAY, **{"dry_run": False, **kw})


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_what_was_not_used_for_so_long_goes_and_the_rest_stays(store):
    old, new = put(store, "text/a", 31 * DAY), put(store, "text/b", 29 * DAY)
    assert collect(store, 30) == GarbageReport(1, old, 1, new, 0, 1)
    assert store.get("text/a") is None
    assert store.get("text/b") is not None
    assert not place_of(store, "text/a").parent.exists()


def test_a_dry_run_tells_the_same_and_changes_nothing(store):
    put(store, "text/a", 31 * DAY)
    put(store, "text/b", DAY)
    (store.path / "tmp" / "left").write_bytes(b"half")
    let_age(store.path / "tmp" / "left", 2 * DAY)
    before = names(store.path)
    told = collect(store, 30, dry_run=True)
    assert names(store.path) == before
    assert told == collect(store, 30)
    assert (told.removed, told.drafts, told.folders) == (1, 1, 1)


def test_reading_is_use(store):
    put(store, "text/a", 31 * DAY)
    assert store.get("text/a") is not None
    assert collect(store, 30).removed == 0


def test_the_time_of_use_is_renewed_once_an_hour_at_most(store):
    put(store, "text/a", HOUR / 2)
    before = place_of(store, "text/a").stat().st_mtime_ns
    store.get("text/a")
    assert place_of(store, "text/a").stat().st_mtime_ns == before
    let_age(place_of(store, "text/a"), 2 * HOUR)
    store.get("text/a")
    assert place_of(store, "text/a").stat().st_mtime_ns >= before


def test_who_may_only_read_still_reads(store, monkeypatch):
    put(store, "text/a", DAY)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pipeline.adapters.artifacts.os.utime", refuse)
    assert store.get("text/a") is not None


def test_unfinished_files_of_crashed_writers_go_and_those_of_living_ones_stay(store):
    drafts = store.path / "tmp"
    (drafts / "dead").write_bytes(b"half")
    (drafts / "dead-store").mkdir()
    (drafts / "dead-store" / "id").write_text("x")
    for name in ("dead", "dead-store"):
        let_age(drafts / name, 2 * DAY)
    (drafts / "alive").write_bytes(b"half")
    assert collect(store, 30).drafts == 2
    assert names(drafts) == ["alive"]


def test_files_that_no_store_has_put_there_are_left_alone_and_keep_their_folder(store):
    put(store, "text/a", 31 * DAY)
    shelf = place_of(store, "text/a").parent
    for name in (".nfs0001", "Read Me.txt"):
        (shelf / name).write_text("mine")
        let_age(shelf / name, 99 * DAY)
    (store.path / "objects" / "loose").write_text("mine")
    report = collect(store, 30)
    assert (report.removed, report.kept, report.folders) == (1, 0, 0)
    assert names(shelf) == [".nfs0001", "Read Me.txt"]
    assert (store.path / "objects" / "loose").exists()


def test_the_store_keeps_its_id_and_goes_on(store):
    put(store, "text/a", 31 * DAY)
    collect_garbage(store.path, FAR, dry_run=False)
    assert names(store.path / "objects") == []
    store.put("text/a", b"again")
    assert store.get("text/a") == b"again"
    assert FolderArtifactStore(store.path).store_id == store.store_id


@pytest.mark.parametrize("contents", [None, [], ["objects/abc/text~a"], ["store/id"]])
def test_a_folder_that_is_no_store_is_refused_with_the_fix_and_left_as_it_is(tmp_path, contents):
    folder = tmp_path / "photos"
    for name in contents or []:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("mine")
    if contents == []:
        folder.mkdir()
    before = names(tmp_path)
    with pytest.raises(ArtifactStoreMissing, match=r"photos is no artifact folder.*GRAPHMILL_ARTIFACTS_DIR"):
        collect_garbage(folder, FAR, dry_run=False)
    assert names(tmp_path) == before


def test_readers_and_writers_beside_it_see_all_or_nothing_and_no_error(store):
    data = {f"text/{i}": os.urandom(2000) for i in range(40)}
    over, faults = threading.Event(), []

    def work():
        try:
            while not over.is_set():
                for key, value in data.items():
                    store.put(key, value)
                    if store.get(key) not in (None, value):
                        faults.append(key)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must learn of it
            faults.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    removed = folders = 0
    deadline = time.monotonic() + 60
    while (removed < 500 or folders < 100) and time.monotonic() < deadline:
        report = collect_garbage(store.path, FAR, dry_run=False)
        removed, folders = removed + report.removed, folders + report.folders
    over.set()
    for worker in workers:
        worker.join()
    assert faults == []
    assert removed >= 500


# Which may go


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def ledger(client):
    return Ledger(client, lease_ms=60_000, queue_ttl_ms=60_000, max_starts=3)


@pytest.fixture
def finalizes(client):
    return FinalizeLedger(client, ttl_ms=60_000)


NOW = time.time()
KEEP = 30 * DAY


def test_without_work_that_goes_on_the_limit_alone_counts(ledger, finalizes):
    ledger.seal(ledger.open_run("kb", "/", finalize="never", options={}))
    assert unneeded_since(ledger, finalizes, NOW, KEEP) == NOW - KEEP


def test_a_run_that_goes_on_keeps_what_was_used_since_it_was_opened(client, ledger, finalizes):
    verbs = RunVerbs(client, ledger)
    runs = [ledger.open_run("kb", "/", finalize="never", options={}) for _ in range(2)]
    for run, age in zip(runs, (90, 10), strict=True):
        ledger.append(run, 0, [NewFile("a", 1)])
        ledger.seal(run)
        client.hset(f"gm:run:{run}", "created_at", int((NOW - age * DAY) * 1000))
    assert unneeded_since(ledger, finalizes, NOW, KEEP) == pytest.approx(NOW - 90 * DAY - SLACK_SECONDS)
    verbs.pause(runs[0], "for long")
    assert unneeded_since(ledger, finalizes, NOW, KEEP) == pytest.approx(NOW - 90 * DAY - SLACK_SECONDS)
    verbs.cancel(runs[0])
    assert unneeded_since(ledger, finalizes, NOW, KEEP) == NOW - KEEP
    assert unneeded_since(ledger, finalizes, NOW, DAY) == pytest.approx(NOW - 10 * DAY - SLACK_SECONDS)


def test_a_finalize_that_goes_on_keeps_what_it_has_sealed(ledger, finalizes):
    now = time.time()
    number = finalizes.begin("kb", forced=True)
    assert unneeded_since(ledger, finalizes, now, 0) == pytest.approx(now - SLACK_SECONDS, abs=5)
    finalizes.end(Shard("kb", number, Phase.PLAN, 0), "stopped")
    assert unneeded_since(ledger, finalizes, now, 0) == now
