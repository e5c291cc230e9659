"""Tables among the files of a run: read at once into passages and what they say, as no model is asked."""

from pipeline.errors import LoadCode, LoadError
from pipeline.ports import ArtifactStore, DocumentReader
from pipeline.tables import Table, TableOrder, tell_table
from scheduler.codec import decode_table, encode

_READ_AS = "table.txt"
"""Whatever a table is called, its bytes are those of a plain text."""


def take_table(key: str, data: bytes, order: TableOrder, reader: DocumentReader, artifacts: ArtifactStore) -> str:
    """Put a table under its key, unless it is there; gives its content's hash. Raises `LoadError`, `TableInvalid`."""
    cached = artifacts.get(key)
    if cached is not None:
        return decode_table(cached).content
    table = _read_table(data, order, reader)
    artifacts.put(key, encode(table))
    return table.content


def _read_table(data: bytes, order: TableOrder, reader: DocumentReader) -> Table:
    try:
        loaded = reader.read(data, _READ_AS)
    except LoadError as error:
        if error.load_code is LoadCode.NOT_THIS_FORMAT:
            raise _no_table() from error
        raise
    if loaded.media_type != "text/plain":
        raise _no_table()
    return tell_table(loaded.text, order, loaded.warnings)


def _no_table() -> LoadError:
    return LoadError(LoadCode.NOT_THIS_FORMAT, "The file is no text. Export the table as CSV, in UTF-8.")
