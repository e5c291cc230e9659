"""Listing a corpus: what is told, in which order, and what is never followed."""

import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError
from pipeline.load import read_file, walk_files


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def listed(root, *paths):
    return [(found.relative, found.code) for found in walk_files(root, paths or [root])]


def test_files_are_listed_by_name_folder_by_folder_without_hidden_ones(tmp_path):
    make(tmp_path, "b.txt", "a/z.md", "a/c/d.PDF", ".git/x.txt", ".hidden.txt", "e.rst")
    assert [name for name, _ in listed(tmp_path)] == ["a/c/d.PDF", "a/z.md", "b.txt", "e.rst"]


def test_size_and_time_are_told(tmp_path):
    make(tmp_path, "b.txt")
    os.utime(tmp_path / "b.txt", ns=(5, 1_234_567_891))
    (found,) = walk_files(tmp_path, [tmp_path])
    assert (found.size, found.mtime_ns) == (5, 1_234_567_891)


def test_files_that_no_reader_takes_are_told(tmp_path):
    make(tmp_path, "a.docx", "README")
    assert listed(tmp_path) == [(name, LoadCode.UNSUPPORTED_FORMAT) for name in ("README", "a.docx")]


def test_pipes_are_told(tmp_path):
    os.mkfifo(tmp_path / "p.txt")
    assert listed(tmp_path) == [("p.txt", LoadCode.NOT_A_FILE)]


def test_a_link_loop_ends(tmp_path):
    make(tmp_path, "a/b.txt")
    (tmp_path / "a" / "loop").symlink_to("..")
    (tmp_path / "self.txt").symlink_to("self.txt")
    assert listed(tmp_path) == [("a/b.txt", None), ("self.txt", LoadCode.MISSING)]


def test_a_link_to_a_listed_file_adds_nothing(tmp_path):
    make(tmp_path, "a/b.txt")
    (tmp_path / "link.txt").symlink_to("a/b.txt")
    assert listed(tmp_path) == [("a/b.txt", None)]


def test_links_to_a_file_that_is_not_walked_list_it_once_by_its_real_path(tmp_path):
    make(tmp_path, "store/b.txt", "in/a.txt")
    for name in ("x.txt", "y.txt"):
        (tmp_path / "in" / name).symlink_to("../store/b.txt")
    found = listed(tmp_path, tmp_path / "in")
    assert found == [("in/a.txt", None), ("store/b.txt", None)]
    assert read_file(tmp_path, "store/b.txt", LoadConfig()) == b"store/b.txt"


def test_a_link_to_a_hidden_file_lists_it(tmp_path):
    make(tmp_path, ".annex/b.txt")
    (tmp_path / "link.txt").symlink_to(".annex/b.txt")
    assert listed(tmp_path) == [(".annex/b.txt", None)]


def test_links_out_of_the_root_are_told_and_not_followed(tmp_path):
    root = make(tmp_path / "root", "a.txt")
    make(tmp_path / "root-2", "secret.txt")
    (root / "file.txt").symlink_to(tmp_path / "root-2" / "secret.txt")
    (root / "folder").symlink_to(tmp_path / "root-2")
    assert listed(root) == [
        ("a.txt", None),
        ("file.txt", LoadCode.OUTSIDE_ROOT),
        ("folder", LoadCode.OUTSIDE_ROOT),
    ]


def test_broken_links_are_told(tmp_path):
    (tmp_path / "x.txt").symlink_to("nowhere.txt")
    assert listed(tmp_path) == [("x.txt", LoadCode.MISSING)]


def test_a_link_to_a_folder_that_is_not_walked_is_told(tmp_path):
    make(tmp_path, "in/a.txt", "other/b.txt")
    (tmp_path / "in" / "link").symlink_to("../other")
    assert listed(tmp_path, tmp_path / "in") == [("in/a.txt", None), ("in/link", LoadCode.NOT_A_FILE)]


def test_paths_that_lie_in_each_other_list_each_file_once(tmp_path):
    make(tmp_path, "a/b/c.txt", "a/d.txt", ".h/e.txt")
    a = tmp_path / "a"
    found = listed(tmp_path, a / "b" / "c.txt", a / "b", a, a, tmp_path, tmp_path / ".h" / "e.txt")
    assert sorted(found) == [(".h/e.txt", None), ("a/b/c.txt", None), ("a/d.txt", None)]


def test_both_forms_of_an_accent_and_undecodable_names_are_three_files(tmp_path):
    for name in ("\u00e9.txt".encode(), "e\u0301.txt".encode(), b"\xff.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(name)
    found = [name for name, _ in listed(tmp_path)]
    assert sorted(found) == sorted(["\u00e9.txt", "e\u0301.txt", r"\xff.txt"])
    assert {read_file(tmp_path, name, LoadConfig()) for name in found} == {
        "\u00e9.txt".encode(),
        "e\u0301.txt".encode(),
        b"\xff.txt",
    }


def test_names_that_differ_in_case_are_two_files_and_so_are_two_hard_links(tmp_path):
    make(tmp_path, "a.txt", "A.txt")
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")
    assert [name for name, _ in listed(tmp_path)] == ["A.txt", "a.txt", "b.txt"]


def test_a_path_that_is_a_link_is_listed_as_what_it_leads_to(tmp_path):
    make(tmp_path, "real/a.txt", "real/deep/b.txt")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "file.txt").symlink_to("real/a.txt")
    (tmp_path / "over").symlink_to("real/deep/..")
    expected = [("real/a.txt", None), ("real/deep/b.txt", None)]
    places = [
        tmp_path / "folder",
        tmp_path / "real",
        tmp_path / "file.txt",
        tmp_path / "over",
        tmp_path / "real/../real",
    ]
    assert listed(tmp_path, *places) == expected
    for place in (tmp_path / "folder", tmp_path / "over"):
        assert listed(tmp_path, place) == expected
    assert listed(tmp_path / "folder") == [("a.txt", None), ("deep/b.txt", None)], "the root may be a link too"


def test_a_path_that_leads_out_of_the_root_says_where_to(tmp_path):
    make(tmp_path, "in/a.txt", "out/b.txt")
    (tmp_path / "in" / "link.txt").symlink_to("../out/b.txt")
    with pytest.raises(LoadError, match=r"in/link\.txt \(in truth .*/out/b\.txt\) lies outside the files root"):
        walk_files(tmp_path / "in", [tmp_path / "in" / "link.txt"])


def test_a_listing_of_many_files_takes_little_memory_each(tmp_path):
    """The names of one folder are held, as they are sorted; about a hundred bytes each."""
    count = 5000
    folder = os.open(tmp_path, os.O_RDONLY)
    for i in range(count):
        os.close(os.open(f"document-{i:06}.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    tracemalloc.start()
    try:
        assert sum(1 for _ in walk_files(tmp_path, [tmp_path])) == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300 * count


def test_a_path_that_is_not_there_is_an_error_before_anything_is_listed(tmp_path):
    with pytest.raises(LoadError, match=r"gone\.txt does not exist") as caught:
        walk_files(tmp_path, [tmp_path, tmp_path / "gone.txt"])
    assert caught.value.load_code is LoadCode.MISSING


def test_a_path_outside_the_root_is_an_error(tmp_path):
    make(tmp_path, "root/a.txt", "b.txt")
    with pytest.raises(LoadError) as caught:
        walk_files(tmp_path / "root", [tmp_path / "b.txt"])
    assert caught.value.load_code is LoadCode.OUTSIDE_ROOT


def test_trees_deeper_than_the_stack_are_walked(tmp_path):
    depth = 1200
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("a.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    ((name, code),) = listed(tmp_path)
    data = read_file(tmp_path, name, LoadConfig())
    # pytest removes folders recursively, and would fall over this one.
    subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)
    assert (name.count("/"), code, data) == (depth, None, b"")


def test_listing_streams(tmp_path):
    make(tmp_path, "a/1.txt", "b/2.txt")
    walk = walk_files(tmp_path, [tmp_path])
    assert next(walk).relative == "a/1.txt"
    (tmp_path / "b" / "3.txt").write_text("late")
    assert [found.relative for found in walk] == ["b/2.txt", "b/3.txt"]
