"""Cuts an answer into sentences, each with the markers that stand in or right after it."""

import re
from collections.abc import Iterator

from pipeline.cite.markers import MARKER

OPENERS = frozenset(
    """
    a about according across additionally after again against all along also although among an and another any are
    around as at based be because been before being below besides between both but by can consequently could
    currently despite did do does during each either eventually even every few finally first for from furthermore
    given had has have he hence her here him his how however i if in indeed initially instead into is it its just
    last later less let like many may maybe me meanwhile might more moreover most much must my neither next no none
    nor not notably note nothing now of off often on once one only or originally other otherwise our out over
    overall per perhaps recently regarding second see several shall she should similarly since so some specifically
    still such than that the their them then there thereafter therefore these they third this those though three
    through throughout thus to today together too two under unfortunately unless unlike until up upon us very was
    we were what when where whereas whether which while who whom whose why will with within without would yes yet
    you your
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that are capitalised for opening a sentence, not for being a name."""

_ABBREVIATIONS = frozenset(
    """
    adm al approx apt assn ave bros ca capt cf co col corp dept dr ed eds esp est etc fig gen gov hon inc jr lt ltd
    maj messrs mr mrs ms mt no nos op pp prof rep rev sen sgt sr st univ viz vol vs
    jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_LONGEST_ABBREVIATION = 12

_LIST_ITEM = re.compile(r"[ \t]*+(?:[-*+•]|[0-9]{1,9}+[.)])[ \t]++")
_QUOTE = re.compile(r"(?:[ \t]*+>)++[ \t]*+")
_HEADING = re.compile(r"[ \t]*+#{1,6}(?!\S)")
_RULE = re.compile(r"[-=*_\s]++")
_TABLE_RULE = re.compile(r"[|:\-\s]++")
_END = re.compile(
    rf"(?:(?<![.!?…])[.!?…]++[\"'”’»)*_]*+(?P<markers>(?:\s*+{MARKER.pattern.replace('(?P<body>', '(?:')})*+)(?=\s|\Z))"
    rf"|[。！？]++[”’」』）]*+(?:\s*+{MARKER.pattern.replace('(?P<body>', '(?:')})*+"
)
_NEXT_WORD = re.compile(r"\s*+[^\w\s]*+(?P<word>\w*+)")


def split_sentences(masked: str) -> Iterator[tuple[int, int]]:
    """Give the spans of an answer's sentences, in order; headings, table heads and code hold none.

    `masked` is the answer after `mask_code`. Bullets, quotes and table rows are sentences of their own
    where nothing cuts them further. Trailing markers belong to the sentence before them.
    """
    for start, end in _paragraphs(masked):
        yield from _cut(masked, start, end)


def _paragraphs(masked: str) -> Iterator[tuple[int, int]]:
    """Join the wrapped lines of a paragraph; table rows come one by one."""
    opened: tuple[int, int] | None = None
    quoted = False
    row: tuple[int, int] | None = None
    start = 0
    for line in masked.splitlines(keepends=True):
        end = start + len(line)
        begin, stop = start, end
        start = end
        is_row = line.lstrip().startswith("|")
        if row and not (is_row and _TABLE_RULE.fullmatch(line)):
            yield row
        row = None
        ends_paragraph = is_row or not line.strip("` \t\r\n") or _RULE.fullmatch(line) or _HEADING.match(line)
        item, quote = _LIST_ITEM.match(line), _QUOTE.match(line)
        if opened and (ends_paragraph or item or (quote and not quoted)):
            yield opened
            opened = None
        if is_row:
            row = None if _TABLE_RULE.fullmatch(line) else (begin, stop)
        elif not ends_paragraph:
            prefix = item or quote
            quoted = bool(quote) or (quoted and opened is not None)
            opened = (opened[0] if opened else begin + (prefix.end() if prefix else 0), stop)
    yield from (span for span in (opened, row) if span)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut one paragraph at its sentence ends; blank pieces are left out."""
    for match in _END.finditer(text, start, end):
        if not _ends_sentence(text, match, start, end):
            continue
        if not text[start : match.end()].isspace():
            yield start, match.end()
        start = match.end()
    if text[start:end].strip():
        yield start, end


def _ends_sentence(text: str, match: re.Match[str], start: int, end: int) -> bool:
    """Tell a full stop from the dot of an abbreviation or initial."""
    if match["markers"] or text[match.start()] != ".":
        return True
    following = _NEXT_WORD.match(text, match.end(), end)
    word = following["word"] if following else ""
    if word[:1].islower():
        return False
    first = match.start()
    while first > max(start, match.start() - _LONGEST_ABBREVIATION) and (
        text[first - 1].isalpha() or text[first - 1] == "."
    ):
        first -= 1
    before = text[first : match.start()]
    is_abbreviation = before.casefold() in _ABBREVIATIONS or "." in before or (len(before) == 1 and before.isupper())
    return not is_abbreviation or word.casefold() in OPENERS
