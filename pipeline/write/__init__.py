"""What a graph stores of documents: rows, and what is chosen where several say different things. Pure."""

from pipeline.write.build import MAX_ID_BYTES, MAX_NESTED, extracted_ids, is_storable, make_rows
from pipeline.write.choose import pick_description, pick_name, pick_properties, spell_fact
from pipeline.write.rows import (
    CandidateRow,
    ChunkRow,
    EntityRow,
    GraphRows,
    MentionRow,
    RelationRow,
    StoredCounts,
    SupportRow,
)

__all__ = [
    "MAX_ID_BYTES",
    "MAX_NESTED",
    "CandidateRow",
    "ChunkRow",
    "EntityRow",
    "GraphRows",
    "MentionRow",
    "RelationRow",
    "StoredCounts",
    "SupportRow",
    "extracted_ids",
    "is_storable",
    "make_rows",
    "pick_description",
    "pick_name",
    "pick_properties",
    "spell_fact",
]
