"""What a language model is asked about a passage: instructions first, the same for all passages, then the passage."""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from string import Template

from pipeline.extract import clean
from pipeline.llm.schema import answer_schema
from pipeline.llm.suggested import OTHER, other_relation
from pipeline.llm.untrusted import neutralise
from pipeline.models import Mention
from pipeline.ontology import EntityType, Ontology
from pipeline.ports import ChatRequest


class Step(StrEnum):
    """What one call is for; the value names the template of its instructions."""

    EXTRACT = "extract-v1"
    """Entities, attributes and relations at once."""
    FIND = "find-v1"
    """Entities only, with how sure the model is."""
    RELATE = "relate-v1"
    """Entities that were found are checked and related."""


_PASSAGE, _FOUND = "passage-v1", "found-v1"
_OPEN_RULE = "a short verb phrase in upper snake case, as in WORKS_FOR."
_DECLARED_RULE = "one of the relationship types below, where both ends are of the types that it joins."
_OTHER_RULE = f" Where none fits, {OTHER}, and in suggested_type what you would call it, as in WORKS_FOR."
_ATTRIBUTE_RULE = """\
- attributes: those listed with its type below, as far as the passage states them, else null. Numbers as JSON numbers \
without units, dates as YYYY-MM-DD.
"""


class Questions:
    """Asks about passages under one ontology."""

    def __init__(self, ontology: Ontology, max_output_tokens: int) -> None:
        self.other_relation = other_relation(ontology)
        """The type that a model is to give to relations that no declared type fits; '': there is none."""
        self._max_output_tokens = max_output_tokens
        self._asked = {
            step: (_instruct(step, ontology), answer_schema(ontology, relates=step is not Step.FIND)) for step in Step
        }

    def about(self, step: Step, text: str, found: Sequence[Mention] = ()) -> ChatRequest:
        """Ask about a passage; `found` are the entities that `Step.RELATE` is to check."""
        system, schema = self._asked[step]
        passage = neutralise(text)
        if step is Step.RELATE:
            user = _template(_FOUND).substitute(entities=_list_found(found), passage=passage)
        else:
            user = _template(_PASSAGE).substitute(passage=passage)
        return ChatRequest(system, user, schema, self._max_output_tokens)


def _instruct(step: Step, ontology: Ontology) -> str:
    has_attributes = any(ontology.properties_of(declared.label) for declared in ontology.entity_types)
    relations = "".join(f"{line}\n" for line in _list_relations(ontology))
    other = other_relation(ontology)
    rule = _DECLARED_RULE if ontology.relation_types else _OPEN_RULE
    return _template(step).substitute(
        entity_types="\n".join(line for declared in ontology.entity_types for line in _list_type(declared, ontology)),
        attribute_rule=_ATTRIBUTE_RULE if has_attributes else "",
        attribute_key=', "attributes"' if has_attributes else "",
        relation_rule=f"{rule}{_OTHER_RULE}" if other else rule,
        other_key=f', "suggested_type" (with {other})' if other else "",
        relation_types=f"\nRelationship types\n{relations}" if relations else "",
    )


def _list_type(declared: EntityType, ontology: Ontology) -> Iterator[str]:
    notes = [clean(declared.description)]
    if declared.parents:
        notes.append(f"A kind of {', '.join(declared.parents)}.")
    if declared.synonyms:
        notes.append(f"Also called {', '.join(map(clean, declared.synonyms))}.")
    yield _line(declared.label, " ".join(filter(None, notes)))
    for one in ontology.properties_of(declared.label):
        yield f"  {_line(f'{one.name} ({one.type})', clean(one.description))}"


def _list_relations(ontology: Ontology) -> Iterator[str]:
    for declared in ontology.relation_types:
        yield _line(declared.label, clean(declared.description))
        yield from (f"  {source} -> {target}" for source, target in declared.patterns)


def _line(name: str, text: str) -> str:
    return f"- {name}: {text}" if text else f"- {name}"


def _list_found(found: Sequence[Mention]) -> str:
    entities = {
        (m.name, m.type): {"name": m.name, "type": m.type, "confidence": round(m.score, 2)} for m in reversed(found)
    }
    return neutralise(json.dumps(list(reversed(entities.values())), ensure_ascii=False))


@cache
def _template(name: str) -> Template:
    return Template((files("pipeline.llm") / "prompts" / f"{name}.txt").read_text("utf-8").rstrip("\n"))
