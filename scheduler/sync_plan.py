"""What must be done for a graph to follow a folder: a plan, made of what is listed and what is stored."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipeline.errors import SKIP_CODES, LoadCode
from pipeline.models import PlacedDocument
from scheduler.documents import order_deletions
from scheduler.folders import ListedFile, ending_of
from scheduler.records import NewFile, Op


@dataclass(frozen=True, slots=True)
class Rename:
    """A document whose file has another name now."""

    document: PlacedDocument
    file: ListedFile


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a graph lacks to be as the folder; documents of other roots and folders are not looked at.

    `adopted` are files as the graph holds them, but named from the place where the folder was before (or where
    another host sees it): their documents get this root. `kept` counts the documents of which nothing is to be done.
    `unread` are files that cannot be read now: their documents stay as they are.
    """

    graph: str
    root: str
    added: tuple[ListedFile, ...]
    updated: tuple[ListedFile, ...]
    renamed: tuple[Rename, ...]
    adopted: tuple[ListedFile, ...]
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
        reads = (NewFile(one.path, one.size) for one in (*self.added, *self.updated, *self.adopted))
        return sorted([*reads, *renames, *order_deletions(self.removed)], key=lambda one: one.relative)


def plan_sync(
    graph: str,
    root: str,
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
    held = [file for file in readable if file.path in stored]
    updated = [file for file in held if stored[file.path].source_hash != file.source_hash]
    adopted = [
        file for file in held if stored[file.path].source_hash == file.source_hash and stored[file.path].root != root
    ]
    gone = _choose_gone(stored, files, is_gone)
    added, renamed = _match_renames([file for path, file in files.items() if path not in stored], gone)
    moved = {one.document.id for one in renamed}
    unread = (files[path] for path in sorted(files) if files[path].code is not None)
    return SyncPlan(
        graph,
        root,
        added=tuple(added),
        updated=tuple(updated),
        renamed=tuple(renamed),
        adopted=tuple(adopted),
        removed=tuple(document for document in gone if document.id not in moved),
        kept=len(stored) - len(updated) - len(adopted) - len(gone),
        unread=tuple(file for file in unread if file.code not in SKIP_CODES),
    )


def _choose_gone(
    stored: dict[str, PlacedDocument], files: dict[str, ListedFile], is_gone: Callable[[str], bool]
) -> list[PlacedDocument]:
    """Choose the documents whose files are not there any more, by path."""
    closed = {file.path for file in files.values() if file.code is LoadCode.UNREADABLE}
    unlisted = (path for path in sorted(stored.keys() - files.keys()) if closed.isdisjoint(_folders_of(path)))
    return [stored[path] for path in unlisted if is_gone(path)]


def _match_renames(new: Iterable[ListedFile], gone: Iterable[PlacedDocument]) -> tuple[list[ListedFile], list[Rename]]:
    """Tell files that no document is named after into those that are new, and those that had another name."""
    waiting: defaultdict[tuple[str, str], deque[PlacedDocument]] = defaultdict(deque)
    for document in gone:
        waiting[document.source_hash, ending_of(document.path)].append(document)
    added, renamed = [], []
    for file in sorted(new, key=lambda one: one.path):
        # One with a code and a hash may be a table under another name.
        same = waiting[file.source_hash, ending_of(file.path)] if file.source_hash else None
        if same:
            renamed.append(Rename(same.popleft(), file))
        elif file.code is None:
            added.append(file)
    return added, renamed


def _folders_of(path: str) -> list[str]:
    return [path[:end] for end, char in enumerate(path) if char == "/"]
