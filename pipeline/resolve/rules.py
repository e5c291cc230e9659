"""The judge without a model: what the names and attributes of two entities say by rules of the language alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from pipeline.resolve.acronyms import acronym_of
from pipeline.resolve.attributes import find_contradiction
from pipeline.resolve.bearers import Bearer, find_bearer
from pipeline.resolve.given_names import GIVEN_NAMES
from pipeline.resolve.likeness import MOST_WORDS, Aligned, Kind, align, compare_words, stands_alone
from pipeline.resolve.reading import MOST_LETTERS, Reading, read_name
from pipeline.resolve.slips import is_slip_of_given_name, is_slip_of_surname
from pipeline.resolve.values import Judged, Named, Verdict, pair_of
from pipeline.resolve.wordlists import IGNORED, IGNORED_IN_PEOPLE, OPPOSITES, PARTICLES

RULES = "rules"
"""The judge's name."""
_MOST_ALIASES = 30
_ENOUGH = 4
"""Evidence for one person: two whole words, or one and two initials."""
_WHOLE, _PART = 2, 1
_WORDS_OF_A_FULL_NAME = 3
_WHOLE_KINDS = frozenset((Kind.EQUAL, Kind.VARIANT))
_SHORTER = frozenset((Kind.INITIAL, Kind.SHORT))
_ALONE = frozenset((Kind.LEFT, Kind.RIGHT))
_IGNORED_OF_PEOPLE = IGNORED | IGNORED_IN_PEOPLE
_HAVE_OPPOSITES = frozenset[str]().union(*OPPOSITES)
_LETTERS_BESIDE_A_SLIP = 4
_LETTERS_OF_A_LONE_WORD = 7
_LETTERS_OF_A_JOINED_NAME = 6
_LETTERS_OF_A_COUNTRY = 2
_LETTERS_OF_A_WHOLE_NAME = 4
_PARTS = frozenset("branch campus department dept division factory office plant region section site store unit".split())  # noqa: SIM905 - a list of words is read as words

_Opinion = tuple[Verdict, str]
_CONTRADICTED = "aliases"
_UNDECIDED: _Opinion = (Verdict.UNDECIDED, "names")


def judge_pair(one: Named, other: Named) -> Judged:
    """Judge two entities by rules, the same in either order.

    Different: labels, keys of tables, facts that never change, numbers, generations, titles and words of opposite
    sense. Same: names that are spellings of one. All else is undecided, among it an acronym and what it may stand for:
    whether there is only one such name is not seen in a pair.
    """
    verdict, reason = _judge_entities(one, other) if one.id <= other.id else _judge_entities(other, one)
    return Judged(pair_of(one.id, other.id), verdict, reason, RULES)


def judge_grouped(one: Named, other: Named) -> Judged:
    """Judge two entities that equal names or an acronym's only expansion put together.

    They are the same, unless something tells them apart, or what else they are called speaks against it.
    """
    judged = judge_pair(one, other)
    apart = judged.verdict is Verdict.DIFFERENT or judged.reason == _CONTRADICTED
    return judged if apart else replace(judged, verdict=Verdict.SAME)


def _judge_entities(one: Named, other: Named) -> _Opinion:
    shared = {one.label, *one.merged_labels} & {other.label, *other.merged_labels}
    if not shared:
        return Verdict.DIFFERENT, "labels"
    if one.keyed and other.keyed:
        return Verdict.DIFFERENT, "keys"
    contradicted = find_contradiction(one.properties, other.properties)
    if contradicted:
        return Verdict.DIFFERENT, contradicted
    bearer = find_bearer(shared, (one.name, other.name))
    first = judge_names(one.name, other.name, bearer)
    if first[0] is Verdict.DIFFERENT:
        return first
    return _judge_aliases(one, other, bearer, first) if one.aliases or other.aliases else first


def _judge_aliases(one: Named, other: Named, bearer: Bearer, first: _Opinion) -> _Opinion:
    """Judge all names of two entities, where the first ones do not tell them apart: so are they said to be."""
    ours, theirs = ((named.name, *named.aliases[:_MOST_ALIASES]) for named in (one, other))
    heard = [(judge_names(name, against, bearer), name, against) for name, against in product(ours, theirs)]
    if not any(opinion[0] is Verdict.SAME for opinion, _, _ in heard):
        return first
    # A name may have been taken for one of several people's: what one of them is not called speaks against it.
    if any(_contradict(opinion, name, against, bearer) for opinion, name, against in heard):
        return Verdict.UNDECIDED, _CONTRADICTED
    return first if first[0] is Verdict.SAME else (Verdict.SAME, "alias")


def _contradict(opinion: _Opinion, name: str, against: str, bearer: Bearer) -> bool:
    """Say whether two names cannot be of one entity, and are not merely unlike (Mark Twain, Samuel Clemens)."""
    ours, theirs = read_name(name, bearer), read_name(against, bearer)
    if opinion[0] is Verdict.DIFFERENT:
        return bool({word for word in ours.words if len(word) > 1} & set(theirs.words))
    if opinion[0] is Verdict.SAME or bearer is not Bearer.PERSON:
        return False
    if min(len(ours.words), len(theirs.words)) < 2:  # noqa: PLR2004 - given name, surname
        return False
    given = ours.words[0], theirs.words[0]
    return ours.words[-1] == theirs.words[-1] and compare_words(*given, bearer) in {None, Kind.TYPO}


def judge_names(one: str, other: str, bearer: Bearer) -> _Opinion:
    """Judge two names alone, by the rules for those who bear them."""
    ours, theirs = read_name(one, bearer), read_name(other, bearer)
    if not ours.key or not theirs.key:
        return _UNDECIDED
    apart = _tell_apart(ours, theirs)
    if apart:
        return Verdict.DIFFERENT, apart
    if ours.key == theirs.key:
        return Verdict.SAME, "name"
    if max(len(one), len(other)) > MOST_LETTERS:
        return Verdict.UNDECIDED, "length"
    # The plural of a proper name is another's (Great Lakes); common nouns are written small.
    if bearer is Bearer.THING and not (one.islower() and other.islower()):
        bearer = Bearer.UNCLEAR
    doubt = "acronym" if acronym_of(one, other) or acronym_of(other, one) else _doubt(ours, theirs)
    return (Verdict.UNDECIDED, doubt) if doubt else _compare(ours, theirs, bearer)


def _doubt(ours: Reading, theirs: Reading) -> str:
    """Name what forbids to take two names for one, however alike they are."""
    if ours.numbers != theirs.numbers:
        return "numbers"
    if ours.address != theirs.address and not _fit(ours.address, theirs.address):
        return "address"
    return "length" if max(len(ours.words), len(theirs.words)) > MOST_WORDS else ""


def _fit(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Say whether one address only says more than the other, and not of which part the name is (Plant 1)."""
    countries = [{word for word in address if len(word) == _LETTERS_OF_A_COUNTRY} for address in (ours, theirs)]
    if not (countries[0] <= countries[1] or countries[1] <= countries[0]):
        return False
    mine, other = ours - countries[0], theirs - countries[1]
    return (mine <= other or other <= mine) and _PARTS.isdisjoint(mine ^ other)


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
    mine, other = _HAVE_OPPOSITES.intersection(ours.words), _HAVE_OPPOSITES.intersection(theirs.words)
    if any(frozenset(pair) in OPPOSITES for pair in product(mine - other, other - mine)):
        return "opposites"
    return ""


def _compare(ours: Reading, theirs: Reading, bearer: Bearer) -> _Opinion:
    if ours.words == theirs.words:
        return Verdict.SAME, "address" if ours.address or theirs.address else "words"
    joined = ["".join(reading.words) for reading in (ours, theirs)]
    if joined[0] == joined[1] and len(joined[0]) >= _LETTERS_OF_A_JOINED_NAME:
        return Verdict.SAME, "spaces"
    if _are_unlike(ours.words, theirs.words, bearer):
        return _UNDECIDED
    found = _judge_alignment(align(ours.words, theirs.words, bearer), bearer)
    if found[0] is not Verdict.UNDECIDED or bearer is not Bearer.PERSON or not _may_be_turned(ours, theirs):
        return found
    opinions = [_judge_turned(*pair) for pair in ((ours.words, theirs.words), (theirs.words, ours.words))]
    return next((opinion for opinion in opinions if opinion[0] is Verdict.SAME), found)


def _are_unlike(ones: Sequence[str], others: Sequence[str], bearer: Bearer) -> bool:
    """Say for certain that two names are left open, however their words are laid side by side: some stand alone.

    It spares most pairs of near names the alignment. One such word is enough, but of people each name must have one,
    as either may lack middle names, and one must be first or last, as other names in between tell two people apart.
    """
    ignored = _ignored_of(bearer)
    left = (word for word in ones if word not in ignored and stands_alone(word, others, bearer))
    right = (word for word in others if word not in ignored and stands_alone(word, ones, bearer))
    if bearer is not Bearer.PERSON:
        return any(left) or any(right)
    ours, theirs = set(left), set(right)
    return bool(ours and theirs) and not {ones[0], ones[-1], others[0], others[-1]}.isdisjoint(ours | theirs)


def _ignored_of(bearer: Bearer) -> frozenset[str]:
    return _IGNORED_OF_PEOPLE if bearer is Bearer.PERSON else IGNORED


def _judge_turned(ones: tuple[str, ...], others: tuple[str, ...]) -> _Opinion:
    """Judge the names of people where the surname of the second may stand first, or its given name last."""
    for words in ((others[-1], *others[:-1]), (*others[1:], others[0])):
        if ones == words:
            return Verdict.SAME, "word order"
        aligned = align(ones, words, Bearer.PERSON)
        if {one.kind for one in aligned} <= _WHOLE_KINDS | {Kind.LEFT, Kind.RIGHT}:
            opinion = _judge_alignment(aligned, Bearer.PERSON)
            if opinion[0] is Verdict.SAME:
                return opinion
    return _UNDECIDED


def _may_be_turned(ours: Reading, theirs: Reading) -> bool:
    """Say whether a surname may stand first in one of two names: not if all words may be given names, or are short.

    Henry James is not James Henry, and Wei Wang perhaps not Wang Wei. Particles bind words.
    """
    words = {*ours.words, *theirs.words}
    whole = all(len(reading.words) > 1 and PARTICLES.isdisjoint(reading.words) for reading in (ours, theirs))
    ends = {word for reading in (ours, theirs) for word in (reading.words[0], reading.words[-1])} if whole else set()
    return whole and min(map(len, ends)) >= _LETTERS_OF_A_WHOLE_NAME and not words <= GIVEN_NAMES


def _judge_alignment(aligned: list[Aligned], bearer: Bearer) -> _Opinion:
    person = bearer is Bearer.PERSON
    ignored = _ignored_of(bearer)
    counted = [one for one in aligned if one.kind not in _ALONE or (one.one or one.other) not in ignored]
    if len(counted) < 1 + (len(counted) < len(aligned)):  # Des Moines is no Moines, and Al Gore no Gore
        return _UNDECIDED
    kinds = [one.kind for one in counted]
    if person and _has_another_middle_name(counted):
        return Verdict.DIFFERENT, "middle name"
    if not _ALONE.isdisjoint(kinds):
        return (Verdict.SAME, "middle name") if person and _lacks_a_middle_name(counted) else _UNDECIDED
    reason = next((kind.value for kind in (Kind.INITIAL, Kind.SHORT, Kind.TYPO) if kind in kinds), "spelling")
    if Kind.TYPO in kinds and not (kinds.count(Kind.TYPO) == 1 and _has_support(counted, person=person)):
        return _UNDECIDED
    # A surname has no initial, and no short name: Jim Hall, Halliday.
    if kinds[-1] in _SHORTER or (not _SHORTER.isdisjoint(kinds) and _weigh(counted) < _ENOUGH):
        return Verdict.UNDECIDED, reason
    return Verdict.SAME, reason


def _has_support(aligned: list[Aligned], *, person: bool) -> bool:
    """Say whether a slip stands beside a word that is right, or in a word too long to be another.

    Of a person all the rest must be right, and a given name may be misspelt in fewer ways than a surname.
    """
    place, found = next((place, one) for place, one in enumerate(aligned) if one.kind is Kind.TYPO)
    if person and any(one.kind not in _WHOLE_KINDS for one in aligned if one is not found):
        return False
    is_slip = is_slip_of_surname if place == len(aligned) - 1 else is_slip_of_given_name
    if person and not is_slip(found.one, found.other):
        return False
    slip = min(len(found.one), len(found.other))
    right = sum(len(one.one) for one in aligned if one.kind in _WHOLE_KINDS)
    return right >= _LETTERS_BESIDE_A_SLIP or (slip >= _LETTERS_OF_A_LONE_WORD and not person)


def _weigh(aligned: list[Aligned]) -> int:
    """Count what speaks for one person: whole words, and initials or short names half as much."""
    counted = [one for one in aligned if not {one.one, one.other} <= PARTICLES]
    # Two equal initials are no more than one initial each.
    return sum(_PART if one.kind is Kind.INITIAL or len(one.one) == 1 else _WHOLE for one in counted)


def _lacks_a_middle_name(aligned: list[Aligned]) -> bool:
    """Say whether one name only lacks words after the first, and enough is left for one person.

    Either it is nothing but first and last word, or three whole words are the same: George W. Bush is not
    George H. W. Bush. Syllables are no middle names: Kim Il is not Kim Jong Il. The last word may be the one it lacks
    (a second surname), if three are the same.
    """
    first, *middle, last = aligned if len(aligned) > 1 else (*aligned, *aligned)
    alone = [one.kind for one in aligned if not (one.one and one.other)]
    alike = [one for one in aligned if one.kind in _WHOLE_KINDS and len(one.one) > 1 and one.one not in PARTICLES]
    if first not in alike or len(set(alone)) > 1 or len(alone) > len(alike) or len(alike) + len(alone) < len(aligned):
        return False
    short = min(len(first.one), len(last.one)) < _LETTERS_OF_A_WHOLE_NAME and max(map(len, _words_of(middle))) > 1
    return len(alike) >= _WORDS_OF_A_FULL_NAME or (last in alike and len(middle) == len(alone) and not short)


def _words_of(aligned: list[Aligned]) -> list[str]:
    return [word for one in aligned for word in (one.one, one.other)] or [""]


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
