"""Cuts a sentence that says the evidence lacks something: what else it claims is no part of that."""

import re

from pipeline.cite.lacking import says_evidence_lacks
from pipeline.cite.markers import MARKER
from pipeline.cite.sentences import OPENERS

_TURN = re.compile(r"[;—]|\b(?:but|however|whereas|although|though|while|yet)\b", re.IGNORECASE)
_PAUSE = re.compile(r",(?!\d)|:(?![\d/])|–|\s-+\s|[()]|\b(?=(?:and|because|since|so)\b)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASKS = r"(?:who|whom|whose|what|when|where|why|how|whether|which|if)"
_GOES_ON = re.compile(rf"\W*(?:(?:n?or)\b|and\s+{_ASKS}\b)", re.IGNORECASE)
_ASKS_TOO = re.compile(rf"\W*{_ASKS}\b", re.IGNORECASE)
_ASKED = re.compile(rf"\b{_ASKS}\b", re.IGNORECASE)
_PRONOUNS = frozenset({"he", "she", "it", "they"})
_AUXILIARIES = frozenset(
    """
    is are was were be been has have had does did can could will would may might must shall should
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_VERBS = frozenset(
    """
    became began bought built came fell found gave gets got grew held hired kept knew led left lost made met owns paid
    ran rose runs said saw sells sent set sold spent stole taught told took went won wrote
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Past forms that do not end with "ed", and others that are frequent."""
_LEAST_LETTERS = 5
"""Of a verb that ends with "ed": "red" and "need" are none."""


def claiming_parts(sentence: str) -> list[str] | None:
    """Give the parts of a sentence that claim something, if another part of it says that the evidence lacks something.

    None where none does, and the sentence is to be read as a whole. A part that only goes on with what is lacking, as
    the second name of a list does, is left out with it.
    """
    parts: list[str] = []
    lacks = False
    for clause in _TURN.split(MARKER.sub("|", sentence)):
        if not says_evidence_lacks(clause):
            parts.append(clause)
            continue
        lacks = True
        parts += _claiming_pieces(clause)
    return parts if lacks else None


def _claiming_pieces(clause: str) -> list[str]:
    kept: list[str] = []
    asked = False
    for piece in _PAUSE.split(clause):
        if says_evidence_lacks(piece):
            asked = bool(_ASKED.search(piece))
        elif not (_GOES_ON.match(piece) or (asked and _ASKS_TOO.match(piece))) and _claims(piece):
            kept.append(piece)
    return kept


def _claims(piece: str) -> bool:
    """Tell whether a piece has a name or figure, and seems to state something of it: by a verb, or a unit."""
    words = _WORD.findall(piece)
    told = [word[0].isdigit() or (word[0].isupper() and word.casefold() not in OPENERS) for word in words]
    if not any(told):
        return False
    subjects = [is_told or word in _PRONOUNS for word, is_told in zip(words, told, strict=True)]
    behind = {word for word, subject in zip(words[1:], subjects, strict=False) if subject and word[0].islower()}
    return bool(behind - OPENERS) or any(map(_is_verb, words))


def _is_verb(word: str) -> bool:
    return (
        word in _AUXILIARIES
        or word in _VERBS
        or (word.endswith("ed") and word.islower() and len(word) >= _LEAST_LETTERS)
    )
