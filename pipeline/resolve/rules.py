"""The judge without a model: what the names and attributes of two entities say by rules of the language alone."""

from collections import Counter
from dataclasses import replace
from itertools import product

from pipeline.resolve.acronyms import acronym_of
from pipeline.resolve.attributes import find_contradiction
from pipeline.resolve.likeness import MOST_WORDS, Aligned, Kind, align
from pipeline.resolve.reading import Reading, is_person, read_name
from pipeline.resolve.values import Judged, Named, Verdict, pair_of
from pipeline.resolve.wordlists import IGNORED, IGNORED_IN_PEOPLE, OPPOSITES, PARTICLES

RULES = "rules"
"""The judge's name."""
_MOST_ALIASES = 10
_ENOUGH = 4
"""Evidence for one person: two whole words, or one and two initials."""
_WHOLE, _PART = 2, 1
_WORDS_OF_A_FULL_NAME = 3
_WHOLE_KINDS = frozenset((Kind.EQUAL, Kind.VARIANT))
_LETTERS_BESIDE_A_SLIP = 4
_LETTERS_OF_A_LONE_WORD = 7
_LETTERS_OF_ONE_OF_TWO = 6
_LETTERS_OF_A_JOINED_NAME = 6

_Opinion = tuple[Verdict, str]
_UNDECIDED: _Opinion = (Verdict.UNDECIDED, "names")


def judge_pair(one: Named, other: Named) -> Judged:
    """Judge two entities by rules, the same in either order.

    Different: labels, keys of tables, facts that never change, numbers, generations, titles and words of opposite
    sense. Same: names that are spellings of one. All else is undecided, among it an acronym and what it may stand for:
    whether there is only one such name is not seen in a pair.
    """
    verdict, reason = _judge_entities(*sorted((one, other), key=lambda named: named.id))
    return Judged(pair_of(one.id, other.id), verdict, reason, RULES)


def judge_grouped(one: Named, other: Named) -> Judged:
    """Judge two entities that equal names or an acronym's only expansion put together.

    They are the same, unless something tells them apart.
    """
    judged = judge_pair(one, other)
    return judged if judged.verdict is Verdict.DIFFERENT else replace(judged, verdict=Verdict.SAME)


def _judge_entities(one: Named, other: Named) -> _Opinion:
    shared = {one.label, *one.merged_labels} & {other.label, *other.merged_labels}
    if not shared:
        return Verdict.DIFFERENT, "labels"
    if one.keyed and other.keyed:
        return Verdict.DIFFERENT, "keys"
    contradicted = find_contradiction(one.properties, other.properties)
    if contradicted:
        return Verdict.DIFFERENT, contradicted
    person = any(map(is_person, shared))
    first = judge_names(one.name, other.name, person=person)
    if first[0] is not Verdict.UNDECIDED:
        return first
    ours, theirs = ((named.name, *named.aliases[:_MOST_ALIASES]) for named in (one, other))
    for name, against in product(ours, theirs):
        if judge_names(name, against, person=person)[0] is Verdict.SAME:
            return Verdict.SAME, "alias"
    return first


def judge_names(one: str, other: str, *, person: bool) -> _Opinion:
    """Judge two names alone; the names of people have rules of their own."""
    ours, theirs = read_name(one, person=person), read_name(other, person=person)
    if not ours.key or not theirs.key:
        return _UNDECIDED
    apart = _tell_apart(ours, theirs)
    if apart:
        return Verdict.DIFFERENT, apart
    if ours.key == theirs.key:
        return Verdict.SAME, "name"
    doubt = "acronym" if acronym_of(one, other) or acronym_of(other, one) else _doubt(ours, theirs)
    return (Verdict.UNDECIDED, doubt) if doubt else _compare(ours, theirs, person=person)


def _doubt(ours: Reading, theirs: Reading) -> str:
    """Name what forbids to take two names for one, however alike they are."""
    if ours.numbers != theirs.numbers:
        return "numbers"
    if ours.address and theirs.address and not ours.address & theirs.address:
        return "address"
    return "length" if max(len(ours.words), len(theirs.words)) > MOST_WORDS else ""


def _tell_apart(ours: Reading, theirs: Reading) -> str:
    """Name what tells two names apart for certain."""
    if ours.generation != theirs.generation:
        return "generation"
    if ours.initials and theirs.initials and ours.initials != theirs.initials:
        return "initials"
    if ours.gender and theirs.gender and ours.gender != theirs.gender:
        return "title"
    if ours.numbers and theirs.numbers and ours.numbers != theirs.numbers:
        return "numbers"
    mine, other = set(ours.words) - set(theirs.words), set(theirs.words) - set(ours.words)
    if any(frozenset(pair) in OPPOSITES for pair in product(mine, other)):
        return "opposites"
    return ""


def _compare(ours: Reading, theirs: Reading, *, person: bool) -> _Opinion:
    if ours.words == theirs.words:
        return Verdict.SAME, "address" if ours.address or theirs.address else "words"
    joined = ["".join(reading.words) for reading in (ours, theirs)]
    if joined[0] == joined[1] and len(joined[0]) >= _LETTERS_OF_A_JOINED_NAME:
        return Verdict.SAME, "spaces"
    found = _judge_alignment(align(ours.words, theirs.words, person=person), person=person)
    if found[0] is not Verdict.UNDECIDED:
        return found
    if _is_reordered(ours.words, theirs.words, person=person):
        return Verdict.SAME, "word order"
    if person and len(theirs.words) > 1:
        turned = replace(theirs, words=(theirs.words[-1], *theirs.words[:-1]))
        back = replace(theirs, words=(*theirs.words[1:], theirs.words[0]))
        for again in (turned, back):
            opinion = _judge_alignment(align(ours.words, again.words, person=person), person=person)
            if opinion[0] is Verdict.SAME:
                return opinion
    return found


def _is_reordered(ones: tuple[str, ...], others: tuple[str, ...], *, person: bool) -> bool:
    """Say whether the words are the same in another order that means nothing.

    The surname of a person may stand first. Particles bind words: the bank of a country is not the country of a bank.
    """
    if Counter(ones) != Counter(others) or PARTICLES.intersection(ones):
        return False
    return not person or others in {(*ones[1:], ones[0]), (ones[-1], *ones[:-1])}


def _judge_alignment(aligned: list[Aligned], *, person: bool) -> _Opinion:
    ignored = IGNORED | IGNORED_IN_PEOPLE if person else IGNORED
    lacking = [one for one in aligned if not (one.one and one.other) and {one.one, one.other} & ignored]
    aligned = [one for one in aligned if one not in lacking]
    if len(aligned) < 1 + bool(lacking):  # Des Moines is no Moines, and Al Gore no Gore
        return _UNDECIDED
    kinds = Counter(one.kind for one in aligned)
    if person and _has_another_middle_name(aligned):
        return Verdict.DIFFERENT, "middle name"
    if kinds[Kind.LEFT] or kinds[Kind.RIGHT]:
        return (Verdict.SAME, "middle name") if person and _lacks_a_middle_name(aligned) else _UNDECIDED
    reason = next((kind.value for kind in (Kind.INITIAL, Kind.SHORT, Kind.TYPO) if kinds[kind]), "spelling")
    if kinds[Kind.TYPO] and (kinds[Kind.INITIAL] or kinds[Kind.SHORT] or not _has_support(aligned)):
        return _UNDECIDED
    if (kinds[Kind.INITIAL] or kinds[Kind.SHORT]) and _weigh(aligned) < _ENOUGH:
        return Verdict.UNDECIDED, reason
    return Verdict.SAME, reason


def _has_support(aligned: list[Aligned]) -> bool:
    """Say whether slips stand beside a word that is right, or in words too long to be others."""
    slips = [min(len(one.one), len(one.other)) for one in aligned if one.kind is Kind.TYPO]
    right = sum(len(one.one) for one in aligned if one.kind in _WHOLE_KINDS)
    if len(slips) > 1:
        return len(slips) == 2 and min(slips) >= _LETTERS_OF_ONE_OF_TWO  # noqa: PLR2004 - more slips are other words
    return right >= _LETTERS_BESIDE_A_SLIP or min(slips) >= _LETTERS_OF_A_LONE_WORD


def _weigh(aligned: list[Aligned]) -> int:
    """Count what speaks for one person: whole words, and initials or short names half as much."""
    counted = [one for one in aligned if not {one.one, one.other} <= PARTICLES]
    # Two equal initials are no more than one initial each.
    return sum(_PART if one.kind is Kind.INITIAL or len(one.one) == 1 else _WHOLE for one in counted)


def _lacks_a_middle_name(aligned: list[Aligned]) -> bool:
    """Say whether one name only lacks words after the first, and enough is left for one person.

    Either it is nothing but first and last word, or three whole words are the same: George W. Bush is not
    George H. W. Bush. The last word may be the one it lacks (a second surname), if three are the same.
    """
    first, *middle, last = aligned if len(aligned) > 1 else (*aligned, *aligned)
    alone = [one.kind for one in aligned if not (one.one and one.other)]
    alike = [one for one in aligned if one.kind in _WHOLE_KINDS and len(one.one) > 1 and one.one not in PARTICLES]
    if first not in alike or len(set(alone)) > 1 or len(alone) > len(alike) or len(alike) + len(alone) < len(aligned):
        return False
    return len(alike) >= _WORDS_OF_A_FULL_NAME or (last in alike and len(middle) == len(alone))


def _has_another_middle_name(aligned: list[Aligned]) -> bool:
    """Say whether two people bear the same first and last name with other names between them.

    John A. Smith is not John B. Smith, and George W. Bush not George H. W. Bush. Two middle names that begin with the
    same letter may be one.
    """
    first, *middle, last = aligned if len(aligned) > 1 else (*aligned, *aligned)
    if {first.kind, last.kind} - _WHOLE_KINDS:
        return False
    ones, others = [one.one for one in middle if one.one], [one.other for one in middle if one.other]
    if ones and others and max(map(len, ones + others)) == 1:
        return ones != others
    left = {one.one[0] for one in middle if one.kind is Kind.LEFT}
    right = {one.other[0] for one in middle if one.kind is Kind.RIGHT}
    return bool(left and right) and not left & right
