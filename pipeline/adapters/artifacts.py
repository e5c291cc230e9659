"""Stage results in a folder that all workers share: whole or absent, never torn.

Layout under the folder: `store/id` (the store's uuid), `objects/abc/<key>`, `tmp/`. A file is a header
(magic, compression, BLAKE2 checksum of what follows) and the stored bytes. It is written beside, then
renamed. There is no fsync: a file torn by a power cut fails its checksum and counts as missing, and
its stage runs again, which costs less than a sync per artifact.
"""

import errno
import hashlib
import os
import re
import shutil
import time
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.errors import ArtifactsUnavailable

_MAGIC = b"gma1"
_PLAIN, _ZLIB = b"p", b"z"
_CHECKSUM_BYTES = 16
_HEADER_BYTES = len(_MAGIC) + 1 + _CHECKSUM_BYTES
COMPRESS_FROM = 512
"""Bytes from which compression is tried; below it the file takes one disk block either way."""

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")
_MAX_KEY = 200
ABANDONED_SECONDS = 24 * 3600
"""Age at which what is half written has no writer any more."""
_RACES = 50
"""How often in a row a writer finds its folder removed by a collection of garbage, before it is something else."""
_TOUCH_SECONDS = 3600
"""How old the time of use may be: renewing it at each reading would be a write each."""

_FIXES = {
    errno.ENOSPC: "the disk is full: free space there",
    errno.EDQUOT: "the disk quota is used up: free space there",
    errno.EFBIG: "a file size limit was reached: raise it, or free space there",
    errno.EACCES: "give this process's user read and write access to it",
    errno.EPERM: "give this process's user read and write access to it",
    errno.EROFS: "it is mounted read-only: mount it writable",
    errno.EIO: "the disk or network share failed: check it",
    errno.ENOENT: "it was removed or is not mounted: mount it, or restart the worker to make it anew",
    errno.ENOTDIR: "a file stands where a folder should be: remove it",
}


class FolderArtifactStore:
    """Keeps artifacts as checked files in one folder (port `ArtifactStore`).

    Any number of processes on any number of hosts may use the same folder at once.

    Raises:
        ArtifactsUnavailable: On opening, reading or writing, when the folder is full, read-only, not
            mounted or otherwise failing; the message names the folder and the fix.
    """

    store_id: str

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._objects = self.path / "objects"
        self._temporary = self.path / "tmp"
        with explained(self.path, "opened"):
            self._open()
            self._sweep()

    def _open(self) -> None:
        self._objects.mkdir(parents=True, exist_ok=True)
        self._temporary.mkdir(exist_ok=True)
        self.store_id = self._identify()

    def _removed(self) -> bool:
        """Make the folder anew where it is gone altogether; one that is not mounted still stands there, empty."""
        if self.path.exists():
            return False
        self._open()
        return True

    def get(self, key: str) -> bytes | None:
        """Give what was put under the key, or None where it is missing or damaged (then removed)."""
        place = self._place(key)
        with explained(self.path, "read"):
            try:
                with open(place, "rb", buffering=0) as file:  # noqa: PTH123 - a path's parts are not needed
                    found = os.fstat(file.fileno())
                    if found.st_mtime < time.time() - _TOUCH_SECONDS:
                        # Its age is that of its last use. Whoever may only read still may read.
                        with suppress(OSError):
                            os.utime(file.fileno())
                    stored = file.read()
            except FileNotFoundError:
                # An unmounted store has nothing either, but that must not make every stage run again.
                if not self._temporary.exists() and not self._removed():
                    self._temporary.stat()
                return None
            data = _unpack(stored)
            if data is None:
                with suppress(FileNotFoundError):
                    # Another process may have replaced it by a whole one meanwhile.
                    if os.stat(place).st_ino == found.st_ino:  # noqa: PTH116
                        os.unlink(place)  # noqa: PTH108
            return data

    def put(self, key: str, data: bytes) -> None:
        """Store the bytes so that a later `get` sees all of them or none; twice is once."""
        place = self._place(key)
        with explained(self.path, "written"):
            for _ in range(_RACES):
                # The store is gone, or a folder in it that was empty for a moment; one not mounted fails each time.
                with suppress(FileNotFoundError, FileExistsError):
                    self._write(place, data)
                    return
                self._removed()
            self._write(place, data)

    def _write(self, place: str, data: bytes) -> None:
        draft = f"{self._temporary}/{uuid.uuid4().hex}"
        try:
            with open(draft, "wb") as file:  # noqa: PTH123
                file.write(_pack(data))
            try:
                os.replace(draft, place)  # noqa: PTH105
            except FileNotFoundError:
                # The first one of its folder.
                os.makedirs(place.rpartition("/")[0], exist_ok=True)  # noqa: PTH103
                os.replace(draft, place)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)  # noqa: PTH108
            raise

    def _place(self, key: str) -> str:
        if len(key) > _MAX_KEY or not _KEY.fullmatch(key):
            raise ValueError(f"not an artifact key: {key[:80]!r}")
        # 4,096 folders: ten million artifacts are 2,400 a folder, and a small store needs few.
        digest = hashlib.blake2b(key.encode("ascii"), digest_size=2).hexdigest()
        return f"{self._objects}/{digest[:3]}/{key.replace('/', '~')}"

    def _identify(self) -> str:
        """Read the store's id; the first process makes it. Renaming a folder onto a full one fails, so one wins."""
        home = self.path / "store"
        if not home.exists():
            draft = self._temporary / uuid.uuid4().hex
            draft.mkdir()
            (draft / "id").write_text(f"{uuid.uuid4()}\n", encoding="ascii")
            try:
                draft.rename(home)
            except OSError as error:
                shutil.rmtree(draft, ignore_errors=True)
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
        text = (home / "id").read_text(encoding="ascii", errors="replace").strip()
        try:
            return str(uuid.UUID(text))
        except ValueError:
            raise ArtifactsUnavailable(
                f"artifact folder {self.path}: its id file {home / 'id'} is damaged; restore it, "
                "or empty the folder (stages then run again)"
            ) from None

    def _sweep(self) -> None:
        """Remove what killed processes left half written a day ago or earlier."""
        oldest = time.time() - ABANDONED_SECONDS
        for draft in self._temporary.iterdir():
            # Another process may sweep at the same time.
            with suppress(FileNotFoundError):
                if draft.stat().st_mtime >= oldest:
                    continue
                if draft.is_dir():
                    shutil.rmtree(draft)
                else:
                    draft.unlink()


@contextmanager
def explained(folder: Path, act: str) -> Iterator[None]:
    """Turn what the system says into `ArtifactsUnavailable` with the folder and the fix."""
    try:
        yield
    except OSError as error:
        fix = _FIXES.get(error.errno or 0, "check it")
        raise ArtifactsUnavailable(
            f"artifact folder {folder} cannot be {act} ({error.strerror or error}): {fix}; "
            "the work is taken up again by itself"
        ) from error


def is_artifact(name: str) -> bool:
    """Tell whether a file of that name is one that a store has put there."""
    return _KEY.fullmatch(name.replace("~", "/")) is not None


def _pack(data: bytes) -> bytes:
    flag, body = _PLAIN, data
    if len(data) >= COMPRESS_FROM:
        packed = zlib.compress(data, 1)
        if len(packed) < len(data):
            flag, body = _ZLIB, packed
    return _MAGIC + flag + _checksum(flag + body) + body


def _unpack(stored: bytes) -> bytes | None:
    flag, body = stored[len(_MAGIC) : len(_MAGIC) + 1], stored[_HEADER_BYTES:]
    if not stored.startswith(_MAGIC) or stored[len(_MAGIC) + 1 : _HEADER_BYTES] != _checksum(flag + body):
        return None
    return zlib.decompress(body) if flag == _ZLIB else body


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECKSUM_BYTES).digest()
