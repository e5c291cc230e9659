"""Orders for documents that a graph holds already: which are meant, and what is to be done with them."""

import difflib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pipeline.config import RecipeConfig
from pipeline.errors import PermanentError
from pipeline.ids import file_document_id, unescape_path
from pipeline.models import PlacedDocument
from scheduler.records import NewFile, Op
from scheduler.states import FileState

_NAMED = 5
"""Unknown documents that a message names; of the others it tells how many there are."""


class DocumentUnknown(PermanentError):
    """The graph holds no such document; the message names those that may be meant."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a run did to its graph, in documents; `kept` are those that stayed as they were."""

    added: int
    updated: int
    renamed: int
    removed: int
    kept: int
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class Reextraction:
    """Documents that are to be made anew with one recipe, from the files of one root ('' for text)."""

    root: str
    recipe: RecipeConfig
    files: tuple[NewFile, ...]


def count_changes(counts: dict[str, int], renamed: int) -> Changes:
    """Tell what a run did by its counts of outcomes, `renamed` of which are renames among the updates."""
    kept = counts[FileState.UNCHANGED] + counts[FileState.CHANGED]
    return Changes(
        added=counts[FileState.WRITTEN],
        updated=counts[FileState.UPDATED] - renamed,
        renamed=renamed,
        removed=counts[FileState.REMOVED],
        kept=kept,
        skipped=counts[FileState.SKIPPED],
        failed=counts[FileState.FAILED],
    )


def find_documents(known: Iterable[PlacedDocument], wanted: Sequence[str]) -> list[PlacedDocument]:
    """Find documents by id, or by the path of their file; each once, in the order of their ids.

    A file that was ingested under several roots has several documents, and its path means all.
    Raises `DocumentUnknown` where one is not there.
    """
    by_id: dict[str, PlacedDocument] = {}
    by_place: defaultdict[bytes, list[PlacedDocument]] = defaultdict(list)
    for document in known:
        by_id[document.id] = document
        if document.root:
            by_place[_place(os.path.join(os.fsencode(document.root), unescape_path(document.path)))].append(document)  # noqa: PTH118 - bytes, not Path
    found: dict[str, PlacedDocument] = {}
    unknown = []
    for name in wanted:
        meant = [by_id[name]] if name in by_id else by_place.get(_place(os.fsencode(name)), [])
        found |= {document.id: document for document in meant}
        if not meant:
            unknown.append(name)
    if unknown:
        raise DocumentUnknown(_explain(unknown, list(by_id)))
    return [found[name] for name in sorted(found)]


def select_files(documents: Iterable[PlacedDocument]) -> list[PlacedDocument]:
    """Choose the documents of files, which a folder has or lacks."""
    return [one for one in documents if one.root and one.id == file_document_id(one.path)]


def order_deletions(documents: Iterable[PlacedDocument]) -> list[NewFile]:
    """Make the lines of a run that removes documents."""
    return [_order(document, Op.DELETE) for document in documents]


def order_reextractions(
    documents: Iterable[PlacedDocument], recipe_of: Callable[[PlacedDocument], RecipeConfig]
) -> list[Reextraction]:
    """Make the lines of runs that make documents anew: one run for each root and recipe."""
    runs: defaultdict[tuple[str, str], list[NewFile]] = defaultdict(list)
    recipes: dict[str, RecipeConfig] = {}
    for document in documents:
        recipe = recipe_of(document)
        recipes[recipe.fingerprint] = recipe
        runs[document.root, recipe.fingerprint].append(_order(document, Op.REEXTRACT))
    return [Reextraction(root, recipes[recipe], tuple(files)) for (root, recipe), files in sorted(runs.items())]


def _order(document: PlacedDocument, op: Op) -> NewFile:
    order = {"op": op.value}
    if document.id != file_document_id(document.path):
        order["id"] = document.id
    return NewFile(document.path or document.id, 0, order=order)


def _place(path: bytes) -> bytes:
    """Spell where a file is, or was, in one way: folders on the way may be links."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - bytes, not Path
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def _explain(unknown: Sequence[str], known: Sequence[str]) -> str:
    parts = []
    for name in unknown[:_NAMED]:
        near = difflib.get_close_matches(name, known, 1) or difflib.get_close_matches(file_document_id(name), known, 1)
        parts.append(f"{name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
    return (
        f"The graph holds no document {', '.join(parts)}{more}. Nothing was changed. "
        "Documents are named by their id, as answers cite it, or by the path of their file."
    )
