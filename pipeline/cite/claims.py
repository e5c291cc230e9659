"""What a sentence claims, literally: its figures and its names; and what evidence contains of them."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.cite.markers import MARKER
from pipeline.cite.sentences import OPENERS

_FIGURE = re.compile(
    r"\d{1,3}+(?:[,\u00a0\u2009\u202f'’]\d{3}+){1,8}+(?:\.\d++)?+(?!\d)|(?<![\w.])\.\d++|\d++(?:\.\d++)*+"
)
_GROUPING = re.compile(r"[,\u00a0\u2009\u202f'’]")
_WORD = re.compile(r"[^\W_]++")
_GAP_IN_NAME = re.compile(r"\s*+[-–&.'’]?+\s*+")
_LONGEST_GAP = 3
_LETTERS_OF_A_CHECKED_WORD = 3
_LINK_TARGET = re.compile(r"\]\([^()\s]*+\)")
_ADDRESS = re.compile(r"\bhttps?://\S++")


@dataclass(frozen=True, slots=True)
class Name:
    """A run of capitalised words as written, and those of its words that evidence must hold (folded)."""

    shown: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """What a sentence states.

    Attributes:
        figures: Its figures as written, to their normal form.
        names: Its names.
        perhaps_named: It opens with a lone capitalised word and names nothing else. Whether that is a
            name cannot be told: it asks for a citation, but is not looked for in the evidence.
    """

    figures: Mapping[str, str]
    names: tuple[Name, ...]
    perhaps_named: bool = False

    @property
    def need_citation(self) -> bool:
        """Whether the sentence must carry a number of its own."""
        return bool(self.figures or self.names or self.perhaps_named)


class EvidenceIndex:
    """Says which evidence holds a figure as a number, or a word as a whole word, ignoring case."""

    def __init__(self, evidence: Mapping[int, str]) -> None:
        self._holders: dict[str, set[int]] = defaultdict(set)
        for number, text in evidence.items():
            composed = unicodedata.normalize("NFC", text)
            for figure in _FIGURE.findall(composed):
                self._holders[_normal_figure(figure)].add(number)
            for word in _WORD.findall(composed):
                if not word.isdecimal():
                    self._holders[word.casefold()].add(number)

    def missing(self, claims: Claims, numbers: set[int]) -> tuple[str, ...]:
        """List the figures and names, as written, that none of the numbered evidence holds."""
        figures = [shown for shown, normal in claims.figures.items() if not self._held(normal, numbers)]
        names = [name.shown for name in claims.names if not all(self._held(word, numbers) for word in name.words)]
        return tuple(dict.fromkeys([*figures, *names]))

    def _held(self, term: str, numbers: set[int]) -> bool:
        return term in self._holders and not self._holders[term].isdisjoint(numbers)


def read_claims(text: str, *, opens_sentence: bool = True) -> Claims:
    """Read figures and names out of a sentence, or out of a part that does not open it.

    A lone capitalised word at the very start is a name only if the sentence names something else too;
    words such as "The" and "However" never are.
    """
    # Masked code, markers and addresses make no claims, and break a run of words.
    plain = _LINK_TARGET.sub("]|", MARKER.sub("|", text))
    plain = unicodedata.normalize("NFC", _ADDRESS.sub("|", plain))
    figures = {figure: _normal_figure(figure) for figure in _FIGURE.findall(plain)}
    words = list(_WORD.finditer(plain))
    runs = _runs(plain, words)
    if opens_sentence and len(runs) == 1 and runs[0] == words[:1]:
        # One word alone ("Yes.", "Sources:") says nothing.
        return Claims(figures, (), perhaps_named=len(words) > 1)
    return Claims(figures, tuple(_name(plain, run) for run in runs))


def _runs(plain: str, words: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Find runs of capitalised words, without the words that are capitalised for another reason."""
    runs: list[list[re.Match[str]]] = []
    previous: re.Match[str] | None = None
    for word in words:
        if not word[0][0].isupper():
            previous = None
            continue
        gap = plain[previous.end() : word.start()] if previous else None
        if runs and gap is not None and len(gap) <= _LONGEST_GAP and _GAP_IN_NAME.fullmatch(gap):
            runs[-1].append(word)
        else:
            runs.append([word])
        previous = word
    named = ([word for word in run if word[0].casefold() not in OPENERS] for run in runs)
    return [run for run in named if run]


def _name(plain: str, run: list[re.Match[str]]) -> Name:
    checked = (word[0].casefold() for word in run if _count_letters(word[0]) >= _LETTERS_OF_A_CHECKED_WORD)
    return Name(plain[run[0].start() : run[-1].end()], tuple(checked))


def _count_letters(word: str) -> int:
    return sum(char.isalpha() for char in word)


def _normal_figure(figure: str) -> str:
    """Write a number one way: no grouping, no needless zeros; `3.8.18` and the like stay literal."""
    digits = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in figure)
    whole, *rest = _GROUPING.sub("", digits).split(".")
    if len(rest) > 1:
        return digits
    whole = whole.lstrip("0") or "0"
    fraction = "".join(rest).rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole
