"""Surveying a corpus in this process: files are read and cut as a run would, and nothing is made or asked."""

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from pipeline.chunk import chunk
from pipeline.errors import FileNotReady, LoadError
from pipeline.estimate import Asking, Survey, TypeCount, asking_of
from pipeline.load import FoundFile, read_file, walk_files
from pipeline.models import Chunk
from scheduler.recipe import Recipe

Surveyed = Callable[[int, int], None]
"""Called after each file with the files and passages so far; what it raises ends the survey."""
IsStored = Callable[[str], bool]
"""Tells whether there is an artifact of a key."""


def survey(root: Path, paths: Sequence[Path], recipe: Recipe, is_stored: IsStored, surveyed: Surveyed) -> Survey:
    """Read and cut all files at and beneath `paths`, and count what an extractor would be asked.

    Args:
        root: The files root.
        paths: Files and folders inside it.
        recipe: What documents would be made with.
        is_stored: Looks answers up: a passage that was read before is not read again.
        surveyed: Is told of the progress.

    Raises:
        LoadError: one of `paths` is not there, or lies outside the root.
    """
    found, asking, seen = Survey(), asking_of(recipe.config), set[str]()
    for number, file in enumerate(walk_files(root, paths), 1):
        kind = found.types.setdefault(PurePosixPath(file.relative).suffix.lower(), TypeCount())
        kind.files += 1
        kind.bytes += file.size
        chunks = _cut(root, file, recipe)
        if isinstance(chunks, str):
            kind.unread += 1
            found.unread[chunks] += 1
        else:
            kind.passages += len(chunks)
            found.passages += len(chunks)
            for one in chunks:
                _count(found, one.text, recipe, asking, is_stored, seen)
        surveyed(number, found.passages)
    return found


def _cut(root: Path, file: FoundFile, recipe: Recipe) -> Sequence[Chunk] | str:
    """Give the passages of a file, or the code of why it has none."""
    if file.code is not None:
        return file.code.value
    try:
        data = read_file(root, file.relative, recipe.config.load)
        return chunk(recipe.reader.read(data, file.relative), recipe.config.chunk)
    except (LoadError, FileNotReady) as error:
        return error.code


def _count(
    found: Survey, text: str, recipe: Recipe, asking: Asking | None, is_stored: IsStored, seen: set[str]
) -> None:
    """Count one passage by whether it is to be read."""
    key, before = recipe.extraction_key(text), recipe.grown_key(text)
    if key in seen:
        found.repeated += 1
        return
    seen.add(key)
    if is_stored(key) or (before and is_stored(before)):
        found.stored += 1
        return
    found.words += len(text.split())
    if asking:
        found.usage += asking.usage_of(text)
