"""What was said before a question: read, cut, and used to make the question one that stands by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.cite.markers import strip_invalid
from pipeline.errors import ModelOutputInvalid, ModelTimeout, PromptTooLong, QueryInvalid
from pipeline.extract import clean
from pipeline.llm.templates import MAX_OUTPUT_TOKENS, fill, read_text
from pipeline.models import Usage
from pipeline.ports import ChatModel, ChatRequest
from pipeline.retrieve import MAX_QUESTION_CHARS

MOST_TURNS = 20
MOST_HISTORY_CHARS = 8_000
_MOST_REWRITTEN_CHARS = 1_000
_MOST_TURN_CHARS = 2_000
_ROLES = ("user", "assistant")
_NO_CALL = Usage()


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said."""

    role: str
    """`user` or `assistant`."""
    content: str


def read_history(history: Sequence[Any]) -> tuple[Turn, ...]:
    """Read what was said before, oldest first; the last turns that fit are kept, long ones cut.

    Numbers of evidence are left out: what they stand for is not shown again. Raises `QueryInvalid`.
    """
    turns: list[Turn] = []
    for place, turn in enumerate(history):
        if not isinstance(turn, Mapping) or turn.keys() != {"role", "content"}:
            raise QueryInvalid(f"history[{place}] must have the keys role and content, and no others")
        if turn["role"] not in _ROLES:
            raise QueryInvalid(f"history[{place}].role must be user or assistant, not {str(turn['role'])[:40]!r}")
        if not isinstance(turn["content"], str):
            raise QueryInvalid(f"history[{place}].content must be text")
        said = clean(strip_invalid(turn["content"][: 2 * _MOST_TURN_CHARS], set()).answer)[:_MOST_TURN_CHARS]
        turns.append(Turn(turn["role"], said))
    kept: list[Turn] = []
    room = MOST_HISTORY_CHARS
    for one in reversed([turn for turn in turns if turn.content][-MOST_TURNS:]):
        room -= len(one.content)
        if room < 0:
            break
        kept.append(one)
    return tuple(reversed(kept))


def tell_asked(question: str, turns: Sequence[Turn]) -> str:
    """Spell a question for a prompt, behind what was said before it."""
    asked = fill("question-v1", question=question[:MAX_QUESTION_CHARS])
    if not turns:
        return asked
    said = "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
    return f"{fill('history-v1', history=said)}\n{asked}"


def rewrite(question: str, turns: Sequence[Turn], model: ChatModel) -> tuple[str, Usage]:
    """Make a question stand by itself, by one call, and none where nothing was said before; tells what it cost.

    What cannot be taken for a question, as one cut off or refused, leaves it as it is.

    Raises `ModelBusy`, `ModelRefused`, `BudgetSpent`: then no answer can be had either.
    """
    if not turns:
        return question, _NO_CALL
    request = ChatRequest(fill("rewrite-v1"), tell_asked(question, turns), {}, MAX_OUTPUT_TOKENS)
    try:
        answer = model.complete(request)
    except (ModelTimeout, ModelOutputInvalid, PromptTooLong):
        return question, _NO_CALL
    asked = clean(read_text(answer.text)).strip("\"'` ")
    usable = answer.finish == "stop" and any(map(str.isalnum, asked)) and len(asked) <= _MOST_REWRITTEN_CHARS
    return (asked if usable else question), answer.usage
