"""The lines of a manifest that no listing of a folder makes: a text that is no file, and a table."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from pipeline.errors import SKIP_CODES, LoadCode, LoadError, PermanentError
from pipeline.load import walk_files
from pipeline.ports import ArtifactStore
from pipeline.tables import TableOrder
from scheduler.given import check_document_id, clean_given, give_text
from scheduler.records import NewFile
from scheduler.workers import Worker
from workers.bootstrap import open_artifacts
from workers.graphs import find_stored
from workers.settings import Settings


class StoreDiffers(PermanentError):
    """What is given here would not be found by the workers: they use another artifact folder."""


def prepare_text(text: str, identity: str, graph: str, settings: Settings, workers: Iterable[Worker]) -> NewFile:
    """Put a text where the workers find it; raises as `Client.ingest_text` does."""
    check_document_id(identity)
    text = clean_given(text, settings.load.max_text_chars)
    if not text and not find_stored(settings, graph, identity):
        raise LoadError(
            LoadCode.EMPTY_DOCUMENT,
            f"There is no text to ingest: what was given is empty, and graph {graph} has no document {identity}.",
        )
    return give_text(text, identity, _shared_store(settings, workers))


def _shared_store(settings: Settings, workers: Iterable[Worker]) -> ArtifactStore:
    """Open this host's artifact folder, if the workers that live use the same."""
    store = open_artifacts(settings)
    theirs = {worker.offer.store for worker in workers if "load" in worker.queues} - {""}
    if theirs and store.store_id not in theirs:
        raise StoreDiffers(
            f"The artifact folder here, {settings.artifacts.absolute()}, is not the one that the workers use, so they "
            "would not find the text. Mount theirs on this host and name it in GRAPHMILL_ARTIFACTS_DIR."
        )
    return store


def prepare_table(path: Path, root: Path, order: TableOrder) -> NewFile:
    """Name a table's file below the root; raises `LoadError` for what is no file, is gone, or lies outside the root."""
    if path.is_dir():
        raise LoadError(LoadCode.NOT_A_FILE, f"{path} is a folder. Tables are ingested one by one: name the file.")
    listed = list(islice(walk_files(root, [path]), 2))
    if len(listed) != 1:
        # Between two looks it went, or became a folder.
        raise LoadError(LoadCode.MISSING, f"{path} is gone; it was there a moment ago.")
    found = listed[0]
    if found.code is not None and found.code not in SKIP_CODES:
        raise LoadError(found.code, f"{path} cannot be read as a table: it is no regular file that can be opened.")
    return NewFile(found.relative, found.size, order={"table": order.spell()})
