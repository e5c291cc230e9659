"""What may stand in the patterns of a query: known labels and types, bounded lengths, plain properties."""

from collections.abc import Collection, Iterator

from pipeline.retrieve.cypher_layout import Layout
from pipeline.retrieve.cypher_tokens import Kind, Token

LONGEST_PATH = 5
"""Most hops that the variable lengths of a query may come to in all."""
MOST_STARTS = 2
"""Most patterns of a query that share no node with what stands before them: each of them multiplies the rows."""
OPEN_LABELS = frozenset({"Chunk", "Document", "__Entity__"})
OPEN_TYPES = frozenset({"RELATES", "MENTIONED_IN", "PART_OF", "NEXT_CHUNK"})
_TYPELESS = "write a relationship with its type: -[:RELATES]->"


class Patterns:
    """Checks the patterns of one query; `labels` are those of entities, `types` the values of `rel_type`."""

    def __init__(self, layout: Layout, labels: Collection[str], types: Collection[str]) -> None:
        self._layout, self._labels, self._types = layout, labels, types
        self._hops = 0

    def reasons(self) -> Iterator[str]:
        """Say what is wrong, as often as it is."""
        for place, token in enumerate(self._layout.tokens):
            if token.kind is Kind.MARK:
                yield from self._mark(place, token)
            elif token.kind is Kind.STRING:
                yield from self._value(place, token)
        if self._hops > LONGEST_PATH:
            yield f"give variable lengths an upper bound, as in *1..3, of {LONGEST_PATH} hops in all at most"
        if self._count_starts() > MOST_STARTS:
            yield f"at most {MOST_STARTS} patterns may share no node with those before them: join them"

    def _at(self, place: int) -> Token:
        return self._layout.at(place)

    def _mark(self, place: int, token: Token) -> Iterator[str]:
        before, after = self._at(place - 1), self._at(place + 1)
        inside = self._layout.open[place][-1:]
        match token.text:
            case "(" if self._layout.in_pattern(place):
                yield from self._node(place)
            case "[" if before.marks("-"):
                yield from self._relationship(place)
            case "-" if after.marks("-"):
                yield _TYPELESS
            case "{":
                yield from self._properties(place, opens=True)
            case "," if inside == "{":
                yield from self._properties(place, opens=False)
            case ":" if inside != "{" and not self._is_of_type(place):
                yield from self._label(after)
            case "|" if not self._is_of_type(place):
                yield from self._projection(place)

    def _node(self, place: int) -> Iterator[str]:
        """Demand a label of a node by itself: others are held by the type of their relationship."""
        name = self._at(place + 1)
        if name.marks("("):
            yield "leave out brackets around a pattern"
        if self._at(place + 1 + name.names).marks(":") or self._layout.is_joined(place):
            return
        if not (name.names and self._layout.is_bound(name.text, place)):
            yield f"give the node ({name.text if name.names else ''}) a label"

    def _count_starts(self) -> int:
        starts, start, joined = 0, 0, True
        for place in filter(self._layout.in_pattern, range(len(self._layout.tokens))):
            if not self._at(place - 1).marks("-", ">"):
                starts += not joined
                start, joined = place, False
            name = self._at(place + 1)
            joined |= name.names and self._layout.is_bound(name.text, start)
        return starts + (not joined)

    def _relationship(self, place: int) -> Iterator[str]:
        """Check `[name:A|B*1..3`."""
        at = place + 1 + self._at(place + 1).names
        if not self._at(at).marks(":"):
            yield _TYPELESS
        while self._at(at).marks(":", "|"):
            at += 1 + (self._at(at).marks("|") and self._at(at + 1).marks(":"))
            yield from self._type(self._at(at))
            at += 1
        if self._at(at).marks("*"):
            at, most = self._length(at + 1)
            self._hops += most
        if not self._at(at).marks("]", "{"):
            yield "write a relationship as -[name:TYPE*1..3 {property: value}]->"

    def _length(self, at: int) -> tuple[int, int]:
        """Give where a length ends, and how long it may be: too long where nothing bounds it."""
        most = LONGEST_PATH + 1
        if self._at(at).kind is Kind.NUMBER:
            most, at = _whole(self._at(at)), at + 1
        if self._at(at).marks(".."):
            most, at = LONGEST_PATH + 1, at + 1
            if self._at(at).kind is Kind.NUMBER:
                most, at = _whole(self._at(at)), at + 1
        return at, most

    def _type(self, token: Token) -> Iterator[str]:
        if token.names and token.text in OPEN_TYPES:
            return
        if token.names and token.text in self._types:
            yield f"{token.text} is a value: write [r:RELATES {{rel_type: '{token.text}'}}]"
        else:
            yield f"there is no relationship type {token.text!r}: {', '.join(sorted(OPEN_TYPES))}"

    def _label(self, token: Token) -> Iterator[str]:
        known = token.text in OPEN_LABELS or (token.text in self._labels and not token.text.startswith("__"))
        if not token.names or not known:
            yield f"there is no label {token.text!r}"

    def _value(self, place: int, token: Token) -> Iterator[str]:
        """Check a value of `rel_type`, where nothing but an empty answer would tell that there is none such."""
        named = self._at(place - 2).names and self._at(place - 2).text == "rel_type"
        if named and self._at(place - 1).marks("=", ":") and token.text not in self._types:
            yield f"no relation has the rel_type {token.text!r}"

    def _properties(self, place: int, *, opens: bool) -> Iterator[str]:
        """Check that a brace holds names with values: no query of its own, no choice of properties."""
        empty = opens and self._at(place + 1).marks("}")
        if not empty and not (self._at(place + 1).names and self._at(place + 2).marks(":")):
            yield "braces hold properties with values only: {name: 'x'}"

    def _is_of_type(self, place: int) -> bool:
        """Tell whether a colon or bar stands among the types of a relationship."""
        at = place - 1
        while self._at(at).names or self._at(at).marks(":", "|"):
            at -= 1
        return self._at(at).marks("[") and self._at(at - 1).marks("-")

    def _projection(self, place: int) -> Iterator[str]:
        """Allow of list comprehensions those that take one thing of each item: others make long lists of short."""
        name, mark, item, end = (self._at(place + step) for step in range(1, 5))
        of_each = name.names and mark.marks(".") and item.names and end.marks("]")
        called = mark.marks("(") and item.names and end.marks(")") and self._at(place + 5).marks("]")
        if not of_each and not called:
            yield "of each item of a list take one property, as in [x IN nodes(p) | x.name]"


def _whole(number: Token) -> int:
    return int(number.text) if number.text.isdecimal() else LONGEST_PATH + 1
