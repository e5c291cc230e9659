"""The stored text behind evidence numbers, and the passages around it."""

from collections.abc import Callable, Sequence
from typing import Any

from pipeline.errors import GraphTimeout, GraphUnavailable, QueryInvalid
from pipeline.ids import content_hash
from pipeline.models import Evidence, ExactPassage, PassageStatus
from pipeline.ports.reading import MOST_AROUND, GraphReader
from scheduler.sessions import Cited, EvidenceSessions

MOST_AT_ONCE = 20
MOST_SHOWN_CHARS = 4_000
"""Characters of one passage that are shown."""
MOST_AROUND_CHARS = 12_000
"""Characters of all passages around one that are shown."""
MOST_REACH = 5

_NOT_CURRENT = (
    "The passage of [{number}] is {status}: it stands in no current version of a document, and has nothing around it."
)
_BEFORE = 1_000
"""Characters shown before what was cited, where a passage is too long to be shown whole."""


class ExactText:
    """Fetches what numbers of a session stand for, from the graph itself.

    Args:
        reader_of: Gives the reader of a graph by its name.
        sessions: Knows the numbers.
    """

    def __init__(self, reader_of: Callable[[str], GraphReader], sessions: EvidenceSessions) -> None:
        self._reader_of = reader_of
        self._sessions = sessions

    def fetch(self, graph: str, session: str, numbers: list[int]) -> dict[str, Any]:
        """See `Questions.fetch`."""
        asked = list(dict.fromkeys(numbers))
        if len(asked) > MOST_AT_ONCE:
            raise QueryInvalid(f"fetch at most {MOST_AT_ONCE} numbers at once, not {len(asked)}")
        cited = self._sessions.items(session, asked)
        leading = {number: cited[number].evidence for number in asked if _leads(cited.get(number), graph)}
        reader = self._reader_of(graph)
        identities = list(dict.fromkeys(_passage_of(item) for item in leading.values()))
        stored = read_twice(lambda: reader.exact(identities)) if identities else []
        exact = dict(zip(identities, stored, strict=True))
        return {
            "passages": [_spell(number, exact[_passage_of(item)], item) for number, item in leading.items()],
            "invalid": sorted(set(asked) - leading.keys()),
        }

    def navigate(self, graph: str, session: str, number: int, reach: int) -> dict[str, Any]:
        """See `Questions.navigate`."""
        if not 1 <= reach <= MOST_REACH:
            raise QueryInvalid(f"the reach is 1 to {MOST_REACH} passages, not {reach}")
        cited = self._sessions.items(session, [number]).get(number)
        if not cited or not _leads(cited, graph):
            raise QueryInvalid(f"[{number}] {_reason(cited, graph, session)}: there is no passage to go on from")
        identity = _passage_of(cited.evidence)
        reader = self._reader_of(graph)
        (here,) = read_twice(lambda: reader.exact([identity]))
        # The passage may have another id now, as its document was renamed.
        found = read_twice(lambda: reader.around(here.id, reach)) if here.status is PassageStatus.CURRENT else []
        around = [passage for passage in found if passage.text.strip()]
        if not around:
            return {"passages": [], "incomplete": [_NOT_CURRENT.format(number=number, status=here.status)]}
        shown = _nearest(around, here.id)
        given = self._sessions.number(session, [_evidence(passage) for passage in shown], "navigate", graph)
        return {
            "passages": [
                {**_spell(own, passage, None), "here": passage.id == here.id}
                for own, passage in zip(given, shown, strict=True)
            ],
            "incomplete": _gaps(len(around), len(shown)),
        }


def read_twice[T](read: Callable[[], T]) -> T:
    """Read, and once more if the graph was unavailable: a connection that was lost while idle is made anew then.

    What took too long is not asked again: it would take as long.
    """
    try:
        return read()
    except GraphTimeout:
        raise
    except GraphUnavailable:
        return read()


def _passage_of(item: Evidence) -> str:
    return item.passage or (item.id if item.kind == "passage" else "")


def _leads(cited: Cited | None, graph: str) -> bool:
    return cited is not None and cited.graph == graph and bool(_passage_of(cited.evidence))


def _reason(cited: Cited | None, graph: str, session: str) -> str:
    if cited is None:
        return f"is no evidence of the session {session!r}"
    if cited.graph != graph:
        return f"came from the graph {cited.graph!r}, not from {graph!r}"
    return f"is a {cited.evidence.kind or 'text'} that no passage states"


def _nearest(around: Sequence[ExactPassage], here: str) -> list[ExactPassage]:
    """Choose those next to a passage until they fill what may be shown, in the order of the document."""
    middle = next((i for i, passage in enumerate(around) if passage.id == here), 0)
    chosen: list[int] = []
    free = MOST_AROUND_CHARS
    for i in sorted(range(len(around)), key=lambda i: (abs(i - middle), i)):
        free -= min(len(around[i].text), MOST_SHOWN_CHARS)
        if free < 0:
            break
        chosen.append(i)
    return [around[i] for i in sorted(chosen)]


def _gaps(found: int, shown: int) -> list[str]:
    gaps = [f"{found - shown} passages that are further away are left out."] if shown < found else []
    if found >= MOST_AROUND:
        gaps.append(f"The nearest {MOST_AROUND} are looked at: there may be more under this heading.")
    return gaps


def _window(passage: ExactPassage, item: Evidence | None) -> tuple[int, int]:
    """Say which characters are shown: from the beginning, unless what was cited stands further on."""
    chars = len(passage.text)
    first = 0
    if chars > MOST_SHOWN_CHARS and item and item.start is not None and passage.start is not None:
        first = max(0, min(item.start - passage.start - _BEFORE, chars - MOST_SHOWN_CHARS))
    return first, min(chars, first + MOST_SHOWN_CHARS)


def _spell(number: int, passage: ExactPassage, item: Evidence | None) -> dict[str, Any]:
    first, last = _window(passage, item)
    return {
        "n": number,
        "status": passage.status.value,
        "text": passage.text[first:last],
        "shown": [first, last],
        "chars": len(passage.text),
        "hash": content_hash(passage.text) if passage.text else "",
        "source": passage.source,
        "page": passage.page,
        "start": passage.start,
        "end": passage.end,
        "heading": passage.heading,
        "document": passage.document,
        "version": passage.version,
        "replaced_at": passage.replaced_at,
    }


def _evidence(passage: ExactPassage) -> Evidence:
    """Make evidence of a passage that was not searched for."""
    return Evidence(
        kind="passage",
        id=passage.id,
        text=passage.text,
        score=0.0,
        source=passage.source,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        heading=passage.heading,
        document=passage.document,
        version=passage.version,
        passage=passage.id,
    )
