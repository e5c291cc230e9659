"""Answers a question with a language model: from evidence, with its numbers, or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.cite.markers import strip_invalid
from pipeline.errors import ModelOutputInvalid, PromptTooLong, TransientError
from pipeline.llm.answering import ABSTENTION, Draft, ask_again, ask_answer, is_enough, read_draft
from pipeline.llm.rewriting import Turn, read_history, rewrite
from pipeline.models import Usage
from pipeline.models.query import read_query
from pipeline.ports import ChatModel, ChatRequest
from pipeline.retrieve import read_question
from scheduler.query import Questions
from scheduler.sessions import check_session_id

CONTEXT_CHARS = 8_000
"""Of the evidence that a model is shown."""


class Abstained(StrEnum):
    """Why there is no answer."""

    NO_EVIDENCE = "no_evidence"
    """Nothing that was found is close to the question; no model was asked for an answer."""
    INSUFFICIENT = "insufficient"
    """The model says that the evidence does not answer the question."""
    UNGROUNDED = "ungrounded"
    """What the model said cites none of the evidence that it was shown, also when asked again."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers questions on graphs with a language model; takes and gives plain JSON values."""

    questions: Questions
    """Finds the evidence, and checks what the model makes of it."""
    model: ChatModel

    def answer(
        self,
        graph: str,
        session: str,
        question: str,
        history: list[dict[str, str]] | None = None,
        query: Mapping[str, Any] | None = None,
        return_context: bool = False,  # noqa: FBT001, FBT002 - an argument of a message, by name
    ) -> dict[str, Any]:
        """Find evidence and have it answered.

        Gives `answer`, `abstained` (see `Abstained`; '': it is answered), `check` (of `answer`), `unsupported` (of
        the check: statements that name what their evidence does not hold; they do not make an answer an abstention,
        and whoever shows it must show them too), `incomplete`, `retrieval_query` (what was looked for), `model`,
        `usage`, `text` (the answer, what is unsupported in it, and its sources) and, if asked for, `context` (the
        evidence that the model was shown, perhaps in part).

        Args:
            graph: The graph's name.
            session: Numbers the evidence.
            question: As the user wrote it.
            history: What was said before: a list of `role` and `content`.
            query: Options of the retrieval, as for `Questions.retrieve`, without the question.
            return_context: Whether the reply brings the evidence.

        Raises:
            QueryInvalid: The question, the history or an option is out of bounds.
            GraphMissing, GraphUnavailable, EmbedderMismatch, LedgerUnavailable: As `Questions.retrieve` does.
            ModelBusy, ModelRefused, BudgetSpent, PromptTooLong: The model gives no answer; the message says why.
        """
        turns = read_history(history or ())
        # What is wrong with the question shows before anything is paid for.
        check_session_id(session)
        read_query({**(query or {}), "question": question})
        wanted = read_question(question).text
        asked, spent = rewrite(question, turns, self.model)
        found = self.questions.retrieve(graph, session, {**(query or {}), "question": asked}, CONTEXT_CHARS)
        shown = frozenset(found["told"])
        context = [item for item in found["evidence"] if item["n"] in shown]
        said = _Conversation(self.model, wanted, turns, found["text"], [spent])
        answer, abstained = ABSTENTION, Abstained.NO_EVIDENCE.value
        if is_enough(context):
            answer, abstained = self._draft(said, session, shown)
        check = self.questions.check(session, answer)
        reply = {
            "answer": answer,
            "abstained": abstained,
            "check": check,
            "unsupported": check["unsupported"],
            "incomplete": found["incomplete"],
            "retrieval_query": read_question(asked).text,
            "model": said.answered_by or self.model.model,
            "usage": said.spell_usage(),
            "text": _tell(answer, check),
        }
        return {**reply, "context": context} if return_context else reply

    def _draft(self, said: "_Conversation", session: str, shown: frozenset[int]) -> tuple[str, str]:
        """Give an answer, and '' or why there is none; one that is at fault is asked for again, once."""
        first = said.ask()
        if first.lacks:
            return ABSTENTION, Abstained.INSUFFICIENT
        check = self._check(session, first, shown)
        if check["grounded"] and not check["unsupported"]:
            return check["answer"], ""
        try:
            second = said.ask_again(first, check)
        except (TransientError, PromptTooLong):
            if not check["cited"]:
                raise
            return check["answer"], ""
        if second.lacks and not check["cited"]:
            return ABSTENTION, Abstained.INSUFFICIENT
        best = min((self._check(session, second, shown), check), key=_count_faults)
        return (best["answer"], "") if best["cited"] else (ABSTENTION, Abstained.UNGROUNDED)

    def _check(self, session: str, draft: Draft, shown: frozenset[int]) -> dict[str, Any]:
        """Check a draft; evidence of the session that the model was not shown counts as none."""
        marked = strip_invalid(draft.text, shown)
        check = self.questions.check(session, marked.answer)
        return {
            **check,
            "invalid": sorted({*marked.invalid, *check["invalid"]}),
            "grounded": check["grounded"] and not marked.invalid,
        }


@dataclass(slots=True)
class _Conversation:
    """One question to a model about some evidence, and what it costs."""

    model: ChatModel
    question: str
    turns: Sequence[Turn]
    context: str
    spent: list[Usage] = field(default_factory=list)
    answered_by: str = ""

    def ask(self) -> Draft:
        return self._complete(ask_answer(self.question, self.turns, self.context))

    def ask_again(self, draft: Draft, check: Mapping[str, Any]) -> Draft:
        return self._complete(ask_again(self.question, self.turns, self.context, draft, check))

    def spell_usage(self) -> dict[str, int]:
        return {name: sum(getattr(one, name) for one in self.spent) for name in ("calls", "tokens_in", "tokens_out")}

    def _complete(self, request: ChatRequest) -> Draft:
        try:
            answer = self.model.complete(request)
        except ModelOutputInvalid:
            return Draft("")
        self.spent.append(answer.usage)
        self.answered_by = answer.model
        return read_draft(answer)


def _count_faults(check: Mapping[str, Any]) -> tuple[bool, int, int]:
    """Order drafts: first those that cite evidence, then by what is wrong with them."""
    return not check["cited"], len(check["invalid"]) + len(check["unsupported"]), len(check["uncited"])


def _tell(answer: str, check: Mapping[str, Any]) -> str:
    """Spell an answer with what is unsupported in it and the places of what it cites, a line each."""
    warnings = [
        f"Not in its evidence: {', '.join(one['missing'])}. It says: {one['sentence']}" for one in check["unsupported"]
    ]
    return "\n".join([answer, *warnings, *map(_spell_source, check["sources"])])


def _spell_source(source: Mapping[str, Any]) -> str:
    page = f", page {source['page']}" if source["page"] is not None else ""
    chars = f", chars {source['start']}-{source['end']}" if source["start"] is not None else ""
    return f"[{source['n']}] {source['source'] or 'a query of the graph'}{page}{chars}"
