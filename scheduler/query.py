"""Questions and drafts of a conversation: evidence with its numbers, and the check of what cites them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pipeline.cite import check_citations, cited_numbers
from pipeline.errors import GraphUnavailable, QueryInvalid
from pipeline.models import Evidence
from pipeline.ports import Embedder, GraphReader
from pipeline.retrieve import extract_answer, retrieve
from scheduler.sessions import EvidenceSessions

MAX_DRAFT_CHARS = 200_000
"""Longest draft that is checked."""


class Questions:
    """Answers the query worker's messages in plain JSON values.

    Args:
        reader_of: Gives the reader of a graph by its name.
        embedder: Must be the one that the graphs were built with.
        sessions: Numbers evidence per conversation.
    """

    def __init__(self, reader_of: Callable[[str], GraphReader], embedder: Embedder, sessions: EvidenceSessions) -> None:
        self._reader_of = reader_of
        self._embedder = embedder
        self._sessions = sessions

    def retrieve(self, graph: str, question: str, k: int, session: str) -> dict[str, Any]:
        """Find evidence and number it in the session.

        Gives `evidence` (a list of n, kind, text, score, source, page, start, end, heading, paths),
        `incomplete` (why something may be missing) and `answer` (a list of sentence, n). Start and end
        are offsets into the source's text: a passage's, a fact's sentence's, an entity's mention's.

        Raises:
            QueryInvalid, EmbedderMismatch, GraphMissing, GraphUnavailable: As `pipeline.retrieve.retrieve`.
            LedgerUnavailable: Where the sessions' Redis does not answer.
        """
        reader = self._reader_of(graph)
        try:
            found = retrieve(question, reader, self._embedder, k)
        except GraphUnavailable:
            # A connection that was lost while it was idle shows in its next use only, and is made anew after that.
            found = retrieve(question, reader, self._embedder, k)
        evidence = [item for item in found.evidence if item.text.strip()]
        answer = extract_answer(question, evidence, self._embedder)
        numbers = self._sessions.number(session, evidence)
        return {
            "evidence": [_spell(number, item) for number, item in zip(numbers, evidence, strict=True)],
            "incomplete": list(found.incomplete),
            "answer": [{"sentence": sentence, "n": numbers[position]} for sentence, position in answer],
        }

    def check(self, session: str, draft: str) -> dict[str, Any]:
        """Check a draft's citations against the session's evidence; see `pipeline.cite.CitationCheck`.

        `sources` adds the text of each number that the draft may cite.

        Raises:
            QueryInvalid: The draft is longer than `MAX_DRAFT_CHARS`, or the session's id is none.
            LedgerUnavailable: Where the sessions' Redis does not answer.
        """
        if len(draft) > MAX_DRAFT_CHARS:
            raise QueryInvalid(f"the draft has {len(draft)} characters; at most {MAX_DRAFT_CHARS} can be checked")
        texts = self._sessions.texts(session, cited_numbers(draft))
        verdict = asdict(check_citations(draft, texts))
        return {**verdict, "sources": [{"n": number, "text": texts[number]} for number in verdict["cited"]]}


def _spell(number: int, item: Evidence) -> dict[str, Any]:
    return {
        "n": number,
        "kind": item.kind,
        "text": item.text,
        "score": round(item.score, 4),
        "source": item.source,
        "page": item.page,
        "start": item.start,
        "end": item.end,
        "heading": item.heading,
        "paths": list(item.paths),
    }
