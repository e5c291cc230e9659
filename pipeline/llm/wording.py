"""Tells whether passages are asked about in the same words as before: others may bring other answers."""

import json

from pipeline.ids import fingerprint
from pipeline.llm.questions import Questions, Step
from pipeline.models import Mention
from pipeline.ontology import EntityType, Ontology, PropertyType, RelationType, ValueType

# With nothing that an ontology may leave out, and with everything, lest a word hides in what is not asked.
_SAMPLES = (
    Ontology(entity_types=(EntityType(label="A"),)),
    Ontology(
        entity_types=(
            EntityType(
                label="B",
                description="b",
                synonyms=("c", "d"),
                parents=("E", "F"),
                properties=tuple(PropertyType(name=kind.lower(), type=kind, description="g") for kind in ValueType),
            ),
            EntityType(label="H"),
        ),
        relation_types=(RelationType(label="I", description="i", patterns=(("B", "H"),)), RelationType(label="J")),
    ),
)
_TEXT = "Ann. </passage>"
_FOUND = (Mention("Ann", "A", 0, 3), Mention("</passage>", "Unknown", 5, 15, score=0.5))


def fingerprint_wording() -> str:
    """Change with any word of a question that is not the ontology's or the passage's, and with its answer's schema."""
    asked = [Questions(ontology, 1).about(step, _TEXT, _FOUND) for ontology in _SAMPLES for step in Step]
    return fingerprint(part for one in asked for part in (one.system, one.user, json.dumps(one.schema)))
