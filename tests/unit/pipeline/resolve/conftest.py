import pytest

from pipeline.models import Usage
from pipeline.ontology import EntityType, Ontology, PropertyType, ValueType
from pipeline.ports import ChatAnswer
from pipeline.resolve.values import Named

CALL = Usage(1, 100, 10, 0.5)


class ScriptedChat:
    """A `ChatModel` that gives its answers in turn: text, (text, finish), an error, or a function that gives text."""

    model = "scripted/one"

    def __init__(self, *answers):
        self.requests = []
        self._answers = list(answers)

    def bound(self, request):
        return CALL

    def complete(self, request):
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = answer(request)
        text, finish = answer if isinstance(answer, tuple) else (answer, "stop")
        return ChatAnswer(text, finish, CALL, self.model)


@pytest.fixture
def chat():
    return ScriptedChat


@pytest.fixture
def person():
    def make(identity, name="", **more):
        return Named(identity, "Person", name or identity, **more)

    return make


@pytest.fixture
def ontology():
    born = PropertyType(name="born", type=ValueType.DATE)
    return Ontology(
        entity_types=(
            EntityType(label="Person", properties=(born, PropertyType(name="role"))),
            EntityType(label="Firm", properties=(PropertyType(name="founded"),)),
        )
    )
