"""What labels of types and names of properties may look like, and how labels are compared."""

import re
import unicodedata
from functools import lru_cache

OWN_PROPERTIES = frozenset(
    "id type name description canonical_key aliases embedding embedded_hash source_chunk_ids spans key".split()  # noqa: SIM905 - a list of words is read as words
)
"""What a graph keeps of an entity, or tells of it, by itself."""

LONGEST_NAME = 200
"""Characters of a label or property name: they stand in every prompt."""

_RESERVED = frozenset({"chunk", "document", "unknown"})
_SEPARATORS = re.compile(r"[\s_-]+")
_INTERNAL = re.compile(r"__.*__")
_SET_ASIDE = "__dropped"
"""Ends the property that keeps a value which a merge has set aside."""


# An extractor's words for types are few, and every mention has one.
@lru_cache(maxsize=10_000)
def fold_label(raw: str) -> str:
    """Fold a label for comparison: case, white space, ``_`` and ``-`` do not tell labels apart."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", raw).casefold())


def fold_property(name: str) -> str:
    """Fold a property name for comparison: only case does not tell names apart."""
    return unicodedata.normalize("NFKC", name).casefold()


def check_label(raw: str) -> str:
    """Give the label in NFC; raises ValueError by the rules of the GraphRAG SDK's `set_ontology`."""
    label = unicodedata.normalize("NFC", raw.strip())
    # Letters of many scripts carry combining marks (category M), so these count as letters.
    bad = sorted({c for c in label if not (c.isalnum() or c in " -_" or unicodedata.category(c)[0] == "M")})
    if bad:
        shown = " ".join(repr(c) for c in bad)
        raise ValueError(f"label {label!r} holds {shown}; letters, digits, spaces, - and _ are allowed")
    if len(label) > LONGEST_NAME:
        raise ValueError(f"label {label[:20]!r}... is longer than {LONGEST_NAME} characters")
    if _INTERNAL.fullmatch(label):
        raise ValueError(f"label {label!r} is of the form __X__, which is kept for internal nodes")
    folded = fold_label(label)
    if not folded:
        raise ValueError(f"label {label!r} has no letter or digit")
    if folded in _RESERVED:
        raise ValueError(f"label {label!r} is reserved")
    return label


def check_property_name(raw: str) -> str:
    """Give the property name in NFC; raises ValueError where a graph could not keep it as a property."""
    name = unicodedata.normalize("NFC", raw.strip())
    if len(name) > LONGEST_NAME:
        raise ValueError(f"property name {name[:20]!r}... is longer than {LONGEST_NAME} characters")
    if not name.isidentifier():
        raise ValueError(f"property name {name!r} is no word of letters, digits and _ that begins with no digit")
    if fold_property(name) in OWN_PROPERTIES:
        raise ValueError(f"property name {name!r} is reserved: the graph has a {name.lower()} of its own")
    if _INTERNAL.fullmatch(name) or fold_property(name).endswith(_SET_ASIDE):
        raise ValueError(f"property name {name!r} is of a form that is kept for internal use")
    return name
