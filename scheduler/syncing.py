"""What must be done for a graph to follow a folder: a plan, made of what is listed and what is stored."""

import os
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipeline.config import LoadConfig
from pipeline.errors import SKIP_CODES, FileNotReady, LoadCode, LoadError, PermanentError
from pipeline.ids import bytes_hash, unescape_path
from pipeline.load import read_file, walk_files
from pipeline.models import PlacedDocument
from scheduler.documents import order_deletions, select_files
from scheduler.records import NewFile, Op


class FolderEmpty(PermanentError):
    """A folder of which the graph holds documents is gone or empty; a share may not be mounted."""


class RootUnclear(PermanentError):
    """The graph names the files of a folder relative to another root than the one that was given."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that is there: its escaped path below the root, and the hash of its bytes or why it cannot be read.

    One with both is no table that the graph knows, but may be one under another name.
    """

    path: str
    size: int
    source_hash: str = ""
    code: LoadCode | None = None


@dataclass(frozen=True, slots=True)
class Rename:
    """A document whose file has another name now."""

    document: PlacedDocument
    file: ListedFile


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a graph lacks to be as the folder; documents of other roots and folders are not looked at.

    `unread` are files that cannot be read now: their documents stay as they are.
    """

    graph: str
    root: str
    added: tuple[ListedFile, ...]
    updated: tuple[ListedFile, ...]
    renamed: tuple[Rename, ...]
    removed: tuple[PlacedDocument, ...]
    kept: int
    unread: tuple[ListedFile, ...]

    @property
    def files(self) -> list[NewFile]:
        """The lines of the run that does it; empty where nothing is to be done."""
        renames = (
            NewFile(one.file.path, one.file.size, order={"op": Op.RENAME.value, "from": one.document.id})
            for one in self.renamed
        )
        reads = (NewFile(one.path, one.size) for one in (*self.added, *self.updated))
        return sorted([*reads, *renames, *order_deletions(self.removed)], key=lambda one: one.relative)


def plan_folder(
    graph: str, root: Path, path: Path, config: LoadConfig, documents: Iterable[PlacedDocument], *, allow_empty: bool
) -> SyncPlan:
    """Compare the files at and beneath a path with the documents of a graph.

    Raises `RootUnclear`, `FolderEmpty`, `LoadError` as `select_known` and `list_or_refuse` do.
    """
    known = select_known(documents, root, path)
    listed = list_or_refuse(root, path, config, known, allow_empty=allow_empty)
    return plan_sync(graph, root, listed, known, partial(is_gone, root))


def list_files(root: Path, path: Path, config: LoadConfig, tables: Collection[str] = ()) -> Iterator[ListedFile]:
    """List the files at and beneath a path with their hashes; raises `LoadError` where it is not in the root.

    `tables` are paths of known tables: those files are read whatever they are called, as are others of their endings.
    """
    endings = {_ending(table) for table in tables}
    for found in walk_files(root, [path]):
        is_table = found.code is LoadCode.UNSUPPORTED_FORMAT and found.relative in tables
        may_be = found.code is LoadCode.UNSUPPORTED_FORMAT and _ending(found.relative) in endings
        if found.code is not None and not may_be:
            yield ListedFile(found.relative, found.size, code=found.code)
            continue
        try:
            data = read_file(root, found.relative, config)
        except (LoadError, FileNotReady) as error:
            # One that went meanwhile is as if it had not been listed.
            if error.load_code is not LoadCode.MISSING:
                yield ListedFile(found.relative, found.size, code=error.load_code)
        else:
            yield ListedFile(found.relative, found.size, bytes_hash(data), None if is_table else found.code)


def select_known(documents: Iterable[PlacedDocument], root: Path, path: Path) -> list[PlacedDocument]:
    """Choose the documents of files at and beneath a path, as named from its root.

    Raises `RootUnclear` where there is none, but the graph names files of that path from another root.
    """
    folder = _real(path)
    tops: dict[str, bytes] = {}
    known, others = [], set()
    # Text follows no folder.
    for document in select_files(documents):
        top = tops.get(document.root)
        if top is None:
            top = tops[document.root] = _real(Path(document.root))
        if _is_at(os.path.join(top, unescape_path(document.path)), folder):  # noqa: PTH118 - bytes, not Path
            if document.root == str(root):
                known.append(document)
            else:
                others.add(document.root)
    if not known and others:
        names = ", ".join(sorted(others))
        raise RootUnclear(f"The graph names the files of {path} from another folder. Give that with --root: {names}.")
    return known


def list_or_refuse(
    root: Path, path: Path, config: LoadConfig, known: Sequence[PlacedDocument], *, allow_empty: bool
) -> list[ListedFile]:
    """List the files at and beneath a path.

    Raises `FolderEmpty` where nothing can be read there, but the graph holds documents of it, unless that is
    allowed; `LoadError` for a path that is unknown to the graph and not there, or lies outside the root.
    """
    try:
        listed = list(list_files(root, path, config, {document.path for document in known if document.table}))
    except LoadError as error:
        if error.load_code is not LoadCode.MISSING or not known:
            raise
        listed = []
    if known and not allow_empty and all(file.code is not None for file in listed):
        raise FolderEmpty(
            f"{path} holds no file that can be read, but the graph has {len(known):,} documents of it. Is a share not "
            "mounted? Where they are all to leave the graph, give --allow-empty."
        )
    return listed


def plan_sync(
    graph: str,
    root: Path,
    listed: Iterable[ListedFile],
    known: Iterable[PlacedDocument],
    is_gone: Callable[[str], bool],
) -> SyncPlan:
    """Compare files with documents.

    A document goes only where `is_gone` says so of its path: what is hidden, unreadable or behind an unreadable
    folder is not listed, but there. A new file with the bytes of a document whose file is gone, and with the same
    ending (which chooses the reader), is a rename; of several the first by path go together.
    """
    stored = {document.path: document for document in known}
    files = {file.path: file for file in listed}
    readable = [files[path] for path in sorted(files) if files[path].code is None]
    new = [file for file in readable if file.path not in stored]
    tables = [file for file in files.values() if file.code is not None and file.source_hash]
    updated = [f for f in readable if f.path in stored and stored[f.path].source_hash != f.source_hash]
    closed = {file.path for file in files.values() if file.code is LoadCode.UNREADABLE}
    unlisted = (path for path in sorted(stored.keys() - files.keys()) if closed.isdisjoint(_folders_of(path)))
    gone = [stored[path] for path in unlisted if is_gone(path)]
    waiting: defaultdict[tuple[str, str], deque[PlacedDocument]] = defaultdict(deque)
    for document in gone:
        waiting[document.source_hash, _ending(document.path)].append(document)
    added, renamed = [], []
    for file in sorted([*new, *tables], key=lambda one: one.path):
        same = waiting[file.source_hash, _ending(file.path)]
        if same:
            renamed.append(Rename(same.popleft(), file))
        elif file.code is None:
            added.append(file)
    moved = {one.document.id for one in renamed}
    unread = (files[path] for path in sorted(files) if files[path].code is not None)
    return SyncPlan(
        graph,
        str(root),
        added=tuple(added),
        updated=tuple(updated),
        renamed=tuple(renamed),
        removed=tuple(document for document in gone if document.id not in moved),
        kept=len(stored) - len(updated) - len(gone),
        unread=tuple(file for file in unread if file.code not in SKIP_CODES),
    )


def is_gone(root: Path, relative: str) -> bool:
    """Tell whether no file has that path any more: what cannot be looked at is not gone.

    A path that now leads through a link to another place within the root is gone: that place counts.
    """
    top = _real(root)
    path = os.path.join(top, unescape_path(relative))  # noqa: PTH118 - bytes, not Path
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    real = os.path.realpath(path)
    return real != path and _is_at(real, top)


def _folders_of(path: str) -> list[str]:
    return [path[:end] for end, char in enumerate(path) if char == "/"]


def _ending(path: str) -> str:
    return Path(path).suffix.lower()


def _real(path: Path) -> bytes:
    return os.path.realpath(os.fsencode(path))


def _is_at(path: bytes, folder: bytes) -> bool:
    """Tell whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
