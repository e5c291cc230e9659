"""Questions and drafts of a conversation: evidence with its numbers, exact texts, and citation checks."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pipeline.cite import check_citations, cited_numbers
from pipeline.errors import QueryInvalid
from pipeline.models import Evidence, Retrieval, SearchPath
from pipeline.models.query import read_query
from pipeline.ports import Embedder
from pipeline.ports.reading import GraphReader
from pipeline.retrieve import extract_answer, retrieve
from pipeline.retrieve.telling import LEAST_TEXT_CHARS, MOST_REPLY_CHARS, MOST_TEXT_CHARS, shape, spell, tell
from scheduler.exact import ExactText, read_twice
from scheduler.sessions import CAPACITY, Cited, EvidenceSessions, check_session_id

MAX_DRAFT_CHARS = 200_000
"""Longest draft that is checked."""
MOST_SOURCE_CHARS = 40_000
"""Of all texts that a check shows; each is cut to its share where they are more."""

type RowsOf = Callable[[str, GraphReader], tuple[list[Evidence], str, list[str]]]
"""From a question and its graph's reader to rows, the query that found them, and gaps."""


class Questions:
    """Finds evidence, shows it and checks drafts against it; takes and gives plain JSON values.

    Args:
        reader_of: Gives the reader of a graph by its name.
        embedder: Must be the one that the graphs were built with.
        sessions: Numbers evidence per conversation.
        rows_of: Asks a language model for a query of the graph and runs it, where a question asks for that.
    """

    def __init__(
        self, reader_of: Callable[[str], GraphReader], embedder: Embedder, sessions: EvidenceSessions, rows_of: RowsOf
    ) -> None:
        self._reader_of = reader_of
        self._embedder = embedder
        self._sessions = sessions
        self._exact = ExactText(reader_of, sessions)
        self._rows_of = rows_of

    def retrieve(
        self, graph: str, session: str, query: Mapping[str, Any], max_chars: int = MOST_TEXT_CHARS
    ) -> dict[str, Any]:
        """Find evidence and number it in the session.

        Gives `evidence` (a list of n, kind, text, score, source, page, start, end, heading, paths, document, version,
        hop), of at most `MOST_REPLY_CHARS` of JSON; `incomplete` (why something may be missing, what was left out of
        the reply among it); `answer` (a list of sentence, n; empty unless `sentences` is asked for); `hint`; `cypher`
        (the generated query that ran); `text`, the evidence as `pipeline.retrieve.telling.tell` writes it in at most
        `max_chars`; and `told`, the numbers in it. Start and end are offsets into the source's text: a passage's, a
        fact's sentence's, an entity's mention's. A number stands for its item in all later calls of the session.

        Raises:
            QueryInvalid, EmbedderMismatch, GraphMissing, GraphUnavailable: As `pipeline.retrieve.retrieve`.
            LedgerUnavailable: Where the sessions' Redis does not answer.
        """
        asked = read_query(query)
        check_session_id(session)
        if not LEAST_TEXT_CHARS <= max_chars <= MOST_REPLY_CHARS:
            raise QueryInvalid(f"ask for {LEAST_TEXT_CHARS} to {MOST_REPLY_CHARS} characters of text, not {max_chars}")
        reader = self._reader_of(graph)
        found = read_twice(lambda: retrieve(asked, reader, self._embedder))
        if SearchPath.CYPHER in asked.paths:
            found = self._add_rows(found, asked.question, reader)
        found = shape(found)
        answer = extract_answer(asked.question, found.evidence, self._embedder) if asked.sentences else []
        numbers = self._sessions.number(session, found.evidence, "retrieve", graph)
        text, told = tell(found, numbers, max_chars)
        return {
            "evidence": [spell(number, item) for number, item in zip(numbers, found.evidence, strict=True)],
            "incomplete": list(found.incomplete),
            "answer": [{"sentence": sentence, "n": numbers[position]} for sentence, position in answer],
            "hint": found.hint,
            "cypher": found.cypher,
            "text": text,
            "told": list(told),
        }

    def check(self, session: str, draft: str) -> dict[str, Any]:
        """Check a draft's citations against the session's evidence; see `pipeline.cite.CitationCheck`.

        `sources` adds what each number stands for that the draft may cite: n, tool, kind, text, source, page, start,
        end. Texts are shown in part where they are many; they are checked in full.

        Raises:
            QueryInvalid: The draft is longer than `MAX_DRAFT_CHARS`, or has more numbers than a session remembers
                items, or the session's id is none.
            LedgerUnavailable: Where the sessions' Redis does not answer.
        """
        if len(draft) > MAX_DRAFT_CHARS:
            raise QueryInvalid(f"the draft has {len(draft)} characters; at most {MAX_DRAFT_CHARS} can be checked")
        numbers = cited_numbers(draft)
        _check_count(len(numbers))
        items = self._sessions.items(session, numbers)
        verdict = check_citations(draft, {number: cited.evidence.text for number, cited in items.items()})
        _check_count(len(verdict.cited) + len(verdict.invalid))
        return {
            "grounded": verdict.grounded,
            "answer": verdict.answer,
            "cited": list(verdict.cited),
            "invalid": list(verdict.invalid),
            "uncited": list(verdict.uncited),
            "unsupported": [{"sentence": one.sentence, "missing": list(one.missing)} for one in verdict.unsupported],
            "sources": _tell_sources({number: items[number] for number in verdict.cited}),
        }

    def fetch(self, graph: str, session: str, numbers: list[int]) -> dict[str, Any]:
        """Fetch the stored passages that at most 20 numbers were cited with, whatever has become of them since.

        Gives `passages` (a list of n, status, text, shown, chars, hash, source, page, start, end, heading, document,
        version, replaced_at) in the order asked for, and `invalid`: numbers that lead to no passage of this graph,
        since the session does not know them, they came from another graph, or are rows of a generated query. `status`
        is `current`, `superseded` or `gone`; up to 4,000 characters are shown, `shown` says which of `chars`; `hash`
        is the SHA-256 of the whole text. A session does not remember the scope of its questions: what was in scope
        when it was retrieved is fetched whatever scope is asked for next.

        Raises:
            QueryInvalid: There are too many numbers, or the session is unknown or has expired.
            GraphMissing, GraphUnavailable, LedgerUnavailable: As `retrieve` does.
        """
        return self._exact.fetch(graph, session, numbers)

    def navigate(self, graph: str, session: str, number: int, reach: int = 2) -> dict[str, Any]:
        """Show the passages around the one that a number was cited with, and number them in the session too.

        Around are up to `reach` (1 to 5) before and behind it in its document, and those under its heading. Gives
        `passages` in the document's order, as `fetch` does and with `here` for the one itself, the nearest ones if
        all would be more than 12,000 characters; and `incomplete`. The scope of questions counts as little as in
        `fetch`.

        Raises:
            QueryInvalid: The number leads to no passage, or `reach` is out of bounds.
            GraphMissing, GraphUnavailable, LedgerUnavailable: As `retrieve` does.
        """
        return self._exact.navigate(graph, session, number, reach)

    def _add_rows(self, found: Retrieval, question: str, reader: GraphReader) -> Retrieval:
        rows, cypher, gaps = self._rows_of(question, reader)
        return replace(
            found,
            evidence=(*found.evidence, *rows),
            incomplete=(*found.incomplete, *gaps),
            cypher=cypher,
        )


def _check_count(numbers: int) -> None:
    if numbers > CAPACITY:
        raise QueryInvalid(f"the draft cites {numbers:,} numbers; a session has no more than {CAPACITY:,}: cite fewer")


def _tell_sources(cited: Mapping[int, Cited]) -> list[dict[str, Any]]:
    share = MOST_SOURCE_CHARS // max(1, len(cited))
    return [
        {
            "n": number,
            "tool": one.tool,
            "kind": one.evidence.kind,
            "text": one.evidence.text if len(one.evidence.text) <= share else f"{one.evidence.text[: share - 1]}…",
            "source": one.evidence.source,
            "page": one.evidence.page,
            "start": one.evidence.start,
            "end": one.evidence.end,
        }
        for number, one in cited.items()
    ]
