"""What a question asks for, literally: its words, and the runs of words that may name something."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.errors import QueryInvalid
from pipeline.extract import clean
from pipeline.resolve import canonical_key

MAX_QUESTION_CHARS = 4_000
"""What follows in a longer one is not read: it is a document then, and its vector and words would say nothing."""
_MAX_WORDS = 50
"""Distinct words that are searched for; the first ones."""
_LONGEST_NAME = 8
"""Words of a name that is looked for in the question."""

_STOP_WORDS = frozenset(
    # As one text, because a list would be eighty lines long.
    """
    a an and any are as at be been being but by can could did do does for from had has have he her his how i if in
    into is it its me my no not of on or our shall she should so such than that the their them then there these
    they this those to us was we were what when where which who whom whose why will with would you your
    """.split()  # noqa: SIM905
)
"""Words without a meaning of their own; `before`, `between` and `most` have one."""

_EDGE = re.compile(r"^[^\w#]+|[^\w#+]+$")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of the question that may be a name: places of its first and last word, and its key."""

    first: int
    last: int
    key: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question as searches take it.

    Attributes:
        text: Its text without control characters, on one line.
        words: Its distinct words in lower case, without stop words unless it has no others.
        names: Those of the words that are capitalised.
        phrases: Its runs of words that may be names.
        cut: Whether it was too long, and only its beginning was read.
    """

    text: str
    words: tuple[str, ...]
    names: frozenset[str]
    phrases: tuple[Phrase, ...]
    cut: bool = False


def read_question(raw: str) -> Question:
    """Read a question; its marks, quotes and operators are taken for punctuation, whatever they mean to an index.

    Of one that is longer than `MAX_QUESTION_CHARS` only so much is read, from its first word on. Raises
    `QueryInvalid` where it holds no word.
    """
    text = unicodedata.normalize("NFC", clean(raw))
    cut = len(text) > MAX_QUESTION_CHARS
    if cut:
        text = text[_first_word(text) :][:MAX_QUESTION_CHARS]
    words = split_words(text)
    if not words:
        raise QueryInvalid("the question is empty: it holds no letter or digit")
    content = tuple(content_words(words)[:_MAX_WORDS])
    capitalised = (token for token in text.split()[1:] if any(char.isupper() for char in token))
    names = frozenset(word for token in capitalised for word in split_words(token))
    return Question(text, content, names & frozenset(content), tuple(_phrases(text)), cut)


def split_words(text: str) -> list[str]:
    """Split text into its words in lower case: runs of letters, digits, marks on letters and underscores."""
    return [word for word in _word_pattern().findall(text.lower()) if word.strip("_")]


def content_words(words: Collection[str]) -> list[str]:
    """Give the distinct words in order, without stop words unless there are no others."""
    return [word for word in dict.fromkeys(words) if word not in _STOP_WORDS] or list(dict.fromkeys(words))


def longest_phrases(phrases: Sequence[Phrase], keys: Collection[str]) -> list[Phrase]:
    """Keep the phrases whose keys are names, but not what lies inside a longer one."""
    named = [phrase for phrase in phrases if phrase.key in keys]
    return [
        phrase
        for phrase in named
        if not any(
            other.first <= phrase.first
            and phrase.last <= other.last
            and (other.first, other.last) != (phrase.first, phrase.last)
            for other in named
        )
    ]


def _first_word(text: str) -> int:
    found = re.search(r"[^\W_]", text)
    return found.start() if found else 0


@cache
def _word_pattern() -> re.Pattern[str]:
    # To `re` a vowel sign ends a word. Marks above this would make the pattern ten times slower.
    marks = "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")
    return re.compile(rf"\w+(?:[{marks}]+\w*)*")


def _phrases(text: str) -> list[Phrase]:
    """Find runs that may be names. A lone word must be capitalised, in a question that capitalises at all."""
    tokens = text.split()
    capitalises = any(char.isupper() for char in text[1:])
    found = []
    for first in range(len(tokens)):
        for last in range(first, min(first + _LONGEST_NAME, len(tokens))):
            phrase = _POSSESSIVE.sub("", _EDGE.sub("", " ".join(tokens[first : last + 1])))
            words = split_words(phrase)
            if all(word in _STOP_WORDS for word in words):
                continue
            if first == last and capitalises and not any(char.isupper() or char.isdigit() for char in phrase):
                continue
            found.append(Phrase(first, last, canonical_key(phrase)))
    return found
