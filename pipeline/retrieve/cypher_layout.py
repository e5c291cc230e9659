"""Where the tokens of a query stand: in which clause, in which brackets, and which names mean nodes there."""

from collections.abc import Sequence

from pipeline.retrieve.cypher_tokens import Kind, Token

CLAUSES = ("MATCH", "OPTIONAL", "WHERE", "WITH", "UNWIND", "RETURN", "ORDER", "SKIP", "LIMIT")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_NOTHING = Token(Kind.MARK, "", spaced=False)


class Layout:
    """The tokens of one query with their places.

    Attributes:
        tokens: All of them.
        open: Of each token the brackets around it, outermost first; a bracket's own is left out.
        clause: Of each the word that begins its clause, MATCH for OPTIONAL MATCH.
        astray: Closing brackets that close nothing, and opening ones that nothing closes.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.open: list[str] = []
        self.clause: list[str] = []
        self.astray: list[str] = []
        stack, clause = "", ""
        for place, token in enumerate(tokens):
            if token.marks(*_PAIRS):
                if stack[-1:] == _PAIRS[token.text]:
                    stack = stack[:-1]
                else:
                    self.astray.append(token.text)
            self.open.append(stack)
            if not stack and self.begins(place, *CLAUSES):
                clause = token.text.upper()
            self.clause.append(clause)
            if token.marks("(", "[", "{"):
                stack += token.text
        self.astray.extend(stack)

    def at(self, place: int) -> Token:
        """Give a token, or one that says nothing beside either end."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _NOTHING

    def begins(self, place: int, *words: str) -> bool:
        """Tell whether a token is one of some keywords and no property, key or label, nor WITH of STARTS WITH."""
        before = self.at(place - 1)
        key = self.at(place + 1).marks(":")
        return self.at(place).says(*words) and not (key or before.marks(".", ":") or before.says("STARTS", "ENDS"))

    def is_key(self, place: int) -> bool:
        """Tell whether a name is one of a property in braces."""
        return self.open[place].endswith("{") and self.at(place + 1).marks(":")

    def in_pattern(self, place: int) -> bool:
        """Tell whether the bracket there opens a node of a MATCH."""
        return self.at(place).marks("(") and self.clause[place] == "MATCH" and not self.open[place]

    def is_joined(self, place: int) -> bool:
        """Tell whether a relationship stands beside the node that a bracket opens."""
        depth = len(self.open[place])
        close = next((end for end in range(place + 1, len(self.tokens)) if self._closes(end, depth)), place)
        return self.at(close + 1).marks("-", "<") or self.at(place - 1).marks("-", ">")

    def _closes(self, place: int, depth: int) -> bool:
        return self.tokens[place].marks(")") and len(self.open[place]) == depth

    def is_bound(self, name: str, place: int) -> bool:
        """Tell whether a name means something known at a place: there it is looked at, and not looked for."""
        scope = next((at for at in range(place - 1, -1, -1) if not self.open[at] and self.begins(at, "WITH")), -1)
        for at in range(scope + 1, place):
            if self.tokens[at].names and self.tokens[at].text == name and (self._binds(at) or self._passes_on(at)):
                return True
        everything = scope >= 0 and (self.at(scope + 1).marks("*") or self.at(scope + 2).marks("*"))
        return everything and self.is_bound(name, scope)

    def _binds(self, place: int) -> bool:
        """Tell whether a name is given there to a value, or to a node with a label or a relationship."""
        if self.at(place - 1).says("AS"):
            return not self.open[place]
        return self.in_pattern(place - 1) and (self.at(place + 1).marks(":") or self.is_joined(place - 1))

    def _passes_on(self, place: int) -> bool:
        """Tell whether a WITH hands a name on as it is."""
        if self.clause[place] != "WITH" or self.open[place]:
            return False
        before, after = self.at(place - 1), self.at(place + 1)
        begins = before.says("WITH", "DISTINCT") or before.marks(",")
        return begins and (after.marks(",") or self.begins(place + 1, *CLAUSES))
