"""What a graph lacks to be as a folder."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError
from pipeline.ids import bytes_hash
from pipeline.models import PlacedDocument
from scheduler.folders import ListedFile
from scheduler.sync_plan import SyncPlan, plan_sync
from scheduler.syncing import FolderEmpty, RootUnclear, plan_folder

ROOT = Path("/corpus")


def stored(path: str, content: str, root: Path | str = ROOT, name: str = "", table: str = "") -> PlacedDocument:
    return PlacedDocument(name or f"file:{path}", path, str(root), bytes_hash(content.encode()), "made so", table)


def listed(path: str, content: str) -> ListedFile:
    return ListedFile(path, len(content), bytes_hash(content.encode()))


def plan(files: list[ListedFile], known: list[PlacedDocument], present: tuple[str, ...] = ()) -> SyncPlan:
    """Plan, where `present` are paths that are there although they are not listed."""
    there = {file.path for file in files} | set(present)
    return plan_sync("kb", str(ROOT), files, known, lambda path: path not in there)


def told(made: SyncPlan) -> dict[str, object]:
    """Spell what a plan does, without what it does not."""
    parts = {
        "added": [file.path for file in made.added],
        "updated": [file.path for file in made.updated],
        "renamed": [(one.document.path, one.file.path) for one in made.renamed],
        "adopted": [file.path for file in made.adopted],
        "removed": [document.path for document in made.removed],
        "kept": made.kept,
        "unread": [(file.path, file.code) for file in made.unread],
    }
    return {name: part for name, part in parts.items() if part}


def test_nothing_is_done_where_all_is_as_it_was() -> None:
    made = plan([listed("a.txt", "A"), listed("b.txt", "B")], [stored("a.txt", "A"), stored("b.txt", "B")])
    assert told(made) == {"kept": 2}
    assert made.files == []


def test_new_changed_and_gone_files_are_told_apart() -> None:
    made = plan(
        [listed("a.txt", "A2"), listed("b.txt", "B"), listed("n.txt", "N")],
        [stored("a.txt", "A"), stored("b.txt", "B"), stored("gone.txt", "G")],
    )
    assert told(made) == {"added": ["n.txt"], "updated": ["a.txt"], "removed": ["gone.txt"], "kept": 1}
    assert [(one.relative, one.order) for one in made.files] == [
        ("a.txt", None), ("gone.txt", {"op": "delete"}), ("n.txt", None)
    ]  # fmt: skip


def test_a_renamed_folder_is_renames_alone() -> None:
    made = plan(
        [listed("new/a.txt", "A"), listed("new/b.txt", "B")], [stored("old/a.txt", "A"), stored("old/b.txt", "B")]
    )
    assert told(made) == {"renamed": [("old/a.txt", "new/a.txt"), ("old/b.txt", "new/b.txt")]}
    assert made.files[0].order == {"op": "rename", "from": "file:old/a.txt"}


def test_swapped_names_are_two_updates_as_both_files_are_there() -> None:
    made = plan([listed("a.txt", "B"), listed("b.txt", "A")], [stored("a.txt", "A"), stored("b.txt", "B")])
    assert told(made) == {"updated": ["a.txt", "b.txt"]}


def test_a_file_that_was_renamed_and_changed_is_a_new_one() -> None:
    made = plan([listed("new.txt", "A2")], [stored("old.txt", "A")])
    assert told(made) == {"added": ["new.txt"], "removed": ["old.txt"]}


def test_of_equal_files_the_first_by_path_are_renamed_and_the_rest_goes_or_comes() -> None:
    known = [stored("c.txt", "same"), stored("a.txt", "same"), stored("b.txt", "same")]
    made = plan([listed("y.txt", "same"), listed("x.txt", "same")], known)
    assert told(made) == {"renamed": [("a.txt", "x.txt"), ("b.txt", "y.txt")], "removed": ["c.txt"]}
    made = plan([listed("x.txt", "same"), listed("y.txt", "same")], [stored("a.txt", "same")])
    assert told(made) == {"renamed": [("a.txt", "x.txt")], "added": ["y.txt"]}


def test_a_copy_is_no_rename() -> None:
    made = plan([listed("a.txt", "same"), listed("b.txt", "same")], [stored("a.txt", "same")])
    assert told(made) == {"added": ["b.txt"], "kept": 1}


def test_another_ending_is_no_rename_as_another_reader_takes_it() -> None:
    made = plan([listed("a.md", "A")], [stored("a.txt", "A")])
    assert told(made) == {"added": ["a.md"], "removed": ["a.txt"]}
    assert told(plan([listed("a.TXT", "A")], [stored("a.txt", "A")])) == {"renamed": [("a.txt", "a.TXT")]}


def test_what_cannot_be_read_keeps_its_document_and_is_told() -> None:
    files = [
        ListedFile("locked.txt", 1, code=LoadCode.UNREADABLE),
        ListedFile("picture.png", 1, code=LoadCode.UNSUPPORTED_FORMAT),
    ]
    made = plan(files, [stored("locked.txt", "L"), stored("hidden/.a.txt", "H")], present=("hidden/.a.txt",))
    assert told(made) == {"unread": [("locked.txt", LoadCode.UNREADABLE)], "kept": 2}


def test_documents_below_an_unreadable_folder_stay_whatever_the_system_says_of_them() -> None:
    files = [ListedFile("sub", 0, code=LoadCode.UNREADABLE), listed("a.txt", "A")]
    made = plan(files, [stored("sub/deep/b.txt", "B"), stored("subway.txt", "S")])
    assert told(made) == {"added": ["a.txt"], "removed": ["subway.txt"], "kept": 1, "unread": [("sub", "unreadable")]}


PATHS = st.sampled_from([f"{folder}{name}" for folder in ("", "x/", "y/") for name in ("a.txt", "b.txt", "c.md")])
HELD = st.dictionaries(PATHS, st.sampled_from("ABC"))


@given(HELD, HELD)
def test_each_file_and_each_document_is_in_one_part_of_the_plan_and_has_one_line(files, known) -> None:
    made = plan([listed(*one) for one in files.items()], [stored(*one) for one in known.items()])
    parts = [made.updated, [one.document for one in made.renamed], made.removed]
    documents = [one.path for part in parts for one in part]
    assert len(set(documents)) == len(documents) == len(known) - made.kept
    assert set(documents) <= known.keys()
    ahead = [one.path for part in (made.added, made.updated, [one.file for one in made.renamed]) for one in part]
    assert len(set(ahead)) == len(ahead)
    assert set(ahead) == {path for path in files if files[path] != known.get(path)}
    lines = [one.relative for one in made.files]
    assert lines == sorted(set(lines))
    assert set(lines) == {*ahead, *(document.path for document in made.removed)}


# Over real folders


def plan_real(
    root: Path, documents: list[PlacedDocument], path: Path | None = None, *, allow_empty: bool = False
) -> dict[str, object]:
    return told(plan_folder("kb", root, path or root, LoadConfig(), documents, allow_empty=allow_empty))


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "corpus"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("A", "utf-8")
    (root / "sub" / "b.txt").write_text("B", "utf-8")
    return root


def test_a_folder_below_leaves_the_rest_alone(folder) -> None:
    known = [stored(name, "old", folder) for name in ("a.txt", "gone.txt", "sub/gone.txt", "subway.txt")]
    assert plan_real(folder, known, folder / "sub") == {"added": ["sub/b.txt"], "removed": ["sub/gone.txt"]}


def test_a_single_file_may_be_followed(folder) -> None:
    known = [stored("a.txt", "old", folder), stored("gone.txt", "G", folder)]
    assert plan_real(folder, known, folder / "a.txt") == {"updated": ["a.txt"]}


def test_text_tables_and_documents_of_other_roots_are_not_looked_at(folder) -> None:
    known = [
        stored("a.txt", "A", folder),
        stored("sub/b.txt", "B", folder),
        stored("", "text", "", name="note-1"),
        stored("gone.csv", "rows", folder, name="table:gone.csv"),
        stored("gone.txt", "G", "/elsewhere"),
    ]
    assert plan_real(folder, known) == {"kept": 2}


def test_a_table_is_followed_to_its_new_name_and_other_files_of_its_ending_are_none(folder) -> None:
    (folder / "sub" / "moved.csv").write_text("rows", "utf-8")
    (folder / "other.csv").write_text("a,b", "utf-8")
    known = [stored("gone.csv", "rows", folder, table="order"), stored("a.txt", "A", folder)]
    assert plan_real(folder, known) == {"renamed": [("gone.csv", "sub/moved.csv")], "added": ["sub/b.txt"], "kept": 1}
    (folder / "gone.csv").write_text("rows", "utf-8")
    assert plan_real(folder, known) == {"added": ["sub/b.txt"], "kept": 2}
    known[0] = stored("gone.csv", "rows", folder)
    (folder / "gone.csv").unlink()
    assert plan_real(folder, known)["removed"] == ["gone.csv"], "a document that is no table is none under another name"


def test_another_root_of_the_same_files_is_named_rather_than_everything_added_again(folder) -> None:
    known = [stored("sub/b.txt", "B", folder)]
    with pytest.raises(RootUnclear, match=str(folder)):
        plan_real(folder / "sub", known)
    assert plan_real(folder, known, folder / "sub") == {"kept": 1}


def test_an_unmounted_share_empties_no_graph(folder, tmp_path) -> None:
    known = [stored("a.txt", "A", folder)]
    for there in folder.rglob("*.txt"):
        there.unlink()
    (folder / "sub" / "leftover.png").touch()
    with pytest.raises(FolderEmpty, match="--allow-empty"):
        plan_real(folder, known)
    assert plan_real(folder, known, allow_empty=True) == {"removed": ["a.txt"]}
    missing = tmp_path / "missing"
    with pytest.raises(FolderEmpty):
        plan_real(missing, [stored("a.txt", "A", missing)])
    assert plan_real(missing, [stored("a.txt", "A", missing)], allow_empty=True) == {"removed": ["a.txt"]}
    with pytest.raises(LoadError, match="does not exist"):
        plan_real(missing, [])


def test_an_empty_folder_of_which_nothing_is_known_is_in_order(tmp_path) -> None:
    assert plan_real(tmp_path, []) == {}


def test_hidden_files_are_left_as_they_are(folder) -> None:
    (folder / ".drafts").mkdir()
    (folder / ".drafts" / "d.txt").write_text("D", "utf-8")
    known = [stored("a.txt", "A", folder), stored("sub/b.txt", "B", folder), stored(".drafts/d.txt", "D", folder)]
    assert plan_real(folder, known) == {"kept": 3}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_keeps_its_documents(folder) -> None:
    known = [stored("a.txt", "A", folder), stored("sub/b.txt", "B", folder), stored("sub/c.txt", "C", folder)]
    (folder / "sub").chmod(0)
    try:
        assert plan_real(folder, known) == {"kept": 3, "unread": [("sub", LoadCode.UNREADABLE)]}
    finally:
        (folder / "sub").chmod(0o700)


def test_links_are_followed_as_ingest_does(folder) -> None:
    known = [stored("a.txt", "A", folder), stored("old/b.txt", "B", folder), stored("link.txt", "A", folder)]
    (folder / "old").symlink_to("sub")
    (folder / "link.txt").symlink_to("a.txt")
    assert plan_real(folder, known) == {"renamed": [("old/b.txt", "sub/b.txt")], "removed": ["link.txt"], "kept": 1}


def test_a_link_to_a_file_beside_the_folder_is_that_file(folder) -> None:
    (folder / "sub" / "link.txt").symlink_to(folder / "a.txt")
    known = [stored("a.txt", "A", folder), stored("sub/b.txt", "B", folder), stored("sub/c.txt", "A", folder)]
    assert plan_real(folder, known, folder / "sub") == {"removed": ["sub/c.txt"], "kept": 2}, (
        "no rename to what is known"
    )
    known[0] = stored("a.txt", "old", folder)
    assert plan_real(folder, known[:2], folder / "sub") == {"updated": ["a.txt"], "kept": 1}
    assert plan_real(folder, known[1:2], folder / "sub") == {"added": ["a.txt"], "kept": 1}


def test_a_link_to_a_table_beside_the_folder_is_that_table(folder) -> None:
    (folder / "a.csv").write_text("rows", "utf-8")
    (folder / "sub" / "link.csv").symlink_to(folder / "a.csv")
    known = [
        stored("sub/b.txt", "B", folder),
        stored("sub/gone.csv", "rows", folder, table="order"),
        stored("a.csv", "rows", folder, table="order"),
    ]
    assert plan_real(folder, known, folder / "sub") == {"removed": ["sub/gone.csv"], "kept": 2}


def test_a_link_that_leaves_the_root_keeps_what_was_there(folder, tmp_path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("C", "utf-8")
    (folder / "moved").symlink_to(outside)
    known = [stored("a.txt", "A", folder), stored("sub/b.txt", "B", folder), stored("moved/c.txt", "C", folder)]
    assert plan_real(folder, known) == {"kept": 3, "unread": [("moved", LoadCode.OUTSIDE_ROOT)]}


def test_odd_names_are_found_again(folder) -> None:
    name = b"caf\xe9\x01.txt"
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(b"odd")
    known = [stored("a.txt", "A", folder), stored("sub/b.txt", "B", folder), stored(r"caf\xe9\x01.txt", "odd", folder)]
    assert plan_real(folder, known) == {"kept": 3}
