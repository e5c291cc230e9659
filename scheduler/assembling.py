"""Puts a document together from what the stages before left, or tells what else is to be done with a file."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline import ids
from pipeline.errors import ArtifactMissing
from pipeline.models import Document, Extraction
from pipeline.ontology import Ontology
from pipeline.ports import ArtifactStore, CallingExtractor
from pipeline.prune import summarise_pruned
from scheduler.codec import decode_chunks, decode_extraction, decode_table, decode_text, decode_unread
from scheduler.outcomes import Shortfalls, outcome_of_step, outcome_of_written
from scheduler.recipe import Recipe
from scheduler.records import ClaimedFile, Op, Outcome
from scheduler.stages import StageRun


@dataclass(slots=True)
class Ready:
    """A file that can be written: its document, or what else is to be done."""

    file: ClaimedFile
    op: Op
    document: Document | None = None
    shortfalls: Shortfalls = field(default_factory=Shortfalls)

    @property
    def names(self) -> list[str]:
        """The ids of the documents that it changes."""
        return [self.file.document, *([self.file.renamed_from] if self.op is Op.RENAME else [])]

    @property
    def versioned(self) -> Document:
        """The document, of a step that has one."""
        if self.document is None:
            raise TypeError(f"There is no document to {self.op}.")
        return self.document

    def written(self, removed: int | None, stage: str) -> Outcome:
        """Tell what its document brought; `removed` is None where there was none before."""
        return outcome_of_written(self.versioned, self.shortfalls, removed, stage)

    def outcome(self, removed: int, stage: str) -> Outcome:
        """Tell what became of a document that was there before."""
        if self.op is Op.INGEST:
            return self.written(removed, stage)
        why = self.file.ref.get("why", "")
        return outcome_of_step(self.op, removed, stage, renamed_from=self.file.renamed_from, why=why)


@dataclass(slots=True)
class Assembler:
    """What documents are put together from; one per process."""

    root_of: Callable[[str], str]
    """Tells the folder that a run's names are relative to, as it was submitted."""
    recipe_of: Callable[[str], Recipe]
    """Tells what the files of a run are made with."""
    artifacts: ArtifactStore

    def assemble(self, run: StageRun, f: ClaimedFile) -> Ready:
        """Give what is to be written; raises `ArtifactMissing` where a stage before must run again."""
        op = Op(f.ref.get("op", Op.INGEST))
        if op in {Op.DELETE, Op.CLEAR}:
            return Ready(f, op)
        if op in {Op.RENAME, Op.RESTAMP}:
            return Ready(f, op, self._document(run, f))
        if "table" in f.ref:
            table = decode_table(self.artifacts.get(f.ref["table"]))
            content = {"chunks": table.chunks, "extractions": table.extractions}
            return Ready(f, op, self._document(run, f, media_type="text/csv", **content), Shortfalls(table.warnings))
        loaded = decode_text(self.artifacts.get(f.ref["text"]))
        chunks = decode_chunks(self.artifacts.get(f.ref["chunks"]))
        recipe = self.recipe_of(run.batch.run)
        if f.ref["chunks"] != recipe.chunks_key(f.ref) or not (
            f.is_given or f.ref["text"] == recipe.text_key(f.ref["source"], f.relative)
        ):
            raise ArtifactMissing(f"A worker of another release read and cut {f.relative}: it is done again.")
        said, unread = self._said(run, f, recipe, [c.text for c in chunks])
        document = self._document(
            run,
            f,
            media_type=loaded.media_type,
            chunks=chunks,
            extractions=said,
            page_count=len(loaded.pages),
            labels=_list_parents(recipe.config.ontology),
        )
        marked = replace(document, fingerprint=ids.mark_partial(document.fingerprint, unread))
        pruned = summarise_pruned(said, recipe.config.ontology)
        return Ready(f, op, marked, Shortfalls(loaded.warnings, Counter(unread.values()), pruned))

    def _said(
        self, run: StageRun, f: ClaimedFile, recipe: Recipe, texts: Sequence[str]
    ) -> tuple[tuple[Extraction, ...], dict[str, str]]:
        """Collect what passages say, and the codes of those that could not be read, by the keys of their records."""
        said: list[Extraction] = []
        unread: dict[str, str] = {}
        for text in texts:
            data = self.artifacts.get(recipe.extraction_key(text))
            if data is None and isinstance(recipe.extractor, CallingExtractor):
                record = self.artifacts.get(recipe.unread_key(text, run.batch.run, f.round))
                if record is not None:
                    said.append(Extraction())
                    unread[recipe.extraction_key(text)] = decode_unread(record)
                    continue
            said.append(decode_extraction(data))
        return tuple(said), unread

    def _document(self, run: StageRun, f: ClaimedFile, **content: Any) -> Document:
        return Document(
            id=f.document,
            path=f.relative,
            content_hash=f.ref["content"],
            source_hash=f.ref["source"],
            fingerprint=self.recipe_of(run.batch.run).fingerprint_of(f.ref.get("order", "")),
            run_id=run.batch.run,
            root="" if f.is_given else self.root_of(run.batch.run),
            table=f.ref.get("order", ""),
            **content,
        )


def _list_parents(ontology: Ontology) -> dict[str, tuple[str, ...]]:
    """Give the labels that entities bear beyond that of their type."""
    return {one.label: ontology.ancestors(one.label) for one in ontology.entity_types if one.parents}
