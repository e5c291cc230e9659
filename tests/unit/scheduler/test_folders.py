"""What a folder on disk holds, and which files are gone from it for certain."""

import os
from pathlib import Path

import pytest

from pipeline.config import LoadConfig
from pipeline.errors import LoadCode
from pipeline.ids import bytes_hash
from scheduler.folders import ListedFile, Tree, list_files


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "corpus"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("A", "utf-8")
    (root / "sub" / "b.txt").write_text("B", "utf-8")
    return root


def test_a_path_is_gone_only_where_the_system_says_so(folder, monkeypatch) -> None:
    assert Tree(folder).is_gone("none.txt")
    assert Tree(folder).is_gone("a.txt/beneath.txt")
    assert not Tree(folder).is_gone("sub/b.txt")

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "lstat", refuse)
    assert not Tree(folder).is_gone("none.txt")


def test_a_path_that_became_a_folder_is_gone(folder) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").mkdir()
    assert Tree(folder).is_gone("a.txt")


def test_a_path_that_leads_through_a_link_is_gone_where_the_link_stays_in_the_root(folder, tmp_path) -> None:
    (folder / "again").symlink_to("sub")
    (tmp_path / "outside.txt").touch()
    (folder / "c.txt").symlink_to(tmp_path / "outside.txt")
    assert Tree(folder).is_gone("again/b.txt")
    assert not Tree(folder).is_gone("c.txt")


@pytest.mark.parametrize(("before", "now"), [("a.txt", "A.txt"), ("sub/b.txt", "Sub/b.txt")])
def test_a_name_that_is_spelled_otherwise_now_is_gone_also_where_the_system_finds_it(
    folder, monkeypatch, before, now
) -> None:
    """A file system that takes upper and lower case for one name."""
    look = os.lstat
    spelled = {os.fsencode(before): os.fsencode(now)}

    def fold(path: object, **how: object) -> os.stat_result:
        found = os.fsencode(path)
        for old, new in spelled.items():
            found = found.replace(b"/" + old, b"/" + new)
        return look(found, **how)

    (folder / before.partition("/")[0]).rename(folder / now.partition("/")[0])
    monkeypatch.setattr(os, "lstat", fold)
    assert Tree(folder).is_gone(before)
    assert not Tree(folder).is_gone(now)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_in_a_folder_that_may_be_entered_but_not_listed_is_there(folder) -> None:
    (folder / "sub").chmod(0o100)
    try:
        assert not Tree(folder).is_gone("sub/b.txt")
    finally:
        (folder / "sub").chmod(0o700)


def test_two_names_of_one_folder_are_told(folder, tmp_path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert Tree(folder).is_same(Tree(tmp_path / "link"))
    assert not Tree(folder).is_same(Tree(folder / "sub"))
    assert not Tree(folder).is_same(Tree(tmp_path / "none"))


def test_what_is_no_known_table_is_passed_over_also_where_it_cannot_be_read(folder) -> None:
    for name in ("known.csv", "large.csv", "small.csv"):
        (folder / name).write_text("id\n" if name == "small.csv" else "id,name\n" * 100, "utf-8")
    limits = LoadConfig(max_file_bytes=50)
    listed = {file.path: file for file in list_files(folder, folder, limits, {"known.csv"})}
    assert listed["large.csv"].code is LoadCode.UNSUPPORTED_FORMAT
    assert listed["known.csv"].code is LoadCode.TOO_LARGE
    small = ListedFile("small.csv", 3, bytes_hash(b"id\n"), LoadCode.UNSUPPORTED_FORMAT)
    assert listed["small.csv"] == small, "it may be a table under another name"
