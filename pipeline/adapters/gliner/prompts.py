"""What a GLiNER model is asked for: the ontology's types as words, and the way back from its answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.ontology import Ontology

# Where the answer holds what was found of entities; no relation may be called so.
ENTITIES = "entities"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Entity and relation types as the model is asked for them, each with its description ('' for none)."""

    entities: Mapping[str, str]
    relations: Mapping[str, str]
    labels: Mapping[str, str]
    """The declared entity labels by the words asked for."""
    relation_labels: Mapping[str, str]
    """The declared relation labels likewise."""

    def relation_of(self, key: str) -> str | None:
        """Give the declared relation that an answer's key means: the word, or `word: description`."""
        # No label holds a colon.
        return self.relation_labels.get(key.partition(": ")[0])


def write_prompts(ontology: Ontology) -> Prompts:
    """Put an ontology's types into words."""
    entities = {_words(declared.label).replace("_", " "): declared for declared in ontology.entity_types}
    relations = {_words(declared.label): declared for declared in ontology.relation_types}
    if ENTITIES in relations:
        relations[f"{ENTITIES}_"] = relations.pop(ENTITIES)
    return Prompts(
        entities={word: " ".join(declared.description.split()) for word, declared in entities.items()},
        relations={word: " ".join(declared.description.split()) for word, declared in relations.items()},
        labels={word: declared.label for word, declared in entities.items()},
        relation_labels={word: declared.label for word, declared in relations.items()},
    )


def _words(label: str) -> str:
    """Spell a label as the models were trained: what is all capitals says less to them."""
    return label.lower() if label.isupper() else label
