"""Evidence numbers of a conversation: what `[3]` means there, and nowhere else.

A session's state is four Redis keys under `gm:session:ID:`: `counter` (last number, last
use), `numbers` (item to number), `texts` (number to text) and `used` (items by last use, for dropping the
oldest). Each operation is one script, so any number of processes may serve one conversation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import redis

from pipeline.errors import QueryInvalid
from pipeline.ids import fingerprint
from pipeline.models import Evidence
from scheduler.scripts import Scripts

CAPACITY = 2_000
"""Items that a session remembers; the ones used longest ago are dropped first. The GraphRAG SDK's number."""
NO_NUMBER = 0
"""Stands for an item without text: there is nothing to cite."""

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class EvidenceSessions:
    """Numbers evidence per session and gives its full text back for the citation check.

    Args:
        client: A client of the ledger's Redis with `decode_responses=True`.
        expiry_seconds: How long a session outlives its last use. Afterwards its numbers start anew.
    """

    def __init__(self, client: "redis.Redis", *, expiry_seconds: int) -> None:
        if expiry_seconds <= 0:
            raise ValueError(f"a session must live longer than {expiry_seconds} seconds")
        self._expiry_seconds = expiry_seconds
        self._scripts = Scripts(client, "")

    def number(self, session_id: str, items: Sequence[Evidence]) -> list[int]:
        """Number items, parallel to `items`, from 1, unique over all calls of the session.

        The same item (kind, id and text) keeps its number; an item without text gets `NO_NUMBER`.
        Of more than `CAPACITY` items in one call only the last can be cited.

        Raises:
            QueryInvalid: For a session id that is not 1 to 64 letters, digits, dots, dashes, underscores.
            LedgerUnavailable: Where Redis does not answer; the call may be repeated.
        """
        _check_id(session_id)
        arguments: list[str] = []
        for item in items:
            if item.text.strip():
                arguments += (fingerprint((item.kind, item.id, item.text)), item.text)
        given: Iterator[int] = iter(
            self._scripts.call("session_number", session_id, CAPACITY, self._expiry_seconds, *arguments)
        )
        return [next(given) if item.text.strip() else NO_NUMBER for item in items]

    def texts(self, session_id: str, numbers: Iterable[int]) -> dict[int, str]:
        """Look up the full texts of numbers; those unknown to this session are left out.

        Raises:
            QueryInvalid: As `number` does, and for a session that never was, or has expired.
            LedgerUnavailable: As `number` does.
        """
        _check_id(session_id)
        asked = list(dict.fromkeys(numbers))
        found = self._scripts.call("session_texts", session_id, self._expiry_seconds, *asked)
        if found is None:
            raise QueryInvalid(
                f"The session {session_id!r} is unknown here or has expired ({self._expiry_seconds:,} s after its last "
                "use): its numbers mean nothing. Ask the question again; `graphmill ask` begins a new session."
            )
        return {number: text for number, text in zip(asked, found, strict=True) if text is not None}


def _check_id(session_id: str) -> None:
    if not _SESSION_ID.fullmatch(session_id):
        raise QueryInvalid(
            "a session id is 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit"
        )
