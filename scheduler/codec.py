"""Stage results as bytes for the artifact store, and back.

A format is part of an artifact's key (`FORMAT`): another format is another artifact, never a
misread one.
"""

from collections.abc import Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any

import orjson

from pipeline.errors import ArtifactMissing
from pipeline.models import Chunk, Extraction, Heading, LoadedText, Mention, Page, Relation, Usage
from pipeline.tables import Table

FORMAT = "1"

# Values in the order of a class's fields: given by name they take twice as long.
_VALUES = {kind: itemgetter(*(one.name for one in fields(kind))) for kind in (Mention, Relation)}


def encode(value: object) -> bytes:
    """Encode a value of `pipeline.models`, or a sequence of them."""
    # What was dropped is counted by words of an enumeration.
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


def _rows(data: bytes | None, what: str) -> Any:
    if data is None:
        raise ArtifactMissing(f"The stored {what} is missing; it is made again.")
    return orjson.loads(data)


def decode_text(data: bytes | None) -> LoadedText:
    """Decode a loaded text; raises `ArtifactMissing` on None."""
    row = _rows(data, "text")
    return LoadedText(
        text=row["text"],
        media_type=row["media_type"],
        encoding=row["encoding"],
        pages=tuple(Page(**page) for page in row["pages"]),
        headings=tuple(Heading(**heading) for heading in row["headings"]),
        warnings=tuple(row["warnings"]),
    )


def decode_chunks(data: bytes | None) -> tuple[Chunk, ...]:
    """Decode passages; raises `ArtifactMissing` on None."""
    return tuple(map(_chunk, _rows(data, "list of passages")))


def decode_extraction(data: bytes | None) -> Extraction:
    """Decode what one passage says; raises `ArtifactMissing` on None."""
    return _extraction(_rows(data, "extraction"))


def decode_unread(data: bytes) -> str:
    """Decode the record that a passage could not be read, to its code."""
    return str(orjson.loads(data)["code"])


def decode_overdue(data: bytes | None) -> int:
    """Decode the record of how often a passage took too long; none says that it never did."""
    return 0 if data is None else int(orjson.loads(data)["times"])


def decode_table(data: bytes | None) -> Table:
    """Decode a table with all that it says; raises `ArtifactMissing` on None."""
    row = _rows(data, "table")
    chunks, extractions = map(_chunk, row["chunks"]), map(_extraction, row["extractions"])
    return Table(row["content"], tuple(chunks), tuple(extractions), tuple(row["warnings"]))


def _chunk(row: dict[str, Any]) -> Chunk:
    return Chunk(**{**row, "heading_path": tuple(row["heading_path"])})


def _extraction(row: dict[str, Any]) -> Extraction:
    return Extraction(
        mentions=_make_all(Mention, row["mentions"]),
        relations=_make_all(Relation, row["relations"]),
        dropped=row["dropped"],
        undeclared_mentions=_make_all(Mention, row.get("undeclared_mentions", ())),
        undeclared_relations=_make_all(Relation, row.get("undeclared_relations", ())),
        usage=Usage(**row.get("usage", {})),
    )


def _make_all[T: (Mention, Relation)](kind: type[T], rows: Sequence[dict[str, Any]]) -> tuple[T, ...]:
    try:
        return tuple([kind(*values) for values in map(_VALUES[kind], rows)])
    except KeyError:
        # An older release did not know all fields.
        return tuple(kind(**row) for row in rows)
