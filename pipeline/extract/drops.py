"""Why something of an extraction was not kept, as a closed set for reports."""

from enum import StrEnum


class Drop(StrEnum):
    """Why something of an extraction was not kept, as a closed set for reports."""

    INVALID_ITEM = "invalid_item"
    """An entity or relation that an extractor gave lacks its names, or is of another shape."""
    INVALID_TYPE = "invalid_type"
    """A language model gave an entity several types at once, as in `Person/Company`."""
    UNVERIFIED = "unverified"
    """An entity that was found first is not among those that the language model confirmed."""
    INVALID_NAME = "invalid_name"
    """A mention's name is too short, too long, a pronoun, or has no letter or digit."""
    NOT_IN_TEXT = "not_in_text"
    """A mention's name does not occur in the passage."""
    UNKNOWN_END = "unknown_end"
    """A relation's end is no mention that was kept."""
    SELF_RELATION = "self_relation"
    """A relation joins an entity to itself."""
    INVALID_RELATION = "invalid_relation"
    """A relation's type is empty or too long."""
    UNDECLARED_RELATION = "undeclared_relation"
    """The ontology declares relation types, and not this one."""
    UNDECLARED_PATTERN = "undeclared_pattern"
    """The relation type is declared, but not between these two types."""
    INVERTED_PATTERN = "inverted_pattern"
    """The relation type is declared between these types in the other direction only."""
    UNTYPED_END = "untyped_end"
    """No pattern can fit, because an end's type is Unknown."""


UNDECLARED = frozenset({Drop.UNDECLARED_RELATION, Drop.UNDECLARED_PATTERN, Drop.INVERTED_PATTERN, Drop.UNTYPED_END})
"""Of relations that the text bears out and the ontology does not: they stay in sight as candidates."""
