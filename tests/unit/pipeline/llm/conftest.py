import json
import threading

import pytest

from pipeline.models import Usage
from pipeline.ontology import EntityType, Ontology, PropertyType, RelationType, ValueType
from pipeline.ports import ChatAnswer

CALL = Usage(1, 100, 10, 0.5)


class ScriptedChat:
    """A `ChatModel` that gives its answers in turn, the last one again and again, and keeps what it was asked.

    An answer is text, `(text, finish)`, an error to raise, or a function of the request that gives one of these.
    """

    model = "scripted/one"

    def __init__(self, *answers):
        self.requests = []
        self._answers = list(answers)
        self._lock = threading.Lock()

    def bound(self, request):
        return CALL

    def complete(self, request):
        with self._lock:
            self.requests.append(request)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if callable(answer) and not isinstance(answer, type):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        text, finish = answer if isinstance(answer, tuple) else (answer, "stop")
        return ChatAnswer(text, finish, CALL, self.model)


def spell_answer(*entities, relations=(), **more):
    """Spell an answer: entities as (name, type) or mappings, relations as (source, type, target, quote)."""
    given = [one if isinstance(one, dict) else {"name": one[0], "type": one[1]} for one in entities]
    related = [{"source": r[0], "type": r[1], "target": r[2], "quote": r[3] if len(r) > 3 else ""} for r in relations]
    return json.dumps({"entities": given, "relationships": related, **more})


@pytest.fixture
def chat():
    return ScriptedChat


@pytest.fixture
def spell():
    return spell_answer


@pytest.fixture
def ontology():
    return Ontology(
        entity_types=(
            EntityType(
                label="Person",
                description="A human being.",
                synonyms=("human",),
                properties=(
                    PropertyType(name="age", type=ValueType.INTEGER, description="in years"),
                    PropertyType(name="nicknames", type=ValueType.LIST),
                ),
            ),
            EntityType(label="Company", description="A firm."),
        ),
        relation_types=(RelationType(label="WORKS_FOR", description="Employment.", patterns=(("Person", "Company"),)),),
    )
