"""What every stage relies on: an artifact is whole or absent, and a failing store says so."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from pipeline.adapters.artifacts import FolderArtifactStore
from pipeline.errors import ArtifactsUnavailable, TransientError
from pipeline.ids import artifact_key

KEY = artifact_key("chunk", ("input", "settings"))


@pytest.fixture
def store(tmp_path):
    return FolderArtifactStore(tmp_path / "artifacts")


def files_of(store):
    return [path for path in (store.path / "objects").rglob("*") if path.is_file()]


def read_store_id(path):
    return FolderArtifactStore(path).store_id


@pytest.mark.parametrize("data", [b"", b"x", b"abc" * 10_000, os.urandom(5_000)])
def test_what_was_put_comes_back(store, data):
    store.put(KEY, data)
    assert store.get(KEY) == data
    assert FolderArtifactStore(store.path).get(KEY) == data


def test_an_unknown_key_is_missing(store):
    assert store.get(KEY) is None


def test_putting_twice_is_putting_once(store):
    store.put(KEY, b"same")
    store.put(KEY, b"same")
    assert store.get(KEY) == b"same"
    assert len(files_of(store)) == 1


def test_repetitive_data_is_stored_smaller_and_tiny_data_plain(store):
    store.put("a", b"word " * 10_000)
    store.put("b", b"tiny")
    sizes = sorted(path.stat().st_size for path in files_of(store))
    assert sizes[0] < 100
    assert sizes[1] < 5_000


def test_keys_that_look_alike_stay_apart(store):
    for key in ("a/b", "a-b", "a.b", "a_b"):
        store.put(key, key.encode())
    assert [store.get(key) for key in ("a/b", "a-b", "a.b", "a_b")] == [b"a/b", b"a-b", b"a.b", b"a_b"]


@pytest.mark.parametrize("key", ["", "../x", "a/../b", "/a", "a//b", "a/", "A", "a b", "a~b", ".a", "a\n", "x" * 201])
def test_a_key_that_could_leave_the_folder_is_refused(store, key):
    with pytest.raises(ValueError, match="not an artifact key"):
        store.put(key, b"x")
    with pytest.raises(ValueError, match="not an artifact key"):
        store.get(key)


@pytest.mark.parametrize("damage", ["shortened", "emptied", "flipped", "marked plain", "foreign"])
def test_a_damaged_artifact_is_missing_and_removed(store, damage):
    store.put(KEY, b"some text " * 500)
    (file,) = files_of(store)
    whole = file.read_bytes()
    file.write_bytes(
        {
            "shortened": whole[: len(whole) // 2],
            "emptied": b"",
            "flipped": whole[:-1] + bytes([whole[-1] ^ 1]),
            "marked plain": whole[:4] + b"p" + whole[5:],
            "foreign": b"PK\x03\x04" + whole[4:],
        }[damage]
    )
    assert store.get(KEY) is None
    assert files_of(store) == []
    store.put(KEY, b"again")
    assert store.get(KEY) == b"again"


def test_readers_never_see_part_of_an_artifact(store):
    versions = [bytes([n]) * 200_000 for n in range(5)]
    store.put(KEY, versions[0])
    torn = []
    done = threading.Event()

    def read():
        while not done.is_set():
            if store.get(KEY) not in versions:
                torn.append(1)

    reader = threading.Thread(target=read)
    reader.start()
    for version in versions * 20:
        store.put(KEY, version)
    done.set()
    reader.join()
    assert torn == []
    assert list((store.path / "tmp").iterdir()) == []


def test_the_store_id_is_made_once_and_stays(store, tmp_path):
    assert FolderArtifactStore(store.path).store_id == store.store_id
    assert FolderArtifactStore(tmp_path / "other").store_id != store.store_id


def test_processes_that_open_a_new_store_at_once_agree_on_its_id(tmp_path):
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        list(pool.map(os.path.exists, [tmp_path] * 4))  # all of them are up before the race
        ids = set(pool.map(read_store_id, [tmp_path / "new"] * 16))
    assert len(ids) == 1


def test_a_damaged_store_id_is_reported_not_replaced(store):
    (store.path / "store" / "id").write_text("not a uuid")
    with pytest.raises(ArtifactsUnavailable, match="damaged"):
        FolderArtifactStore(store.path)


def test_what_killed_processes_left_behind_is_swept_after_a_day(store):
    old, new = store.path / "tmp" / "old", store.path / "tmp" / "new"
    old.write_bytes(b"x")
    new.write_bytes(b"x")
    os.utime(old, (1, 1))
    FolderArtifactStore(store.path)
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_is_not_mounted_is_an_error_and_not_a_missing_artifact(store):
    store.path.rename(store.path.with_name("moved"))
    store.path.mkdir()  # the mount point stays
    with pytest.raises(ArtifactsUnavailable, match="mounted"):
        store.get(KEY)
    with pytest.raises(ArtifactsUnavailable, match="mounted"):
        store.put(KEY, b"x")
    assert list(store.path.iterdir()) == []


def test_a_file_in_the_folders_place_is_explained(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ArtifactsUnavailable, match=str(tmp_path)):
        FolderArtifactStore(tmp_path / "taken")


@pytest.mark.parametrize(
    ("code", "fix"), [(errno.ENOSPC, "free space"), (errno.EACCES, "read and write access"), (errno.EIO, "check it")]
)
def test_a_failing_disk_is_transient_and_the_message_names_folder_and_fix(store, monkeypatch, code, fix):
    def fail(*_args, **_kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(TransientError) as caught:
        store.put(KEY, b"x")
    assert isinstance(caught.value, ArtifactsUnavailable)
    assert str(store.path) in str(caught.value)
    assert fix in str(caught.value)
    assert list((store.path / "tmp").iterdir()) == [], "nothing half written stays"


def test_a_write_that_the_system_cuts_short_leaves_nothing(store):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    program = (
        "import os, resource, sys, pathlib\n"
        "from pipeline.adapters.artifacts import FolderArtifactStore\n"
        "from pipeline.errors import ArtifactsUnavailable\n"
        "store = FolderArtifactStore(pathlib.Path(sys.argv[1]))\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (4096, {before[1]}))\n"
        "try:\n"
        f"    store.put({KEY!r}, os.urandom(100_000))\n"
        "except ArtifactsUnavailable as error:\n"
        "    sys.exit(0 if 'limit' in str(error) else 2)\n"
        "sys.exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(store.path)], check=True, cwd=Path(__file__).parents[2])
    assert store.get(KEY) is None
    assert list((store.path / "tmp").iterdir()) == []


def test_a_folder_that_is_removed_is_made_anew_and_has_another_id(tmp_path):
    store = FolderArtifactStore(tmp_path / "artifacts")
    store.put("text/a", b"one")
    before = store.store_id
    shutil.rmtree(tmp_path / "artifacts")
    assert store.get("text/a") is None
    store.put("text/a", b"two")
    assert store.get("text/a") == b"two"
    assert store.store_id != before
