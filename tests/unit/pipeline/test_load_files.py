"""Reading one file below the root, whatever lies there."""

import itertools
import os
import socket
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from pipeline.config import LoadConfig
from pipeline.errors import FileNotReady, LoadCode, LoadError
from pipeline.ids import escape_path
from pipeline.load import files as files_module
from pipeline.load import read_file

CONFIG = LoadConfig(max_file_bytes=1000)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_bytes(b"hello")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return folder


def refused(root, relative, config=CONFIG):
    with pytest.raises(LoadError) as caught:
        read_file(root, relative, config)
    return caught.value.load_code


def test_a_file_in_a_folder_is_read(root):
    assert read_file(root, "sub/a.txt", CONFIG) == b"hello"


def test_a_root_reached_through_a_link_is_fine(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    assert read_file(tmp_path / "link", "sub/a.txt", CONFIG) == b"hello"


def test_names_that_are_not_utf8_are_read_by_their_escaped_path(root):
    name = b"caf\xe9 \\ \n.txt"
    Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"x")
    assert read_file(root, escape_path(name), CONFIG) == b"x"


@pytest.mark.parametrize(
    "relative", ["../secret.txt", "sub/../../secret.txt", "/etc/passwd", "", ".", "sub//a.txt", "./sub/a.txt", "sub/"]
)
def test_a_path_that_leaves_the_root_or_is_spelled_otherwise_is_refused(root, relative):
    assert refused(root, relative) is LoadCode.OUTSIDE_ROOT


@pytest.mark.parametrize("target", ["../secret.txt", "sub/a.txt"])
def test_links_to_files_are_refused(root, target):
    (root / "link.txt").symlink_to(target)
    assert refused(root, "link.txt") is LoadCode.OUTSIDE_ROOT


def test_links_to_folders_on_the_way_are_refused(root):
    (root / "up").symlink_to("..")
    assert refused(root, "up/secret.txt") is LoadCode.OUTSIDE_ROOT


@pytest.mark.parametrize("relative", ["gone.txt", "nowhere/a.txt", "sub/a.txt/b.txt", r"a\x00.txt", "\udcff.txt"])
def test_what_is_not_there_is_missing(root, relative):
    assert refused(root, relative) is LoadCode.MISSING


def test_a_folder_called_like_a_file_is_not_a_file(root):
    (root / "x.pdf").mkdir()
    assert refused(root, "x.pdf") is LoadCode.NOT_A_FILE


def test_a_pipe_does_not_block(root):
    os.mkfifo(root / "pipe.txt")
    assert refused(root, "pipe.txt") is LoadCode.NOT_A_FILE


def test_a_pipe_that_takes_the_place_of_a_file_does_not_block(root, monkeypatch):
    os.mkfifo(root / "pipe.txt")
    checked = (root / "sub" / "a.txt").stat()
    monkeypatch.setattr(files_module, "_refuse_link", lambda *_: checked)
    assert refused(root, "pipe.txt") is LoadCode.NOT_A_FILE


def test_a_socket_is_not_a_file(root, monkeypatch):
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.txt")
        assert refused(root, "s.txt") is LoadCode.NOT_A_FILE


def test_a_file_over_the_limit_is_not_read(root):
    (root / "big.txt").write_bytes(b"x" * 1001)
    assert refused(root, "big.txt") is LoadCode.TOO_LARGE


def test_a_file_at_the_limit_is_read(root):
    (root / "big.txt").write_bytes(b"x" * 1000)
    assert len(read_file(root, "big.txt", CONFIG)) == 1000


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(root):
    (root / "sub" / "a.txt").chmod(0)
    assert refused(root, "sub/a.txt") is LoadCode.UNREADABLE


def test_a_disk_error_is_unreadable(root, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    assert refused(root, "sub/a.txt") is LoadCode.UNREADABLE


def test_a_root_that_is_not_mounted_says_nothing_about_the_file(tmp_path):
    with pytest.raises(FileNotReady, match="mounted") as caught:
        read_file(tmp_path / "gone", "a.txt", CONFIG)
    assert caught.value.code == "root_missing"


@pytest.mark.parametrize("change", [b"grown", b""])
def test_a_file_that_changes_while_it_is_read_is_tried_again(root, monkeypatch, change):
    file = root / "sub" / "a.txt"
    read = os.read

    def read_then_change(descriptor, size):
        block = read(descriptor, size)
        file.write_bytes(b"hello" + change)
        return block

    monkeypatch.setattr(os, "read", read_then_change)
    os.utime(file, ns=(1, 1))
    with pytest.raises(FileNotReady, match="changed") as caught:
        read_file(root, "sub/a.txt", CONFIG)
    assert caught.value.code == "keeps_changing"


def test_a_change_in_the_same_tick_of_the_clock_is_noticed(root, monkeypatch):
    """The file's times and size say nothing of it; only its bytes do."""
    file = root / "sub" / "a.txt"
    read, stated = os.read, file.stat()
    monkeypatch.setattr(os, "fstat", lambda _: stated)
    monkeypatch.setattr(time, "time_ns", lambda: stated.st_ctime_ns + 1)

    def read_then_change(descriptor, size):
        block = read(descriptor, size)
        file.write_bytes(b"world")
        return block

    monkeypatch.setattr(os, "read", read_then_change)
    with pytest.raises(FileNotReady, match="changed"):
        read_file(root, "sub/a.txt", CONFIG)


@pytest.mark.parametrize("change", ["rewritten", "extended"])
def test_what_is_read_of_a_file_that_somebody_keeps_writing_is_what_it_held_at_one_instant(root, change):
    """Versions are written from the front: at any instant the file is a part of the new one before one of the old."""
    file = root / "sub" / "a.txt"
    size, first = 600_000, 0
    file.write_bytes(bytes([first]) * size)
    over = threading.Event()

    def write():
        with file.open("r+b" if change == "rewritten" else "ab", buffering=0) as out:
            # The pauses are as long as a read, so that reads begin and end at every point of a write.
            for version in itertools.cycle([*range(1, 256), first]):
                if over.wait(0.0004):
                    return
                if change == "rewritten":
                    out.seek(0)
                    out.write(bytes([version]) * size)
                else:
                    out.write(b"+")

    writer = threading.Thread(target=write)
    writer.start()
    results = Counter()
    try:
        deadline = time.monotonic() + 20
        while min(results["read"], results["keeps_changing"]) < 20 and time.monotonic() < deadline:
            try:
                data = read_file(root, "sub/a.txt", LoadConfig())
            except FileNotReady as error:
                results[error.code] += 1
            else:
                results["read"] += 1
                if change == "rewritten":
                    new, old = data[0], data[-1]
                    at = data.count(new)
                    assert data == bytes([new]) * at + bytes([old]) * (size - at)
                    assert (new - old) % 256 <= 1
                else:
                    assert data == bytes([first]) * size + b"+" * (len(data) - size)
    finally:
        over.set()
        writer.join()
    assert results["keeps_changing"] > 0
    assert read_file(root, "sub/a.txt", LoadConfig()) == file.read_bytes()


def test_no_descriptor_is_left_open(root):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for relative in ("sub/a.txt", "sub/gone.txt", "sub", "nowhere/x"):
        try:
            read_file(root, relative, CONFIG)
        except LoadError:
            continue
    assert len(list(Path("/proc/self/fd").iterdir())) == before
