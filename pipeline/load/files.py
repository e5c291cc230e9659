"""Reading one file beneath the files root, whatever somebody put there.

The path comes from a message and the folder may be shared, so nothing is trusted: each folder on
the way is opened by itself without following links, and only a regular file is read. POSIX only.
"""

import errno
import os
import stat
import time
from pathlib import Path

from pipeline.config import LoadConfig
from pipeline.errors import FileNotReady, LoadCode, LoadError
from pipeline.ids import unescape_path

# O_PATH asks for no read permission on the folders on the way; where it is missing, reading is asked for.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe that takes a file's place between the check and the opening must not block us.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_BLOCK = 2**20
# A file's times tell when a write began, to a tick of a few milliseconds: one that is still going on, or follows within
# the tick, leaves no trace in them. So what was changed lately is read twice.
_LATELY_NS = 2_000_000_000
# The machine is short of something, or a network share turned over: says nothing about the file.
_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.EINTR, errno.ETIMEDOUT})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENXIO})


def read_file(root: Path, relative: str, config: LoadConfig) -> bytes:
    """Read all bytes of a regular file that lies in `root` or a folder beneath it.

    Args:
        root: The files root; may itself be reached through links.
        relative: The path below it as `ids.escape_path` spells it.
        config: Limits; only the size limit matters here.

    Raises:
        LoadError: `OUTSIDE_ROOT` (absolute, `..`, a link on the way), `MISSING`, `NOT_A_FILE`,
            `UNREADABLE` or `TOO_LARGE`.
        FileNotReady: the root is not there, the file changed while it was read, or the machine is short of something.
    """
    parts = _split(relative)
    try:
        folder = os.open(root, _FOLDER)
    except OSError as error:
        # Without the root every file would look missing; more likely a share is not mounted yet.
        raise FileNotReady(
            LoadCode.ROOT_MISSING,
            f"The files root {root} cannot be opened ({error.strerror}). Was it moved, or is its share not mounted?",
        ) from error
    try:
        for part in parts[:-1]:
            _refuse_link(folder, part, relative)
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        _refuse_special(_refuse_link(folder, parts[-1], relative), relative)
        file = os.open(parts[-1], _FILE, dir_fd=folder)
        try:
            return _read_open(file, relative, config.max_file_bytes)
        finally:
            os.close(file)
    except OSError as error:
        raise _explain(error, relative) from error
    finally:
        os.close(folder)


def _split(relative: str) -> list[bytes]:
    try:
        path = unescape_path(relative)
    except UnicodeEncodeError as error:
        raise LoadError(LoadCode.MISSING, "The path holds half characters; no file can be called that.") from error
    if b"\0" in path:
        raise LoadError(LoadCode.MISSING, f"{relative} holds a NUL; no file can be called that.")
    parts = path.split(b"/")
    # Empty parts and `.` would give one file several identities.
    if any(part in {b"", b".", b".."} for part in parts):
        raise LoadError(LoadCode.OUTSIDE_ROOT, f"{relative!r} is not a plain path below the files root.")
    return parts


def _refuse_link(folder: int, part: bytes, relative: str) -> os.stat_result:
    found = os.stat(part, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise LoadError(
            LoadCode.OUTSIDE_ROOT,
            f"{relative} leads through a symbolic link, which may leave the files root. Name the real file.",
        )
    return found


def _refuse_special(found: os.stat_result, relative: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise LoadError(LoadCode.NOT_A_FILE, f"{relative} is a folder, pipe, socket or device, not a file.")


def _read_open(file: int, relative: str, limit: int) -> bytes:
    before = os.fstat(file)
    _refuse_special(before, relative)
    if before.st_size > limit:
        raise LoadError(
            LoadCode.TOO_LARGE,
            f"{relative} has {before.st_size:,} bytes; the limit is {limit:,}. Raise max_file_bytes or split the file.",
        )
    began = time.time_ns()
    data = _read_to_end(file, before.st_size)
    same = True
    if 0 <= began - max(before.st_mtime_ns, before.st_ctime_ns) < _LATELY_NS:
        os.lseek(file, 0, os.SEEK_SET)
        same = _read_to_end(file, before.st_size) == data
    if not same or len(data) != before.st_size or _version(before) != _version(os.fstat(file)):
        raise FileNotReady(LoadCode.KEEPS_CHANGING, f"{relative} changed while it was read.")
    return data


def _read_to_end(file: int, expected: int) -> bytes:
    blocks: list[bytes] = []
    size = 0
    # Without a stop, a log that is written faster than read never ends.
    while size <= expected and (block := os.read(file, _BLOCK)):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def _version(found: os.stat_result) -> tuple[int, ...]:
    # The time of modification can be set (rsync, cp -p), that of change cannot, but not every file system keeps it.
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _explain(error: OSError, relative: str) -> LoadError | FileNotReady:
    if error.errno in _PASSING:
        return FileNotReady(LoadCode.UNREADABLE, f"{relative} could not be read just now: {error.strerror}.")
    if error.errno in _GONE:
        return LoadError(LoadCode.MISSING, f"{relative} is gone, or was never there.")
    if error.errno == errno.ELOOP:
        return LoadError(LoadCode.OUTSIDE_ROOT, f"{relative} became a symbolic link while it was opened.")
    return LoadError(LoadCode.UNREADABLE, f"{relative} cannot be read: {error.strerror}. Check its permissions.")
