"""What a model would call what the ontology has no type for, so that it comes into sight as a candidate."""

from pipeline.extract import clean
from pipeline.ontology import UNKNOWN, Ontology
from pipeline.ontology.labels import check_label, fold_label

OTHER = "OTHER"
"""The type of relations that no declared type fits, as `Unknown` is that of entities."""
MAX_CHARS = 40
"""A longer suggestion describes, and names no type."""

_MARKS = " .,;:'\"`*"
_NOTHING = frozenset(map(fold_label, (OTHER, UNKNOWN, "none", "null", "n a")))


def other_relation(ontology: Ontology) -> str:
    """Give the type of relations that no declared one fits; '' where relations are open, or it is declared itself."""
    return OTHER if ontology.relation_types and ontology.resolve_relation(OTHER) is None else ""


def read_suggestion(raw: str) -> str:
    """Give a suggested type; '' for one that is too long, says nothing, or could not be declared."""
    words = clean(raw).strip(_MARKS)
    if len(words) > MAX_CHARS or fold_label(words) in _NOTHING or not any(map(str.isalpha, words)):
        return ""
    try:
        return check_label(words)
    except ValueError:
        return ""
