"""A graph follows a folder: which of its documents the folder answers for, and the plan for them.

The id of a document is its path below the root, whatever the root. So a document of another root that is named like a
file here can only be that file, whose folder was moved or is seen under another path, or get into its way.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError, PermanentError
from pipeline.models import PlacedDocument
from scheduler.documents import select_files
from scheduler.folders import ListedFile, Tree, list_files
from scheduler.sync_plan import SyncPlan, plan_sync

_NAMED = 3
"""Files in the way of others that a message names."""


class FolderEmpty(PermanentError):
    """A folder of which the graph holds documents is gone or empty; a share may not be mounted."""


class RootUnclear(PermanentError):
    """The graph names the files of a folder from another root, or holds other files of the same names."""


def plan_folder(
    graph: str, root: Path, path: Path, config: LoadConfig, documents: Iterable[PlacedDocument], *, allow_empty: bool
) -> SyncPlan:
    """Compare the files at and beneath a path with the documents of a graph.

    Raises `RootUnclear` where the graph knows those files from another root alone, or knows other files by their
    names; `FolderEmpty` and `LoadError` as `list_or_refuse` does.
    """
    tree = Tree(root)
    own, foreign = _tell_apart(documents, str(root), tree)
    is_below = tree.below(path)
    below = [document for document in own if is_below(document.path)]
    if not below:
        _refuse_other_root(path, foreign)
    tables = {document.path for document in chain(own, *foreign.values()) if document.table}
    listed = list_or_refuse(root, path, config, below, tables, allow_empty=allow_empty)
    names = {file.path for file in listed}
    # A link may lead to a file beside the path.
    beside = [document for document in own if document.path in names and not is_below(document.path)]
    moved = _choose_moved(tree, path, {file.path for file in listed if file.code is None}, foreign)
    return plan_sync(graph, str(root), listed, [*below, *beside, *moved], tree.is_gone)


def list_or_refuse(
    root: Path,
    path: Path,
    config: LoadConfig,
    known: Sequence[PlacedDocument],
    tables: Collection[str],
    *,
    allow_empty: bool,
) -> list[ListedFile]:
    """List the files at and beneath a path, of which `known` are documents.

    Raises `FolderEmpty` where nothing can be read there, but the graph holds documents of it, unless that is
    allowed; `LoadError` for a path that is unknown to the graph and not there, or lies outside the root.
    """
    try:
        listed = list(list_files(root, path, config, tables))
    except LoadError as error:
        if error.load_code is not LoadCode.MISSING or not known:
            raise
        listed = []
    if known and not allow_empty and all(file.code is not None for file in listed):
        raise FolderEmpty(
            f"{path} holds no file that can be read, but the graph has {len(known):,} documents of it. Is a share not "
            "mounted? Where they are all to leave the graph, `graphmill sync --allow-empty` lets them go."
        )
    return listed


def _tell_apart(
    documents: Iterable[PlacedDocument], root: str, tree: Tree
) -> tuple[list[PlacedDocument], dict[Tree, list[PlacedDocument]]]:
    """Tell the documents of a root, under whichever name, from those of others."""
    by_root: defaultdict[str, list[PlacedDocument]] = defaultdict(list)
    # Text follows no folder.
    for document in select_files(documents):
        by_root[document.root].append(document)
    own = by_root.pop(root, [])
    foreign = {}
    for name, some in by_root.items():
        other = Tree(Path(name))
        if other.is_same(tree):
            own += some
        else:
            foreign[other] = some
    return own, foreign


def _refuse_other_root(path: Path, foreign: dict[Tree, list[PlacedDocument]]) -> None:
    others: set[str] = set()
    for other, some in foreign.items():
        is_below = other.below(path)
        others |= {document.root for document in some if is_below(document.path)}
    if others:
        names = ", ".join(sorted(others))
        raise RootUnclear(f"The graph names the files of {path} from another folder. Give that with --root: {names}.")


def _choose_moved(
    tree: Tree, path: Path, readable: Collection[str], foreign: dict[Tree, list[PlacedDocument]]
) -> list[PlacedDocument]:
    """Choose the documents of other roots whose files are here now, and no more there.

    Where a folder is not there because its share is not mounted, its documents must not go with the sync of another
    one. So documents that have no file here either belong to this folder only where all files of their root are gone
    there, and at least half of them are here. Raises `RootUnclear` for files that get into each other's way.
    """
    is_below = tree.below(path)
    moved: list[PlacedDocument] = []
    in_the_way: list[PlacedDocument] = []
    for other, some in foreign.items():
        for document in some:
            if document.path in readable:
                here = other.is_gone(document.path) or other.shares(document.path, tree)
                (moved if here else in_the_way).append(document)
        below = [document for document in some if is_below(document.path)]
        rest = [document for document in below if document.path not in readable]
        if rest and 2 * len(rest) <= len(below) and all(other.is_gone(document.path) for document in below):
            moved += rest
    if in_the_way:
        raise RootUnclear(_explain_in_the_way(tree, path, in_the_way))
    return moved


def _explain_in_the_way(tree: Tree, path: Path, documents: Sequence[PlacedDocument]) -> str:
    shown = ", ".join(f"{document.path} (of {document.root})" for document in documents[:_NAMED])
    more = f" and {len(documents) - _NAMED:,} more" if len(documents) > _NAMED else ""
    roots = {os.path.realpath(document.root) for document in documents}
    common = os.path.commonpath([tree.root, *roots])
    return (
        f"The graph holds documents that are named like files of {path}, but made from other files, which are still "
        f"there: {shown}{more}. One name is one document, so they would replace each other. Keep this folder in "
        f"another graph (--graph), or both in a new one under a root that holds both (--root {common})."
    )
