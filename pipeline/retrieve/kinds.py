"""What kind of answer a question wants, by its first words; and whether it wants all there are."""

import re

from pipeline.retrieve.question import split_words

YES_NO, WHO, WHERE, WHEN, NUMBER = "yes or no", "who", "where", "when", "number"
_AUXILIARIES = frozenset(
    "is are was were did does do has had have can could will would should".split()  # noqa: SIM905
)
_ASKS_FOR = {"who": WHO, "where": WHERE, "when": WHEN}
_AMOUNTS = frozenset({"many", "much"})
_ALL = re.compile(
    r"\b(?:every|each|enumerate|list(?: of)? all|(?:complete|full) list|name (?:all|every)|all(?: of)? the)\b"
)


def hint_of(question: str) -> str:
    """Tell whether a question wants yes or no, a who, a where, a when, or a number; empty where its words do not."""
    first, *rest = split_words(question) or [""]
    if first in _AUXILIARIES:
        return YES_NO
    if first == "how" and rest and rest[0] in _AMOUNTS:
        return NUMBER
    return _ASKS_FOR.get(first, "")


def asks_for_all(question: str) -> bool:
    """Tell whether a question wants all there are of something, as "list all" does."""
    return _ALL.search(" ".join(split_words(question))) is not None
