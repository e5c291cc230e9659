"""What the rows of a table say: a passage each, the entity it is about, and the rows it points at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from pipeline.ids import content_hash
from pipeline.models import Chunk, Extraction, Mention, Relation
from pipeline.tables.order import TableOrder, relation_type
from pipeline.tables.rows import read_rows
from pipeline.tables.values import name_properties, read_value

MAX_DESCRIPTION_CHARS = 500
_SELF_RELATION = "self_relation"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as passages and what they say; `content` is the hash of all passages."""

    content: str
    chunks: tuple[Chunk, ...]
    extractions: tuple[Extraction, ...]
    warnings: tuple[str, ...] = ()


def tell_table(text: str, order: TableOrder, warnings: tuple[str, ...] = ()) -> Table:
    """Tell what a CSV text says; raises as `read_rows` does. `warnings` are those of reading the text."""
    columns, rows = read_rows(text, order)
    properties = name_properties(columns, (order.key, order.name, *order.refs))
    chunks: list[Chunk] = []
    extractions: list[Extraction] = []
    start = 0
    for index, row in enumerate(rows):
        passage = _Passage(columns, row.cells)
        # Keys differ, and no two rows are spelled alike, so that no passage occurs twice.
        chunks.append(Chunk(index, start, start + len(passage.text), passage.text))
        extractions.append(_tell_row(passage, order, properties))
        start += len(passage.text) + 1
    content = content_hash("\n".join(chunk.text for chunk in chunks))
    return Table(content, tuple(chunks), tuple(extractions), warnings)


class _Passage:
    """A row as text, `id: 7. name: Ada Quill.`, and where in it each cell stands."""

    def __init__(self, columns: Sequence[str], cells: Sequence[str]) -> None:
        self.cells = {column: cell for column, cell in zip(columns, cells, strict=True) if cell}
        self.stated: dict[str, tuple[int, int]] = {}
        """From the column's name to the end of the cell."""
        self.spans: dict[str, tuple[int, int]] = {}
        parts: list[str] = []
        place = 0
        for column, cell in self.cells.items():
            name, value = _spell_column(column), _spell_cell(cell)
            part = f"{name}: {value}."
            self.stated[column] = (place, place + len(part) - 1)
            self.spans[column] = (place + len(name) + 2, place + len(part) - 1)
            parts.append(part)
            place += len(part) + 1
        self.text = " ".join(parts)


def _tell_row(passage: _Passage, order: TableOrder, properties: Mapping[str, str]) -> Extraction:
    key = passage.cells[order.key]
    named = order.name if order.name in passage.cells else order.key
    values = {properties[column]: read_value(cell) for column, cell in passage.cells.items() if column in properties}
    own = Mention(
        name=_flat(passage.cells[named]),
        type=order.label,
        start=passage.spans[named][0],
        end=passage.spans[named][1],
        description=passage.text[:MAX_DESCRIPTION_CHARS],
        key=key,
        properties=orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode() if values else "",
    )
    mentions, relations, dropped = [own], [], 0
    for column, label in order.refs.items():
        other = passage.cells.get(column)
        if other is None:
            continue
        if (other, label) == (key, order.label):
            dropped += 1
            continue
        mentions.append(Mention(other, label, *passage.spans[column], key=other))
        start, end = passage.stated[column]
        relations.append(
            Relation(
                source=own.name,
                source_type=own.type,
                target=other,
                target_type=label,
                type=relation_type(column),
                description=passage.text[start:end],
                start=start,
                end=end,
                source_key=key,
                target_key=other,
            )
        )
    return Extraction(tuple(mentions), tuple(relations), {_SELF_RELATION: dropped} if dropped else {})


def _spell_column(column: str) -> str:
    return _quote(column) if ". " in column or ": " in column or column.startswith('"') else column


def _spell_cell(cell: str) -> str:
    """Spell a cell so that no two rows give the same passage: its end is where the next column's name begins."""
    return _quote(cell) if ": " in cell or cell.startswith('"') else cell


def _quote(text: str) -> str:
    return orjson.dumps(text).decode()


def _flat(name: str) -> str:
    return " ".join(name.split())
