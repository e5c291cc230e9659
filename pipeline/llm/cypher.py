"""Asks a language model for a query of the graph, and runs what is harmless. Nothing here fails the question."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import GraphRejected, GraphTimeout, PipelineError
from pipeline.extract import clean
from pipeline.ids import fingerprint
from pipeline.llm.templates import MAX_OUTPUT_TOKENS, fill, read_text
from pipeline.models import Evidence, SearchPath
from pipeline.ports import ChatModel, ChatRequest, GraphReader
from pipeline.retrieve import MAX_QUESTION_CHARS
from pipeline.retrieve.guard import MOST_ROWS, bound_rows, check_cypher, is_kept_back

MOST_TRIES = 3
TIMEOUT_MS = 5_000
"""How long a query may run."""
MOST_CELL_CHARS = 500
_MOST_NAMES = 200
"""Labels, and types, that a model is shown; more would bury the question."""
_MOST_REASON_CHARS = 500
_LARGEST_WHOLE = 2.0**53
_NO_QUERY = "NO_QUERY"
_NO_NEWS = frozenset({"canonical_key"})
"""Says of an entity what its name says."""
_FENCE = re.compile(r"```(?:[a-z]*[ \t]*\n)?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(slots=True)
class _Tries:
    """Queries that could not be used, each with why."""

    told: list[str] = field(default_factory=list)
    last: str = ""

    def add(self, cypher: str, reasons: Sequence[str]) -> None:
        self.last = "; ".join(reasons)
        self.told.append(f"{cypher[:2_000]}\nCannot be used: {self.last}")


def query_by_model(question: str, reader: GraphReader, model: ChatModel) -> tuple[list[Evidence], str, list[str]]:
    """Answer a question by a query that a model writes: rows, the query that ran ('': none), and what went wrong.

    A row is evidence of the kind `row`, without a place. What is refused, by the guard or by the engine, is told
    back, so that the next try may be better. No error of graph or model is raised: it is among what went wrong.
    """
    try:
        return _ask(question, reader, model)
    except PipelineError as error:
        return [], "", [_spell_gap(f"{error}")]


def _ask(question: str, reader: GraphReader, model: ChatModel) -> tuple[list[Evidence], str, list[str]]:
    labels, types = reader.vocabulary()
    tries = _Tries()
    for _ in range(MOST_TRIES):
        answer = model.complete(_request(question, labels, types, tries))
        said = read_text(answer.text)
        if answer.finish == "refused":
            return [], "", [_spell_gap("the model refuses to write one")]
        if said.strip("`'\". \n").upper() == _NO_QUERY:
            return [], "", [_spell_gap("the model knows none that answers the question")]
        cypher = read_cypher(said)
        reasons = ("nothing was written",) if not cypher else check_cypher(cypher, labels, types)
        if not reasons:
            bounded = bound_rows(cypher)
            try:
                columns, rows = reader.run(bounded, TIMEOUT_MS)
            except GraphTimeout:
                reasons = (f"it runs longer than {TIMEOUT_MS / 1000:g} s: ask for less",)
            except GraphRejected as error:
                reasons = (clean(str(error))[:_MOST_REASON_CHARS],)
            else:
                return _tell_rows(bounded, columns, rows), bounded, _tell_more(rows)
        tries.add(cypher, reasons)
    return [], "", [_spell_gap(f"none of {MOST_TRIES} could be used, the last as: {tries.last[:_MOST_REASON_CHARS]}")]


def read_cypher(said: str) -> str:
    """Give the query in what a model said: that of the first code block, if there is one, without a last ';'."""
    block = _FENCE.search(said)
    return (block[1] if block else said).strip().removesuffix(";").rstrip()


def _request(question: str, labels: Sequence[str], types: Sequence[str], tries: _Tries) -> ChatRequest:
    user = fill("query-v1", labels=_list(labels), types=_list(types), question=clean(question)[:MAX_QUESTION_CHARS])
    if tries.told:
        user = f"{user}\n{fill('requery-v1', drafts='\n\n'.join(tries.told))}"
    return ChatRequest(fill("cypher-v1"), user, {}, MAX_OUTPUT_TOKENS)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(clean(name) for name in names[:_MOST_NAMES])
    return f"{shown}, and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else shown or "none"


def _tell_rows(cypher: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Evidence]:
    """Make evidence of rows, each once; those that hold nothing are left out."""
    texts = dict.fromkeys(
        "; ".join(f"{clean(name)}: {_spell(cell)}" for name, cell in zip(columns, row, strict=True))
        for row in rows[:MOST_ROWS]
        if any(cell is not None for cell in row)
    )
    paths = (SearchPath.CYPHER.value,)
    return [Evidence("row", fingerprint((cypher, text)), text, 0.0, paths=paths) for text in texts]


def _tell_more(rows: Sequence[object]) -> list[str]:
    if len(rows) < MOST_ROWS:
        return []
    return [f"the generated query gave {MOST_ROWS} rows, the most that are taken: there may be more"]


def _spell(cell: object) -> str:
    """Spell a cell on one line: 40.0 as 40, nodes and relations by what they say of themselves."""
    plain = _plain(cell)
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, default=str)
    text = clean(text)
    return text if len(text) <= MOST_CELL_CHARS else f"{text[: MOST_CELL_CHARS - 1]}…"


def _plain(value: object) -> object:
    match value:
        case float() if value.is_integer() and abs(value) < _LARGEST_WHOLE:
            return int(value)
        case Mapping():
            shown = {str(name): one for name, one in value.items()}
            return {name: _plain(one) for name, one in shown.items() if name not in _NO_NEWS and not is_kept_back(name)}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value


def _spell_gap(why: str) -> str:
    return f"no generated query was run: {clean(why)}"
