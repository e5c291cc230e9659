"""What one expression of a query may cost: the engine's time limit ends queries between rows, not inside one of them.

So within an expression nothing may multiply: a list is gone through once, not for each item of another one, and values
are not copied into lists of copies.
"""

from collections.abc import Iterator

from pipeline.retrieve.cypher_layout import Layout
from pipeline.retrieve.cypher_tokens import Kind

MOST_COPIES = 8
"""Most sums, and values beside others in lists and maps, of a query: each may double what one row holds."""
_QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")
_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
_OPERATORS = (
    *("AND", "OR", "XOR", "NOT", "IN", "STARTS", "ENDS", "WITH", "CONTAINS", "IS"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "WHERE"),
)
"""Words that may stand where a list is gone through, and so may not name anything."""
_CONSTANTS = ("TRUE", "FALSE", "NULL")
_NESTED = "go through a list once: no any(), all(), none(), single() or [x IN ...] inside another"
_FOREIGN = (
    "where a list is gone through, in any(), all(), none(), single() and [x IN ...], name nothing but its item, and "
    "properties of nodes that the item is compared with"
)


def check_work(layout: Layout) -> Iterator[str]:
    """Say what may keep the engine busy inside one expression."""
    places = range(len(layout.tokens))
    if sum(layout.at(place).marks("+") or _joins_values(layout, place) for place in places) > MOST_COPIES:
        yield f"use + at most {MOST_COPIES} times, values beside others in lists and maps among them"
    if any(layout.at(place).says("AS") and layout.at(place + 1).says(*_OPERATORS, *_CONSTANTS) for place in places):
        yield "give no value a name that is a word of the language"
    loops = [(place, _end(layout, place)) for place in places if _goes_through(layout, place)]
    if any(outer < inner < end for outer, end in loops for inner, _ in loops):
        yield _NESTED
    for place, end in loops:
        if layout.at(place + 2).says("IN"):
            yield from _check_body(layout, place, end)


def _goes_through(layout: Layout, place: int) -> bool:
    """Tell whether a bracket opens a quantifier, or a list made of another one or of a pattern."""
    before = layout.at(place - 1)
    if layout.at(place).marks("("):
        return before.says(*_QUANTIFIERS)
    if not layout.at(place).marks("[") or before.marks("-"):
        return False
    return layout.at(place + 2).says("IN") or _body(layout, place, _end(layout, place)) is not None


def _end(layout: Layout, place: int) -> int:
    """Find the bracket that closes another; what nothing closes lasts to the end."""
    inside = len(layout.open[place]) + 1
    ends = (at for at in range(place + 1, len(layout.tokens)) if len(layout.open[at]) < inside)
    return next(ends, len(layout.tokens))


def _body(layout: Layout, place: int, end: int) -> int | None:
    """Find where what is done with each item begins."""
    inside = len(layout.open[place]) + 1
    own = (at for at in range(place + 1, end) if len(layout.open[at]) == inside)
    return next((at for at in own if layout.at(at).marks("|") or layout.begins(at, "WHERE")), None)


def _check_body(layout: Layout, place: int, end: int) -> Iterator[str]:
    item = layout.at(place + 1).text
    for at in range(_body(layout, place, end) or end, end):
        token, before, after = layout.at(at), layout.at(at - 1), layout.at(at + 1)
        label = before.marks(":") and not layout.open[at].endswith("{")
        says_which = label or token.says(*_OPERATORS, *_CONSTANTS) or before.marks(".") or after.marks(":", "(")
        foreign = token.names and not says_which and token.text != item and not _is_compared(layout, at)
        if foreign or (token.marks("[") and before.marks("-")):
            yield _FOREIGN


def _is_compared(layout: Layout, at: int) -> bool:
    """Tell whether a property of a node stands alone on one side of a comparison."""
    if not layout.at(at + 1).marks(".") or not layout.at(at + 2).names or layout.at(at + 3).marks("[", "."):
        return False
    name = layout.at(at).text
    given = (layout.at(place) for place in range(1, len(layout.tokens)) if layout.at(place - 1).says("AS"))
    if any(token.text == name for token in given):
        # A map, perhaps, and its property a list.
        return False
    return layout.at(at - 1).marks(*_COMPARISONS) or layout.at(at + 3).marks(*_COMPARISONS)


def _joins_values(layout: Layout, place: int) -> bool:
    """Tell whether a comma stands in a list or map, beside anything but values written out."""
    if not layout.at(place).marks(",") or layout.open[place][-1:] not in {"[", "{"}:
        return False
    beside = (
        [layout.at(place - 1)] if layout.open[place].endswith("{") else [layout.at(place - 1), layout.at(place + 1)]
    )
    return not all(token.kind in {Kind.STRING, Kind.NUMBER} or token.says(*_CONSTANTS) for token in beside)
