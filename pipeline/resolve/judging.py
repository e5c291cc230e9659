"""Who judges sets of entities: rules, pair by pair, or a language model, a set at once."""

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pipeline.errors import ModelOutputInvalid, ModelTimeout, PromptTooLong
from pipeline.models import Usage
from pipeline.ontology import Ontology
from pipeline.ports import ArtifactStore, ChatModel, ChatRequest
from pipeline.resolve.answers import AnsweredGroup, read_answer
from pipeline.resolve.packing import Prompt, attributes_of, flatten, pack
from pipeline.resolve.rules import judge_grouped, judge_pair
from pipeline.resolve.set_answers import SetAnswer, SetAnswers
from pipeline.resolve.sets import pairs_of
from pipeline.resolve.values import Group, Judged, Named, Pair, SetVerdict, Verdict, pair_of

MOST_REPEATS = 2
"""How often a set without a usable answer is asked about again."""
LEAST_OUTPUT_TOKENS = 4_096
"""Limits of short answers are raised to it: a model may spend tokens on thought."""
_AGAIN = (
    "Your last answer about this set did not keep to the forms, or was cut off. Use the forms only, and close with END."
)
_REASON = "judged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one step of a judge brought: sets by their positions among those given."""

    answered: Mapping[int, SetVerdict]
    unanswered: tuple[int, ...] = ()
    """Asked about often enough, without a usable answer."""
    usage: Usage = field(default_factory=Usage)


class Judge(Protocol):
    """Tells which members of a set mean the same."""

    def judge(self, sets: Sequence[Sequence[Named]]) -> Iterator[Judgement]:
        """Judge sets of two members or more; yields what is known as soon as it is.

        At its end each set is answered or unanswered, once. Raises the errors of a model that concern more than
        these sets; what was yielded before holds, and the rest may be judged anew later.
        """


class PairwiseJudge:
    """Judges each pair of a set by itself."""

    def __init__(self, judge_pair: Callable[[Named, Named], Judged]) -> None:
        self._judge_pair = judge_pair

    def judge(self, sets: Sequence[Sequence[Named]]) -> Iterator[Judgement]:
        """Judge all sets in one step."""
        yield Judgement({position: self._judge_set(members) for position, members in enumerate(sets)})

    def _judge_set(self, members: Sequence[Named]) -> SetVerdict:
        by_id = {member.id: member for member in members}
        return SetVerdict(tuple(self._judge_pair(by_id[one], by_id[other]) for one, other in pairs_of(sorted(by_id))))


def judge_by_rules(grouped: Container[Pair]) -> PairwiseJudge:
    """Make the judge that asks nobody; `grouped` are the pairs of phase 1's groups, which look the same to it."""

    def judge(one: Named, other: Named) -> Judged:
        return (judge_grouped if pair_of(one.id, other.id) in grouped else judge_pair)(one, other)

    return PairwiseJudge(judge)


class LlmJudge:
    """Asks a language model, one call at a time; its answers must be clean.

    Args:
        model: Whom to ask.
        ontology: Whose attributes are shown.
        max_output_tokens: Most tokens of one answer, as far as that is enough.
        store: Keeps usable answers: what was answered before is not asked again, whatever became of it then.
    """

    def __init__(
        self, model: ChatModel, ontology: Ontology, max_output_tokens: int, store: ArtifactStore | None = None
    ) -> None:
        self._model = model
        self._ontology = ontology
        self._max_output_tokens = max(max_output_tokens, LEAST_OUTPUT_TOKENS)
        self._answers = SetAnswers(store, model.model)

    def judge(self, sets: Sequence[Sequence[Named]]) -> Iterator[Judgement]:
        """Ask about as many sets at once as a prompt holds; one without a usable answer again, by itself.

        Raises `ArtifactsUnavailable`, and the errors of `ChatModel` but for a call that took too long or brought no
        answer: that is asked again.
        """
        if known := self._recall(sets):
            yield Judgement(known)
        left = [position for position in range(len(sets)) if position not in known]
        again: list[int] = []
        for packed in pack([sets[position] for position in left], self._ontology):
            prompt = replace(packed, positions=tuple(left[place] for place in packed.positions))
            judgement = self._ask(prompt, sets)
            again += (position for position in prompt.positions if position not in judgement.answered)
            yield judgement
        for position in again:
            yield from self._repeat(position, sets)

    def _recall(self, sets: Sequence[Sequence[Named]]) -> dict[int, SetVerdict]:
        found = ((position, self._answers.recall(self._question(members))) for position, members in enumerate(sets))
        return {position: self._tell(sets[position], said) for position, said in found if said is not None}

    def _question(self, members: Sequence[Named], note: str = "") -> Prompt:
        (alone,) = pack([members], self._ontology, note)
        return alone

    def _repeat(self, position: int, sets: Sequence[Sequence[Named]]) -> Iterator[Judgement]:
        prompt = replace(self._question(sets[position], _AGAIN), positions=(position,))
        for left in reversed(range(MOST_REPEATS)):
            judgement = self._ask(prompt, sets)
            if judgement.answered or left:
                yield judgement
            else:
                yield replace(judgement, unanswered=(position,))
            if judgement.answered:
                return

    def _ask(self, prompt: Prompt, sets: Sequence[Sequence[Named]]) -> Judgement:
        asked = [sets[position] for position in prompt.positions]
        try:
            answer = self._model.complete(ChatRequest(prompt.system, prompt.user, {}, self._max_output_tokens))
        except (ModelTimeout, ModelOutputInvalid, PromptTooLong):
            return Judgement({})
        said = {} if answer.finish == "refused" else read_answer(answer.text, [len(members) for members in asked])
        verdicts: dict[int, SetVerdict] = {}
        for place, groups in said.items():
            usable = SetAnswer(groups, answer.model)
            self._answers.keep(self._question(asked[place]), usable)
            verdicts[prompt.positions[place]] = self._tell(asked[place], usable)
        return Judgement(verdicts, (), answer.usage)

    def _tell(self, members: Sequence[Named], said: SetAnswer) -> SetVerdict:
        """Say by ids what was said by numbers: what no group holds together is different."""
        told = [self._tell_group([members[number - 1] for number in one.members], one, members) for one in said.groups]
        same = {pair for group in told for pair in pairs_of(group.ids)}
        judged = (
            Judged(pair, Verdict.SAME if pair in same else Verdict.DIFFERENT, _REASON, said.model)
            for pair in pairs_of(sorted(member.id for member in members))
        )
        return SetVerdict(tuple(judged), tuple(sorted(told)))

    def _tell_group(self, group: Sequence[Named], said: AnsweredGroup, members: Sequence[Named]) -> Group:
        names = {flatten(name): name for member in reversed(group) for name in (*member.aliases, member.name)}
        held = {
            (name, member.id)
            for member in group
            for name in attributes_of(member, self._ontology)
            if member.properties.get(name) is not None
        }
        kept = ((name, members[number - 1].id) for name, number in said.keep.items())
        return Group(
            tuple(sorted(member.id for member in group)),
            names.get(_unquote(said.name), ""),
            tuple(sorted(one for one in kept if one in held)),
        )


def _unquote(text: str) -> str:
    try:
        name = json.loads(text)
    except ValueError:
        return flatten(text)
    return flatten(name if isinstance(name, str) else text)
