"""A language model that answers by a script, without a server."""

from pipeline.models import Usage
from pipeline.ports import ChatAnswer


class Chat:
    """A `ChatModel` that answers in turn: texts, functions of the request that give one, or errors to raise."""

    model = "scripted/one"

    def __init__(self, *answers):
        self.requests, self._answers = [], list(answers)

    def bound(self, request):
        return Usage()

    def complete(self, request):
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ChatAnswer(answer(request) if callable(answer) else answer, "stop", Usage(1, 100, 10), self.model)
