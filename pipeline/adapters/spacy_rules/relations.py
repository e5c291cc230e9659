"""Reads relations between names off the dependency parse."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.spacy_rules.kinds import PLACES, Kind
from pipeline.adapters.spacy_rules.nouns import SUBJECTS
from pipeline.adapters.spacy_rules.references import References

_RELATIVE = frozenset(("who", "which", "that", "whom"))
_PLACE_PREPOSITIONS = frozenset(("in", "of", "from", "at", "near", "by", "on", "for"))
_LONGEST_CHAIN = 8


@dataclass(frozen=True, slots=True)
class Link:
    """A relation between two names, by their numbers, and the sentence that states it."""

    source: int
    type: str
    target: int
    sentence: Any


def read_links(doc: Any, references: References) -> Iterator[Link]:
    """Read all relations of a text, in the order of the words that state them."""
    reader = _Reader(references)
    for sentence in doc.sents:
        for token in sentence:
            for source, rel_type, target in reader.at(token):
                if source != target and references.names[source].key != references.names[target].key:
                    yield Link(source, rel_type, target, sentence)


type _Triple = tuple[int, str, int]


class _Reader:
    """The rules; each looks at the parse around one token."""

    def __init__(self, references: References) -> None:
        self._references = references

    def at(self, token: Any) -> Iterator[_Triple]:
        """Read what a token states."""
        if token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass"}:
            if not any(child.dep_ == "neg" for child in token.children):
                yield from self._verb(token)
        elif token.pos_ == "NOUN":
            yield from self._noun(token)
        if self._references.owner(token) is not None:
            yield from self._name(token)

    def _verb(self, verb: Any) -> Iterator[_Triple]:
        """Read "X founded Y", "Y was founded by X in Z", "X, born in Y", "X worked for Y"."""
        passive = _is_passive(verb)
        subjects = self._subjects(verb, passive=passive)
        gap = self._gap(verb)
        particle = "".join(f"_{child.lower_}" for child in verb.children if child.dep_ == "prt")
        word = (verb.lemma_ + particle).upper()
        if verb.lemma_ == "be":
            for subject in subjects:
                yield from ((subject, "IS", target) for target in self._objects(verb, {"attr"}))
        else:
            patients = self._objects(verb, {"dobj", "dative", "attr", "oprd"}) + gap
            agents = [name for by in _prepositions(verb, {"agent"}) for name in self._ends(by)]
            if passive:
                yield from ((agent, word, subject) for agent in agents for subject in subjects)
                yield from (
                    (subject, f"{verb.text}_AS".upper(), patient) for subject in subjects for patient in patients
                )
            else:
                yield from ((subject, word, patient) for subject in subjects for patient in patients)
        place = verb.text + particle if passive else "is" if verb.lemma_ == "be" else word
        place += "".join(f"_{thing.lemma_}" for thing in verb.children if self._is_part_of_verb(thing))
        for prep in _prepositions(verb, {"prep"}):
            yield from (
                (subject, f"{place}_{prep.text}".upper(), end) for subject in subjects for end in self._ends(prep)
            )
        for thing in verb.children:
            # "Took part in X", "won a medal at X": what is done says what joins the two.
            if thing.dep_ == "dobj" and thing.pos_ == "NOUN" and not passive and self._references.named(thing) is None:
                for prep in _prepositions(thing, {"prep"}):
                    rel_type = f"{word}_{thing.lemma_}_{prep.text}".upper()
                    yield from ((subject, rel_type, end) for subject in subjects for end in self._ends(prep))

    def _is_part_of_verb(self, thing: Any) -> bool:
        """Tell whether an object belongs to the verb's meaning: "took part", "won gold"."""
        bare = thing.dep_ == "dobj" and thing.tag_ == "NN" and not any(True for _ in thing.children)
        return bare and self._references.named(thing) is None

    def _noun(self, noun: Any) -> Iterator[_Triple]:
        """Read "X is the CEO of Y", "X, a band from Y", "X's wife Y"."""
        named = self._references.called(noun)
        if named is None:
            return
        word = noun.lemma_.upper()
        for prep in _prepositions(noun, {"prep"}):
            yield from ((named, f"{word}_{prep.text}".upper(), end) for end in self._ends(prep))
        for child in noun.children:
            if child.dep_ == "poss":
                yield from ((named, f"{word}_OF", owner) for owner in self._joined(child))
            elif child.dep_ == "amod" and (people := self._references.owner(child)) is not None:
                # "X is a German singer".
                yield named, "IS", people

    def _name(self, token: Any) -> Iterator[_Triple]:
        """Read "X, Y" of places, "X in Y", and "the Y singer X"."""
        names = self._references.names
        this = self._references.named(token)
        own = self._references.owner(token)
        if this is None or own is None:
            return
        for child in token.children:
            other = self._references.owner(child)
            if child.dep_ == "appos" and other is not None and other != own:
                after_comma = names[other].start == names[own].end + 1 and token.doc[names[own].end].text == ","
                if after_comma and names[own].kind in PLACES and names[other].kind in PLACES:
                    yield this, "LOCATED_IN", other
            elif child.dep_ == "prep" and child.lower_ in _PLACE_PREPOSITIONS and child.i >= names[own].end:
                yield from ((this, child.text.upper(), end) for end in self._ends(child))
            elif child.dep_ == "poss" and other is not None and other != own:
                yield this, "OF", other
        yield from self._role(own, this, token)

    def _role(self, own: int, this: int, token: Any) -> Iterator[_Triple]:
        """Read "Y singer X": a noun right before a person's name, and a name right before the noun."""
        name = self._references.names[own]
        if name.kind is not Kind.PERSON or token.i != name.start or name.start < 2:  # noqa: PLR2004 - noun and name
            return
        noun, before = token.doc[name.start - 1], token.doc[name.start - 2]
        other = self._references.owner(before)
        if noun.pos_ == "NOUN" and other is not None and self._references.names[other].kind in {Kind.ORG, *PLACES}:
            yield this, f"{noun.lemma_.upper()}_OF", other

    def _subjects(self, verb: Any, *, passive: bool) -> list[int]:
        """Find who does it (or to whom it is done, in the passive), also where the parse says it elsewhere."""
        for _ in range(_LONGEST_CHAIN):
            own = [child for child in verb.children if child.dep_ in SUBJECTS]
            if own:
                if verb.dep_ == "relcl" and own[0].lower_ in _RELATIVE:
                    return self._joined(verb.head)
                return [name for subject in own for name in self._joined(subject)]
            if verb.dep_ == "acl" or (verb.dep_ == "relcl" and passive):
                return self._joined(verb.head)
            if verb.dep_ in {"conj", "xcomp", "advcl"} and verb.head.pos_ in {"VERB", "AUX"}:
                verb = verb.head
                continue
            break
        return []

    def _gap(self, verb: Any) -> list[int]:
        """Find the object that a relative clause leaves out: "the film that X directed"."""
        if verb.dep_ != "relcl" or _is_passive(verb):
            return []
        subjects = [child for child in verb.children if child.dep_ in SUBJECTS]
        objects = [child for child in verb.children if child.dep_ == "dobj" and child.lower_ not in _RELATIVE]
        if not subjects or subjects[0].lower_ in _RELATIVE or objects:
            return []
        return self._joined(verb.head)

    def _objects(self, verb: Any, roles: set[str]) -> list[int]:
        found = [child for child in verb.children if child.dep_ in roles]
        return [name for child in found if self._is_named(child) for name in self._joined(child)]

    def _is_named(self, token: Any) -> bool:
        """Tell whether a token is a name or stands for one by itself, not as what another is called."""
        return token.dep_ != "attr" or self._references.owner(token) is not None

    def _ends(self, prep: Any) -> list[int]:
        return [name for child in prep.children if child.dep_ == "pobj" for name in self._joined(child)]

    def _joined(self, token: Any) -> list[int]:
        """Give the names of a token and of what "and" joins to it."""
        found = [self._references.named(token)]
        found += [name for child in token.children if child.dep_ == "conj" for name in self._joined(child)]
        return list(dict.fromkeys(name for name in found if name is not None))


def _is_passive(verb: Any) -> bool:
    if verb.lower_ == "born":
        return True
    if verb.tag_ != "VBN":
        return False
    auxiliaries = {child.dep_ for child in verb.children}
    if "auxpass" in auxiliaries or "nsubjpass" in auxiliaries or verb.dep_ == "acl":
        return True
    joined = verb.dep_ == "conj" and "aux" not in auxiliaries and "nsubj" not in auxiliaries
    return joined and verb.head.pos_ == "VERB" and _is_passive(verb.head)


def _prepositions(token: Any, roles: set[str]) -> list[Any]:
    # "Including" and "according to" are parsed as prepositions, but join nothing.
    return [child for child in token.children if child.dep_ in roles and child.pos_ == "ADP"]
