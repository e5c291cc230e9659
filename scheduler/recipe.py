"""What documents are made with: the parts and settings of a run, and the names of the results they give."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline import ids
from pipeline.chunk import chunk_fingerprint
from pipeline.config import RecipeConfig
from pipeline.ports import CallingExtractor, DocumentReader, Extractor
from pipeline.tables import TableOrder
from scheduler.codec import FORMAT


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts that turn bytes into a document, and the configuration that they were made of."""

    reader: DocumentReader
    extractor: Extractor | CallingExtractor
    config: RecipeConfig

    @property
    def fingerprint(self) -> str:
        """Changes when the same bytes may give another document."""
        parts = (self.reader.fingerprint, chunk_fingerprint(self.config.chunk), self.extractor.fingerprint)
        return ids.fingerprint((FORMAT, *parts, self.config.ontology.fingerprint))

    def fingerprint_of(self, table: str) -> str:
        """Give the fingerprint of a document that is a table, or ('') none: what a table says hangs on no extractor."""
        if not table:
            return self.fingerprint
        return ids.fingerprint((FORMAT, self.reader.fingerprint, TableOrder.parse(table).fingerprint))

    def table_key(self, source: str, table: str) -> str:
        """Name a table with all that it says."""
        return ids.artifact_key("table", (FORMAT, source, self.fingerprint_of(table)))

    def text_key(self, source: str, name: str) -> str:
        """Name the text of a file's bytes; its name decides between formats that look alike."""
        return ids.artifact_key("text", (FORMAT, source, Path(name).suffix.lower(), self.reader.fingerprint))

    def chunks_key(self, ref: Mapping[str, str]) -> str:
        """Name the passages of a text."""
        return ids.artifact_key("chunks", (FORMAT, ref["text"], chunk_fingerprint(self.config.chunk)))

    def unread_key(self, text: str, run: str, attempt: int) -> str:
        """Name the record that a passage could not be read in an attempt of a run: another one asks for it again."""
        return ids.artifact_key("unread", (self.extraction_key(text), run, str(attempt)))

    def overdue_key(self, text: str, run: str, attempt: int) -> str:
        """Name the record of how often a passage took too long in an attempt of a run."""
        return ids.artifact_key("overdue", (self.extraction_key(text), run, str(attempt)))

    def trial_key(self, run: str) -> str:
        """Name what is stored to learn whether anything can be."""
        return ids.artifact_key("trial", (run,))

    def extraction_key(self, text: str) -> str:
        """Name what a passage says."""
        return self._extraction_key(text, self.config.ontology.fingerprint)

    def grown_key(self, text: str) -> str:
        """Name what a passage says under the ontology that the present one grew from; '' where there is none."""
        return self._extraction_key(text, self.config.grown_from) if self.config.grown_from else ""

    def _extraction_key(self, text: str, ontology: str) -> str:
        return ids.artifact_key("extraction", (FORMAT, text, self.extractor.fingerprint, ontology))
