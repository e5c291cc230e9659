"""Evidence numbers of a conversation: what `[3]` means there, and nowhere else.

A session's state is four Redis keys under `gm:session:ID:`: `counter` (last number, last
use), `numbers` (item to number), `items` (number to record) and `used` (items by last use, for dropping the
oldest). Each operation is one script, so any number of processes may serve one conversation.
"""

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import redis

from pipeline.errors import QueryInvalid
from pipeline.ids import fingerprint
from pipeline.models import Evidence
from scheduler.scripts import Scripts

CAPACITY = 2_000
"""Items that a session remembers; the ones used longest ago are dropped first. The GraphRAG SDK's number."""
UNNAMED_SECONDS = 3_600
"""Longest that a session outlives its last use which its caller did not name: most of these are used once."""
MOST_ITEM_CHARS = 16_000
"""Of an item's text that are remembered: passages are shorter, but a table's cell may hold a book."""
NO_NUMBER = 0
"""Stands for an item without text: there is nothing to cite."""

_UNNAMED = "unnamed-"
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Cited:
    """What a number means."""

    evidence: Evidence
    """Its text is cut at `MOST_ITEM_CHARS`."""
    tool: str
    """What gave it first: `retrieve` or `navigate`."""
    graph: str


_FIELDS = tuple(field.name for field in fields(Evidence))
_NOTHING = asdict(Evidence("", "", "", 0.0))


class EvidenceSessions:
    """Numbers evidence per session, and says for the citation check what the numbers mean.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        expiry_seconds: How long a session outlives its last use, but no longer than `UNNAMED_SECONDS` where its id is
            one of `new_session_id`. Afterwards its numbers start anew.
    """

    def __init__(self, client: "redis.Redis", *, expiry_seconds: int) -> None:
        if expiry_seconds <= 0:
            raise ValueError(f"a session must live longer than {expiry_seconds} seconds")
        self._expiry_seconds = expiry_seconds
        self._scripts = Scripts(client, "")

    def number(self, session_id: str, items: Sequence[Evidence], tool: str, graph: str) -> list[int]:
        """Number items, parallel to `items`, from 1, unique over all calls of the session.

        The same item (see `_name`) keeps its number, and what was first known of it; an item without text gets
        `NO_NUMBER`. Of more than `CAPACITY` items in one call only the last can be cited.

        Raises:
            QueryInvalid: As `check_session_id`.
            LedgerUnavailable: Where Redis does not answer; the call may be repeated.
        """
        check_session_id(session_id)
        arguments: list[str] = []
        for item in items:
            if item.text.strip():
                arguments += (_name(item, graph), _write(Cited(item, tool, graph)))
        given: Iterator[int] = iter(
            self._scripts.call("session_number", session_id, CAPACITY, self._life(session_id), *arguments)
        )
        return [next(given) if item.text.strip() else NO_NUMBER for item in items]

    def items(self, session_id: str, numbers: Iterable[int]) -> dict[int, Cited]:
        """Look up what numbers mean; those unknown to this session are left out.

        Raises:
            QueryInvalid: As `number` does, and for a session that never was, or has expired.
            LedgerUnavailable: As `number` does.
        """
        check_session_id(session_id)
        asked = list(dict.fromkeys(numbers))
        found = self._scripts.call("session_items", session_id, self._life(session_id), *asked)
        if found is None:
            raise QueryInvalid(
                f"The session {session_id!r} is unknown here or has expired ({self._life(session_id):,} s after its "
                "last use): its numbers mean nothing. Ask the question again; `graphmill ask` begins a new session."
            )
        return {number: _read(record) for number, record in zip(asked, found, strict=True) if record is not None}

    def _life(self, session_id: str) -> int:
        return min(self._expiry_seconds, UNNAMED_SECONDS) if session_id.startswith(_UNNAMED) else self._expiry_seconds


def new_session_id() -> str:
    """Make an id for a session that its caller did not name."""
    return _UNNAMED + secrets.token_hex(8)


def check_session_id(session_id: str) -> None:
    """Raise `QueryInvalid` for one that is not 1 to 64 letters, digits, dots, dashes, underscores."""
    if not _SESSION_ID.fullmatch(session_id):
        raise QueryInvalid(
            "a session id is 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit"
        )


def _name(item: Evidence, graph: str) -> str:
    """Tell items apart by all that a reader would go by: the same words elsewhere, or in a newer version, are others.

    Else a number would lead to the place where it was found first, which may be out of the scope of what is asked now.
    """
    place = (item.document, item.version, item.passage, item.source, f"{item.start}-{item.end}")
    return fingerprint((graph, item.kind, item.id, item.text, *place))


def _write(cited: Cited) -> str:
    """Write what is not as in an empty item: most items have half of the fields."""
    values = asdict(replace(cited.evidence, text=cited.evidence.text[:MOST_ITEM_CHARS]))
    said = {name: value for name, value in values.items() if value != _NOTHING[name]}
    return json.dumps({**said, "tool": cited.tool, "graph": cited.graph}, ensure_ascii=False, separators=(",", ":"))


def _read(record: str) -> Cited:
    """Read a record, of an older release with fewer fields or of a newer one with more."""
    said: dict[str, Any] = json.loads(record)
    values = {name: said.get(name, _NOTHING[name]) for name in _FIELDS}
    evidence = Evidence(**{**values, "paths": tuple(values["paths"])})
    return Cited(evidence, said.get("tool", ""), said.get("graph", ""))
