"""What was answered of passages that take several calls, kept until they are read: no call of theirs is made twice."""

from dataclasses import asdict, dataclass

import orjson

from pipeline import ids
from pipeline.errors import UnreadCode
from pipeline.models import Usage
from pipeline.ports import ArtifactStore, ChatRequest


@dataclass(frozen=True, slots=True)
class Note:
    """A usable answer, or (`too_much`) that the question or its answer is too long, and what that cost."""

    text: str
    """What was answered; or why it is too long."""
    finish: str = ""
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    too_much: UnreadCode | None = None


class Notes:
    """Notes of one extractor, by the question that was asked.

    Args:
        store: Where they are kept; None: nowhere.
        extractor: Fingerprint of who asks: the same words to another model are another question.
    """

    def __init__(self, store: ArtifactStore | None, extractor: str) -> None:
        self._store = store
        self._extractor = extractor

    def recall(self, request: ChatRequest) -> Note | None:
        """Give what is noted of a question."""
        data = self._store.get(self._key(request)) if self._store is not None else None
        if data is None:
            return None
        row = orjson.loads(data)
        too_much = UnreadCode(row["too_much"]) if row["too_much"] else None
        return Note(row["text"], row["finish"], Usage(**row["usage"]), too_much)

    def keep(self, request: ChatRequest, note: Note) -> None:
        """Note something of a question."""
        if self._store is not None:
            self._store.put(self._key(request), orjson.dumps(asdict(note)))

    def _key(self, request: ChatRequest) -> str:
        schema = orjson.dumps(request.schema, option=orjson.OPT_SORT_KEYS).decode()
        return ids.artifact_key("answer", (self._extractor, request.system, request.user, schema))
