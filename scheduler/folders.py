"""A folder as it is on disk: the files that a graph may follow, and which paths are gone for certain."""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.config import LoadConfig
from pipeline.errors import FileNotReady, LoadCode, LoadError
from pipeline.ids import bytes_hash, unescape_path
from pipeline.load import read_file, walk_files


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that is there: its escaped path below the root, and the hash of its bytes or why it cannot be read.

    One with both is no table that the graph knows, but may be one under another name.
    """

    path: str
    size: int
    source_hash: str = ""
    code: LoadCode | None = None


def list_files(root: Path, path: Path, config: LoadConfig, tables: Collection[str] = ()) -> Iterator[ListedFile]:
    """List the files at and beneath a path with their hashes; raises `LoadError` where it is not in the root.

    `tables` are paths of known tables: those files are read whatever they are called, as are others of their endings.
    """
    endings = {ending_of(table) for table in tables}
    for found in walk_files(root, [path]):
        is_table = found.code is LoadCode.UNSUPPORTED_FORMAT and found.relative in tables
        may_be = found.code is LoadCode.UNSUPPORTED_FORMAT and ending_of(found.relative) in endings
        if found.code is not None and not may_be:
            yield ListedFile(found.relative, found.size, code=found.code)
            continue
        # What is no known table is passed over as any file of its kind, also where it cannot be read.
        code = None if is_table else found.code
        try:
            data = read_file(root, found.relative, config)
        except (LoadError, FileNotReady) as error:
            # One that went meanwhile is as if it had not been listed.
            if error.load_code is not LoadCode.MISSING:
                yield ListedFile(found.relative, found.size, code=code or error.load_code)
        else:
            yield ListedFile(found.relative, found.size, bytes_hash(data), code)


class Tree:
    """A root folder, which is asked for the files that documents were made from."""

    def __init__(self, root: Path) -> None:
        self._top = _real(root)
        self._names: dict[bytes, frozenset[bytes] | None] = {}

    @property
    def root(self) -> str:
        """The root's path, without links."""
        return os.fsdecode(self._top)

    def place(self, relative: str) -> bytes:
        """Give the full path of a file, with the root's own links resolved."""
        return os.path.join(self._top, unescape_path(relative))  # noqa: PTH118 - bytes, not Path

    def below(self, path: Path) -> Callable[[str], bool]:
        """Give what tells of a file whether it is, or was, at a path or beneath it."""
        folder = _real(path)
        return lambda relative: _is_at(self.place(relative), folder)

    def is_same(self, other: "Tree") -> bool:
        """Tell whether both are one folder under two names."""
        if self.root == other.root:
            return True
        try:
            return Path(self.root).samefile(other.root)
        except OSError:
            return False

    def shares(self, relative: str, other: "Tree") -> bool:
        """Tell whether a path leads to one file from both roots, as through a link."""
        return os.path.realpath(self.place(relative)) == os.path.realpath(other.place(relative))

    def is_gone(self, relative: str) -> bool:
        """Tell whether no file has that path any more: what cannot be looked at is not gone.

        A path that now leads through a link to another place within the root is gone: that place counts. So is one
        that is a folder now, and one that is spelled otherwise where the system takes both spellings for one name.
        """
        path = self.place(relative)
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        if stat.S_ISDIR(found.st_mode):
            return True
        real = os.path.realpath(path)
        return (real != path and _is_at(real, self._top)) or not self._is_spelled_so(unescape_path(relative))

    def _is_spelled_so(self, path: bytes) -> bool:
        """Tell whether the folders on the way hold just these names; a system may find `A.txt` by `a.txt`, too."""
        folder = self._top
        for name in path.split(b"/"):
            names = self._list_names(folder)
            if names is not None and name not in names:
                return False
            folder = os.path.join(folder, name)  # noqa: PTH118
        return True

    def _list_names(self, folder: bytes) -> frozenset[bytes] | None:
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))  # noqa: PTH208 - bytes, not Path
            except OSError:
                self._names[folder] = None
        return self._names[folder]


def ending_of(path: str) -> str:
    """Give the ending that chooses a file's reader."""
    return Path(path).suffix.lower()


def _real(path: Path) -> bytes:
    return os.path.realpath(os.fsencode(path))


def _is_at(path: bytes, folder: bytes) -> bool:
    """Tell whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
