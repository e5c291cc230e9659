"""The first two stages of a file's way into the graph, over the pipeline's pure functions and its ports.

Each stage reads the artifact that the one before left, returns at once where its own exists already,
and leaves a reference of a few hashes for the next. Nothing else travels. A reference with an `op`
asks the write stage for something else than a document (`scheduler.writing`), and passes through, as does
a table, of which all is known once it is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline import ids
from pipeline.chunk import chunk
from pipeline.errors import LoadCode, LoadError
from pipeline.models import StoredDocument
from pipeline.ports import ArtifactStore
from pipeline.tables import TableOrder
from scheduler.codec import decode_text, encode
from scheduler.given import take_text
from scheduler.outcomes import outcome_of_known, outcome_of_overtaken
from scheduler.preparing import Graphs
from scheduler.reading import read_patiently
from scheduler.recipe import Recipe
from scheduler.records import ClaimedFile, Op, Outcome, begun
from scheduler.stages import StageRun, each_file
from scheduler.tabular import take_table


@dataclass(slots=True)
class IngestStages:
    """What the stages work with; one per process."""

    root_of: Callable[[str], str]
    """Tells the folder that a run's names are relative to, as it was submitted."""
    files_root: Path | None
    """Where this host sees those files, if not there."""
    recipe_of: Callable[[str], Recipe]
    """Tells what the files of a run are made with."""
    artifacts: ArtifactStore
    graphs: Graphs

    # load

    def load(self, run: StageRun) -> None:
        """Read files, tell the known ones apart, store the text of the others."""
        graph, recipe = run.batch.graph, self.recipe_of(run.batch.run)
        self.graphs.prepare(graph, recipe)
        names = {name for f in run.open_files() for name in (f.document, f.renamed_from) if name}
        with self.graphs.made_anew(graph):
            known = self.graphs.writer(graph).stored(sorted(names))

        def load_one(run: StageRun, f: ClaimedFile) -> Outcome | dict[str, str]:
            if f.op is Op.DELETE:
                return {"op": Op.DELETE.value}
            return self._load_one(run, f, recipe, known)

        each_file(load_one)(run)

    def _load_one(
        self, run: StageRun, f: ClaimedFile, recipe: Recipe, known: dict[str, StoredDocument]
    ) -> Outcome | dict[str, str]:
        stored, before = known.get(f.document), known.get(f.renamed_from)
        # What was a table stays one, whoever asks.
        table = f.order.get("table") or next((one.table for one in (stored, before) if one), "")
        wanted = recipe.fingerprint_of(table)
        root = "" if f.is_given else self.root_of(run.batch.run)
        data = b"" if f.is_given else read_patiently(self.files_root or Path(root), f, recipe.config.load)
        source = ids.bytes_hash(data)
        if f.is_given:
            source = f.order.get("content") or (stored.content_hash if stored else "")
        told = _tell_known(f, stored, run.batch.run, root, source, wanted) if stored else None
        if told is not None:
            return told
        if not stored and before and _is_renamed(f, before, source):
            return {"op": Op.RENAME.value, "content": before.content_hash, "source": source}
        try:
            text = self._take_text(f, recipe, source, data, table)
        except LoadError as error:
            # Where an attempt has been made before, its document may have been taken from the readers alone.
            tried = stored or f.defers or f.starts > 1
            if tried and error.load_code is LoadCode.EMPTY_DOCUMENT:
                return {"op": Op.DELETE.value, "why": str(error)}
            raise
        return {**text, "source": source, "base": stored.content_hash if stored else ""}

    def _take_text(self, f: ClaimedFile, recipe: Recipe, source: str, data: bytes, table: str) -> dict[str, str]:
        """Give the key and the hash of a file's text, read or given."""
        if f.is_given:
            return {"text": take_text(f.document, source, self.artifacts), "content": source}
        if table:
            key, order = recipe.table_key(source, table), TableOrder.parse(table)
            content = take_table(key, data, order, recipe.reader, self.artifacts)
            return {"table": key, "order": table, "content": content}
        key = recipe.text_key(source, f.relative)
        cached = self.artifacts.get(key)
        loaded = recipe.reader.read(data, f.relative) if cached is None else decode_text(cached)
        if cached is None:
            self.artifacts.put(key, encode(loaded))
        return {"text": key, "content": ids.content_hash(loaded.text)}

    # chunk

    def chunk(self, run: StageRun) -> None:
        """Cut texts into passages."""
        each_file(self._chunk_one)(run)

    def _chunk_one(self, run: StageRun, f: ClaimedFile) -> dict[str, str]:
        if "op" in f.ref or "table" in f.ref:
            return f.ref
        recipe = self.recipe_of(run.batch.run)
        key = recipe.chunks_key(f.ref)
        if self.artifacts.get(key) is None:
            chunks = chunk(decode_text(self.artifacts.get(f.ref["text"])), recipe.config.chunk)
            self.artifacts.put(key, encode(chunks))
        return {**f.ref, "chunks": key}


def _is_renamed(f: ClaimedFile, before: StoredDocument, source: str) -> bool:
    """Tell whether a document may just get its new name: it has its content still, and its ending's reader.

    Where it was made with other settings it keeps them, as it would under its old name.
    """
    endings = {Path(name).suffix.lower() for name in (f.relative, f.renamed_from)}
    return len(endings) == 1 and before.source_hash == source


def _tell_known(
    f: ClaimedFile, stored: StoredDocument, run: str, root: str, source: str, wanted: str
) -> Outcome | dict[str, str] | None:
    """Tell what becomes of a file whose document needs no new version; None where it does."""
    if stored.source_hash != source:
        overtaken = f.is_given and begun(stored.run_id) > begun(run)
        return outcome_of_overtaken(stored, "load") if overtaken else None
    again = f.op is Op.REEXTRACT or "table" in f.order
    # Of one that is partial, what is lacking is asked for again; what was answered is in the store.
    if stored.fingerprint != wanted and (again or stored.made_with == wanted):
        return None
    if stored.clearing:
        return {"op": Op.CLEAR.value}
    if stored.root != root:
        return {"op": Op.RESTAMP.value, "content": stored.content_hash, "source": source, "order": stored.table}
    return outcome_of_known(stored, run, wanted, "load")
