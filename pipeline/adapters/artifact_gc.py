"""Removes stage results that nothing has used for long, beside any number of processes that use the folder.

Use is told by the time of a file, which `FolderArtifactStore.get` renews. What goes although somebody was
about to read it is missing, and its stage runs again.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.adapters.artifacts import ABANDONED_SECONDS, explained, is_artifact
from pipeline.errors import ArtifactStoreMissing
from pipeline.models import GarbageReport


def collect_garbage(folder: Path, unused_since: float, *, dry_run: bool) -> GarbageReport:
    """Remove artifacts that were last used before an instant, drafts of crashed writers, and empty folders.

    Args:
        folder: The store's.
        unused_since: Seconds since 1970, by the clock of the folder's host.
        dry_run: Count only.

    Raises:
        ArtifactStoreMissing: The folder holds no artifact store; nothing is touched.
        ArtifactsUnavailable: It cannot be read or changed; what was removed until then stays removed.
    """
    counts: Counter[str] = Counter()
    with explained(folder, "cleared"):
        if not (folder / "store" / "id").is_file() or not (folder / "objects").is_dir():
            raise ArtifactStoreMissing(
                f"{folder} is no artifact folder of graphmill (it lacks store/id or objects). "
                "Name the right one by GRAPHMILL_ARTIFACTS_DIR, or its data folder by --data-dir."
            )
        for shelf in _entries(folder / "objects"):
            if shelf.is_dir(follow_symlinks=False):
                counts.update(_clear_shelf(Path(shelf.path), unused_since, dry_run=dry_run))
        counts.update(_clear_drafts(folder / "tmp", time.time() - ABANDONED_SECONDS, dry_run=dry_run))
    return GarbageReport(**{name: counts[name] for name in GarbageReport.__dataclass_fields__})


def _clear_shelf(shelf: Path, unused_since: float, *, dry_run: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    stays = False
    for entry in _entries(shelf):
        with suppress(FileNotFoundError):
            # Asked right before it goes: it may have been used since the folder was listed.
            found = Path(entry.path).lstat()
            if not is_artifact(entry.name) or not entry.is_file(follow_symlinks=False):
                stays = True
            elif found.st_mtime < unused_since:
                if not dry_run:
                    Path(entry.path).unlink()
                counts.update(removed=1, removed_bytes=found.st_size)
            else:
                stays = True
                counts.update(kept=1, kept_bytes=found.st_size)
    if not stays:
        # A writer that has just made it, or put something there, wins: it is not empty, or is made again.
        with suppress(OSError):
            if not dry_run:
                shelf.rmdir()
            counts.update(folders=1)
    return counts


def _clear_drafts(folder: Path, oldest: float, *, dry_run: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in _entries(folder):
        with suppress(FileNotFoundError):
            draft = Path(entry.path)
            found = draft.lstat()
            if found.st_mtime >= oldest:
                continue
            if not dry_run:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(draft)
                else:
                    draft.unlink()
            counts.update(drafts=1, removed_bytes=found.st_size)
    return counts


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """List a folder, of which others may remove parts, or all, meanwhile."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except FileNotFoundError:
        return
