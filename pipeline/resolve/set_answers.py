"""Usable answers of a language model about sets of entities, kept by what was asked: nothing is paid for twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline import ids
from pipeline.ports import ArtifactStore
from pipeline.resolve.answers import AnsweredGroup
from pipeline.resolve.packing import Prompt


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """What was answered of one set."""

    groups: tuple[AnsweredGroup, ...]
    """Of its members by their numbers; () where no two are the same."""
    model: str
    """The one that answered, which may be another than was asked first."""


class SetAnswers:
    """Answers to one model's questions, each under the question about its set alone.

    Which other sets a prompt holds changes with all that is new in a graph, and says nothing of this one.

    Args:
        store: Where they are kept; None: nowhere.
        model: The one that is asked first: the same words to another one are another question.
    """

    def __init__(self, store: ArtifactStore | None, model: str) -> None:
        self._store = store
        self._model = model

    def recall(self, question: Prompt) -> SetAnswer | None:
        """Give what is kept of a question; raises `ArtifactsUnavailable`."""
        data = self._store.get(self._key(question)) if self._store is not None else None
        if data is None:
            return None
        row = orjson.loads(data)
        return SetAnswer(tuple(_read(group) for group in row["groups"]), row["model"])

    def keep(self, question: Prompt, answer: SetAnswer) -> None:
        """Keep the answer to a question; raises `ArtifactsUnavailable`."""
        if self._store is not None:
            groups = [{"members": one.members, "name": one.name, "keep": dict(one.keep)} for one in answer.groups]
            self._store.put(self._key(question), orjson.dumps({"groups": groups, "model": answer.model}))

    def _key(self, question: Prompt) -> str:
        return ids.artifact_key("judged", (self._model, question.system, question.user))


def _read(group: Mapping[str, Any]) -> AnsweredGroup:
    return AnsweredGroup(tuple(group["members"]), group["name"], group["keep"])
