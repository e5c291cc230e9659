"""Reading one passage with a language model: a second try for an unusable answer, two halves for a long one."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.config import LlmConfig
from pipeline.errors import ModelOutputInvalid, PassageUnread, PromptTooLong, UnreadCode
from pipeline.llm.answers import Said, read_answer
from pipeline.llm.cut import cut_mentions, find_cut, join
from pipeline.llm.notes import Note, Notes
from pipeline.llm.questions import Questions, Step
from pipeline.llm.telling import tell_extraction, tell_found
from pipeline.models import Extraction, Mention, Usage
from pipeline.ports import ChatAnswer, ChatRequest

MOST_CUTS = 3
"""How often a passage is cut in two, so into 8 parts at most."""
TRIES = 2
"""Calls for one answer: what is unusable is asked for once more."""
_SHORTEST = 48
"""Characters of a passage that is cut; what is too much for less than that has another reason."""
_SHOWN_CHARS = 80


class _TooMuch(Exception):
    """A prompt or an answer is longer than it may be."""

    def __init__(self, code: UnreadCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class PassageReader:
    """Reads one passage, and adds up what that costs.

    Where a passage takes several calls, `notes` keep what was answered until it is read: it may take several turns.
    """

    def __init__(
        self,
        complete: Callable[[ChatRequest], ChatAnswer],
        questions: Questions,
        config: LlmConfig,
        notes: Notes,
    ) -> None:
        self._complete = complete
        self._questions = questions
        self._config = config
        self._notes = notes
        self._usage = Usage()

    def read(self, text: str, found: Sequence[Mention]) -> Extraction:
        """Read a passage, in which `found` were found before.

        Raises `PassageUnread`, and the errors of a model that concern more than this passage.
        """
        extraction = self._read(text, found, 0)
        return replace(extraction, usage=self._usage)

    def _read(self, text: str, found: Sequence[Mention], cuts: int) -> Extraction:
        if not text.strip():
            return Extraction()
        try:
            return self._read_whole(text, found, part=cuts > 0)
        except _TooMuch as error:
            if cuts == MOST_CUTS or len(text) < _SHORTEST:
                parts = f"for its parts of {len(text):,} characters, too" if cuts else "and it cannot be cut"
                raise PassageUnread(error.code, f"{error.message}, {parts}.") from error
        cut = find_cut(text, found)
        before, after = cut_mentions(found, cut)
        return join(self._read(text[:cut], before, cuts + 1), self._read(text[cut:], after, cuts + 1), cut)

    def _read_whole(self, text: str, found: Sequence[Mention], *, part: bool) -> Extraction:
        if found:
            return tell_extraction(text, self._ask(Step.RELATE, text, found, more=part), found)
        if self._config.steps == 1:
            return tell_extraction(text, self._ask(Step.EXTRACT, text, more=part))
        said = self._ask(Step.FIND, text, more=True)
        first = tell_found(text, said, self._config.min_confidence)
        if not first:
            return Extraction(dropped=dict(said.dropped))
        second = tell_extraction(text, self._ask(Step.RELATE, text, first, more=part), first)
        return replace(second, dropped=dict(said.dropped + Counter(second.dropped)))

    def _ask(self, step: Step, text: str, found: Sequence[Mention] = (), *, more: bool) -> Said:
        """Ask for one answer; `more` are to come before the passage is read."""
        request = self._questions.about(step, text, found)
        if (known := self._recall(request)) is not None:
            return known
        failure = PassageUnread(UnreadCode.EMPTY, "")
        for _ in range(TRIES):
            try:
                answer = self._complete(request)
            except PromptTooLong as error:
                raise self._too_much(request, UnreadCode.TOO_LONG, str(error).rstrip("."), Usage()) from error
            except ModelOutputInvalid as error:
                failure = PassageUnread(UnreadCode.MALFORMED, str(error))
                continue
            self._usage += answer.usage
            if answer.finish == "refused":
                raise PassageUnread(UnreadCode.REFUSED, f"{answer.model} refuses to read this passage.")
            said = self._understand(answer.text, answer.finish)
            if said is not None:
                if more:
                    self._notes.keep(request, Note(answer.text, answer.finish, answer.usage))
                return said
            if answer.finish == "length":
                message = f"{answer.model} was cut off at the {request.max_output_tokens:,} tokens of an answer"
                raise self._too_much(request, UnreadCode.TRUNCATED, message, answer.usage)
            failure = _unusable(answer)
        raise failure

    def _recall(self, request: ChatRequest) -> Said | None:
        """Give what was answered in an earlier turn; raises what it came to there."""
        note = self._notes.recall(request)
        if note is None:
            return None
        self._usage += note.usage
        if note.too_much:
            raise _TooMuch(note.too_much, note.text)
        return self._understand(note.text, note.finish)

    def _understand(self, text: str, finish: str) -> Said | None:
        return read_answer(text, repair=finish == "stop", other=self._questions.other_relation)

    def _too_much(self, request: ChatRequest, code: UnreadCode, message: str, usage: Usage) -> _TooMuch:
        self._notes.keep(request, Note(message, usage=usage, too_much=code))
        return _TooMuch(code, message)


def _unusable(answer: ChatAnswer) -> PassageUnread:
    if not answer.text.strip():
        return PassageUnread(UnreadCode.EMPTY, f"{answer.model} answered nothing, {TRIES} times.")
    return PassageUnread(
        UnreadCode.MALFORMED,
        f"{answer.model} gave no JSON of the asked shape, {TRIES} times. Its last answer begins "
        f"{answer.text.strip()[:_SHOWN_CHARS]!r}.",
    )
