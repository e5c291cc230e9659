"""Documents: one ready to be written, and what the graph remembers of those that it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.ids import split_partial
from pipeline.models.extraction import Extraction
from pipeline.models.texts import Chunk


@dataclass(frozen=True, slots=True)
class Document:
    """A document ready to be written: identity, place, hashes, passages and what they say.

    `extractions` runs parallel to `chunks`.
    """

    id: str
    path: str
    content_hash: str
    source_hash: str
    fingerprint: str
    media_type: str = ""
    chunks: tuple[Chunk, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    page_count: int = 0
    run_id: str = ""
    root: str = ""
    """The folder that `path` is relative to, as the run names it; '' for text that is no file."""
    table: str = ""
    """How its rows are read where it is a table, so that it is read so again (`pipeline.tables.TableOrder`)."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By entity type, the labels that its entities bear as well: those of the type's ancestors."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What the graph remembers of a completely written document, with the run that wrote it."""

    id: str
    content_hash: str
    source_hash: str
    fingerprint: str
    run_id: str = ""
    clearing: bool = False
    """Whether its past version is not all gone yet."""
    replaced: bool = False
    """Whether its run found an earlier version."""
    table: str = ""
    """How its rows were read; '' where it is no table."""
    root: str = ""
    """The folder that its file was named from."""

    @property
    def made_with(self) -> str:
        """The fingerprint of what it was made with, whether all of it could be read or not."""
        return split_partial(self.fingerprint)[0]

    @property
    def unread(self) -> int:
        """How many of its passages could not be read."""
        return split_partial(self.fingerprint)[1]


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A completely written document and where it is from; text that is no file has no root."""

    id: str
    path: str
    root: str
    source_hash: str
    fingerprint: str
    """Of what it was made with."""
    table: str
    """How its rows were read; '' where it is no table."""

    @property
    def made_with(self) -> str:
        """The fingerprint of what it was made with, whether all of it could be read or not."""
        return split_partial(self.fingerprint)[0]
