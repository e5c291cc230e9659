"""A sync where the graph names the files from another root: the folder was moved, or it is another one."""

from pathlib import Path

import pytest

from pipeline.config import LoadConfig
from pipeline.ids import bytes_hash
from pipeline.models import PlacedDocument
from scheduler.records import NewFile
from scheduler.sync_plan import SyncPlan
from scheduler.syncing import RootUnclear, plan_folder


def put(root: Path, name: str, content: str) -> PlacedDocument:
    """Write a file; gives the document that an ingest makes of it."""
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content, "utf-8")
    table = "order" if name.endswith(".csv") else ""
    return PlacedDocument(f"file:{name}", name, str(root), bytes_hash(content.encode()), "made so", table)


def plan(root: Path, documents: list[PlacedDocument], path: Path | None = None) -> SyncPlan:
    return plan_folder("kb", root, path or root, LoadConfig(), documents, allow_empty=False)


def told(made: SyncPlan) -> dict[str, object]:
    """Spell what a plan does, without what it does not."""
    parts = {name: [file.path for file in getattr(made, name)] for name in ("added", "updated", "adopted", "removed")}
    parts["renamed"] = [one.file.path for one in made.renamed]
    return {name: part for name, part in parts.items() if part} | ({"kept": made.kept} if made.kept else {})


@pytest.fixture
def old(tmp_path) -> Path:
    return tmp_path / "old"


@pytest.fixture
def new(tmp_path) -> Path:
    return tmp_path / "new"


def test_a_folder_that_was_moved_is_adopted_with_plain_lines(old, new) -> None:
    known = [put(old, name, name) for name in ("a.txt", "sub/b.txt", "rows.csv")]
    old.rename(new)
    made = plan(new, known)
    assert told(made) == {"adopted": ["a.txt", "rows.csv", "sub/b.txt"]}
    assert made.files == [NewFile("a.txt", 5), NewFile("rows.csv", 8), NewFile("sub/b.txt", 9)]
    assert made.root == str(new)


def test_what_happened_to_a_folder_besides_its_move_is_followed(old, new) -> None:
    known = [put(old, f"{name}.txt", name) for name in "abcde"]
    old.rename(new)
    put(new, "a.txt", "changed")
    (new / "b.txt").unlink()
    (new / "c.txt").rename(new / "moved.txt")
    put(new, "n.txt", "new")
    made = plan(new, known)
    assert told(made) == {
        "added": ["n.txt"], "updated": ["a.txt"], "renamed": ["moved.txt"], "removed": ["b.txt"],
        "adopted": ["d.txt", "e.txt"],
    }  # fmt: skip


def test_a_folder_below_one_that_was_moved_is_adopted_alone(old, new) -> None:
    known = [put(old, name, name) for name in ("a.txt", "sub/b.txt", "sub/c.txt")]
    old.rename(new)
    (new / "sub" / "c.txt").unlink()
    assert told(plan(new, known, new / "sub")) == {"adopted": ["sub/b.txt"], "removed": ["sub/c.txt"]}


def test_a_folder_that_another_host_sees_elsewhere_is_adopted_beside_what_is_known_here(new) -> None:
    here, there = put(new, "a.txt", "A"), put(new, "b.txt", "B")
    foreign = PlacedDocument(there.id, there.path, "/mnt/of/another/host", there.source_hash, "made so", "")
    assert told(plan(new, [here, foreign])) == {"adopted": ["b.txt"], "kept": 1}


def test_the_same_folder_under_another_name_is_adopted_whole(old, new) -> None:
    known = [put(old, "a.txt", "A"), put(old, "gone.txt", "G"), put(old, "also.txt", "L"), put(old, "last.txt", "L")]
    for name in ("gone", "also", "last"):
        (old / f"{name}.txt").unlink()
    new.symlink_to(old)
    assert told(plan(new, known)) == {"adopted": ["a.txt"], "removed": ["also.txt", "gone.txt", "last.txt"]}


def test_files_that_went_one_by_one_to_another_folder_are_adopted_there(old, new) -> None:
    known = [put(old, "a.txt", "A"), put(old, "b.txt", "B")]
    new.mkdir()
    (old / "a.txt").rename(new / "a.txt")
    assert told(plan(new, known)) == {"adopted": ["a.txt"]}


def test_a_file_whose_old_place_is_a_link_to_the_new_one_is_adopted(old, new) -> None:
    known = [put(old, "a.txt", "A")]
    new.mkdir()
    (old / "a.txt").rename(new / "a.txt")
    (old / "a.txt").symlink_to(new / "a.txt")
    assert told(plan(new, known)) == {"adopted": ["a.txt"]}


def test_a_sync_of_one_folder_removes_nothing_of_another_whose_share_is_not_mounted(old, new) -> None:
    known = [put(old, name, name) for name in ("readme.txt", "x.txt", "y.txt", "z.txt")]
    old.rename(old.with_name("unmounted"))
    put(new, "readme.txt", "another")
    put(new, "n.txt", "N")
    expected = {"added": ["n.txt"], "updated": ["readme.txt"]}
    assert told(plan(new, known)) == expected
    old.mkdir()
    assert told(plan(new, known)) == expected, "the place of a share is there and empty"


def test_documents_of_a_folder_that_is_there_are_not_looked_at(old, new) -> None:
    known = [put(old, "a.txt", "A"), put(old, "gone.txt", "G")]
    (old / "gone.txt").unlink()
    put(new, "n.txt", "N")
    assert told(plan(new, known)) == {"added": ["n.txt"]}


def test_another_file_of_the_same_name_is_refused_with_what_to_do(old, new, tmp_path) -> None:
    known = [put(old, "readme.txt", "old"), put(old, "a.txt", "A"), put(new, "n.txt", "N")]
    put(new, "readme.txt", "new")
    with pytest.raises(RootUnclear) as refused:
        plan(new, known)
    for part in (f"readme.txt (of {old})", "--graph", f"--root {tmp_path}"):
        assert part in str(refused.value)
    assert "a.txt" not in str(refused.value)
    (new / "readme.txt").unlink()
    assert told(plan(new, known)) == {"kept": 1}, "what is not here is the other folder's"


def test_of_many_files_in_the_way_some_are_named(old, new) -> None:
    known = [put(old, f"{i}.txt", "old") for i in range(9)]
    for i in range(9):
        put(new, f"{i}.txt", "new")
    with pytest.raises(RootUnclear, match="and 6 more"):
        plan(new, known)


def test_a_file_that_cannot_be_read_here_gets_into_nobodys_way(old, new) -> None:
    known = [put(old, "a.txt", "A")]
    put(new, "n.txt", "N")
    (new / "a.txt").symlink_to("nowhere.txt")
    assert told(plan(new, known)) == {"added": ["n.txt"]}
