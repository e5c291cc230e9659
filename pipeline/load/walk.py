"""Listing a corpus: every file once, in a stable order, in memory for one folder's names."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import LoadCode, LoadError
from pipeline.ids import escape_path

SUPPORTED_SUFFIXES = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".pdf"})
"""File name endings, in lower case, that some reader takes."""

_SUFFIXES = tuple(suffix.encode() for suffix in sorted(SUPPORTED_SUFFIXES))


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One listed file: escaped path below the root, size in bytes, modification time.

    `code` says why it will not be read; None where nothing speaks against it.
    """

    relative: str
    size: int
    mtime_ns: int
    code: LoadCode | None = None


def walk_files(root: Path, paths: Sequence[Path]) -> Iterator[FoundFile]:
    """List the files at and beneath `paths`, folders sorted by name, each file once.

    Names with a leading dot are passed over unless they are named in `paths`. Links to folders are
    never followed. A link to a file stands for its target, which must lie inside the root; it is
    listed by its real path. Memory grows with the names of the folders on the way down, and with
    links whose targets lie outside of all walked folders.

    Args:
        root: The files root; all listed paths are relative to it.
        paths: Files and folders inside the root.

    Raises:
        LoadError: `MISSING` for a path that is not there, `OUTSIDE_ROOT` for one outside the root.
            Both are raised before the first file is listed.
    """
    return _Walk(root, paths).run()


class _Walk:
    """One listing: its root, the starting points that do not lie in each other, the links seen."""

    def __init__(self, root: Path, paths: Sequence[Path]) -> None:
        self._root = os.path.realpath(os.fsencode(root))
        starts = sorted({self._resolve_start(path) for path in paths})
        self._folders = [start for start in starts if os.path.isdir(start)]  # noqa: PTH112 - bytes, not Path
        self._starts = [start for start in starts if not self._is_walked(start)]
        self._starting = frozenset(starts)
        self._linked: set[tuple[int, int]] = set()

    def run(self) -> Iterator[FoundFile]:
        """List everything."""
        # A stack of names in place of recursion: trees may be deeper than Python's stack.
        stack = self._starts[::-1]
        while stack:
            path = stack.pop()
            try:
                found = os.lstat(path)
                if stat.S_ISDIR(found.st_mode):
                    stack.extend(_visible_children(path))
                    continue
            except FileNotFoundError:
                continue  # gone since its folder was read: not part of this listing
            except OSError:
                yield self._report(path, None, LoadCode.UNREADABLE)
                continue
            if stat.S_ISLNK(found.st_mode):
                yield from self._follow(path)
            else:
                yield self._report(path, found, _judge(path, found))

    def _resolve_start(self, path: Path) -> bytes:
        start = os.path.realpath(os.fsencode(path))
        if not os.path.lexists(start):
            raise LoadError(LoadCode.MISSING, f"{escape_path(os.fsencode(path))} does not exist.")
        if not _is_inside(start, self._root):
            raise LoadError(
                LoadCode.OUTSIDE_ROOT,
                f"{escape_path(os.fsencode(path))}{_leads(path, start)} lies outside the files root "
                f"{escape_path(self._root)}. Choose a root that holds it.",
            )
        return start

    def _is_walked(self, path: bytes) -> bool:
        """Whether the walk comes to this real path from another starting point by itself."""
        for folder in self._folders:
            if path != folder and _is_inside(path, folder):
                below = path[len(folder) :].strip(b"/")
                if not any(part.startswith(b".") for part in below.split(b"/")):
                    return True
        return False

    def _follow(self, link: bytes) -> Iterator[FoundFile]:
        target = os.path.realpath(link)
        if not _is_inside(target, self._root):
            yield self._report(link, None, LoadCode.OUTSIDE_ROOT)
            return
        try:
            found = os.lstat(target)
        except FileNotFoundError:
            yield self._report(link, None, LoadCode.MISSING)
            return
        except OSError:
            yield self._report(link, None, LoadCode.UNREADABLE)
            return
        if stat.S_ISLNK(found.st_mode):  # a loop: there is no file at its end
            yield self._report(link, None, LoadCode.MISSING)
        elif self._is_walked(target) or target in self._starting:
            return
        elif stat.S_ISDIR(found.st_mode):
            yield self._report(link, None, LoadCode.NOT_A_FILE)
        elif (identity := (found.st_dev, found.st_ino)) not in self._linked:
            self._linked.add(identity)
            yield self._report(target, found, _judge(target, found))

    def _report(self, path: bytes, found: os.stat_result | None, code: LoadCode | None) -> FoundFile:
        relative = escape_path(path[len(self._root) :].lstrip(b"/"))
        if found is None:
            return FoundFile(relative, 0, 0, code)
        return FoundFile(relative, found.st_size, found.st_mtime_ns, code)


def _leads(path: Path, start: bytes) -> str:
    """Say where a path leads that goes through a link."""
    return "" if os.fsencode(path) == start else f" (in truth {escape_path(start)})"


def _visible_children(folder: bytes) -> list[bytes]:
    """Give the paths in a folder that are not hidden, last name first."""
    with os.scandir(folder) as entries:
        return sorted((entry.path for entry in entries if not entry.name.startswith(b".")), reverse=True)


def _judge(path: bytes, found: os.stat_result) -> LoadCode | None:
    if not stat.S_ISREG(found.st_mode):
        return LoadCode.NOT_A_FILE
    return None if path.lower().endswith(_SUFFIXES) else LoadCode.UNSUPPORTED_FORMAT


def _is_inside(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
