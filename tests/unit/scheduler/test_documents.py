"""Which stored documents are meant, and the orders for them."""

import pytest

from pipeline.config import ChunkConfig, LoadConfig, RecipeConfig
from pipeline.models import PlacedDocument
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.documents import (
    Changes,
    DocumentUnknown,
    count_changes,
    find_documents,
    order_deletions,
    order_reextractions,
)
from scheduler.states import FileState


def of_file(path: str, root: object) -> PlacedDocument:
    return PlacedDocument(f"file:{path}", path, str(root), "hash", "made so", "")


TEXT = PlacedDocument("note-1", "", "", "hash", "made otherwise", "")


def test_documents_are_found_by_id_and_by_the_path_of_their_file(tmp_path, monkeypatch) -> None:
    known = [of_file("notes/a.md", tmp_path), of_file("notes/b.md", tmp_path), TEXT]
    monkeypatch.chdir(tmp_path)
    wanted = ["notes/a.md", "file:notes/b.md", "note-1", str(tmp_path / "notes" / "a.md"), "notes/../notes/a.md"]
    assert find_documents(known, wanted) == [*known[:2], TEXT]


def test_a_path_through_a_link_is_the_same_file(tmp_path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    known = [of_file("gone.md", tmp_path / "real")]
    assert find_documents(known, [str(tmp_path / "link" / "gone.md")]) == known


def test_a_file_of_two_roots_is_two_documents_and_its_path_means_both(tmp_path) -> None:
    known = [of_file("a.md", tmp_path / "sub"), of_file("sub/a.md", tmp_path)]
    assert find_documents(known, [str(tmp_path / "sub" / "a.md")]) == known


def test_unknown_documents_are_named_with_what_may_be_meant() -> None:
    with pytest.raises(DocumentUnknown) as caught:
        find_documents([of_file("travel.md", "/docs"), TEXT], ["file:travle.md", "travel.mdx", "zzz", "note-1"])
    said = str(caught.value)
    assert "'file:travle.md' (did you mean 'file:travel.md'?)" in said
    assert "'travel.mdx' (did you mean 'file:travel.md'?)" in said
    assert "'zzz'" in said
    assert "note-1" not in said
    assert "Nothing was changed" in said


def test_many_unknown_documents_are_counted() -> None:
    with pytest.raises(DocumentUnknown, match="and 3 more"):
        find_documents([], [f"none{i}" for i in range(8)])


def test_orders_name_what_is_no_file_by_its_id() -> None:
    orders = order_deletions([of_file("a.md", "/docs"), TEXT])
    assert [(one.relative, one.order) for one in orders] == [
        ("a.md", {"op": "delete"}),
        ("note-1", {"op": "delete", "id": "note-1"}),
    ]


def recipe(tokens: int) -> RecipeConfig:
    return RecipeConfig(
        extractor="spacy-rules", ontology=DEFAULT_ONTOLOGY, load=LoadConfig(), chunk=ChunkConfig(max_tokens=tokens)
    )


def test_documents_are_made_anew_in_a_run_for_each_root_and_each_recipe() -> None:
    known = [of_file("b.md", "/two"), of_file("a.md", "/one"), of_file("c.md", "/one"), TEXT]
    recipes = {"file:a.md": recipe(64), "note-1": recipe(64)}
    runs = order_reextractions(known, lambda document: recipes.get(document.id, recipe(128)))
    assert {(one.root, one.recipe.chunk.max_tokens): [f.relative for f in one.files] for one in runs} == {
        ("", 64): ["note-1"],
        ("/one", 64): ["a.md"],
        ("/one", 128): ["c.md"],
        ("/two", 128): ["b.md"],
    }
    assert [dict(f.order) for one in runs if not one.root for f in one.files] == [{"op": "reextract", "id": "note-1"}]


def test_renames_are_counted_apart_from_updates() -> None:
    counts = dict.fromkeys((state.value for state in FileState), 0)
    counts |= {"written": 2, "updated": 5, "removed": 1, "unchanged": 3, "changed": 1, "failed": 1}
    assert count_changes(counts, 2) == Changes(added=2, updated=3, renamed=2, removed=1, kept=4, skipped=0, failed=1)
