"""Splits a query into tokens, and spells them so plainly that no other reader can split them otherwise.

What may be read in two ways is refused: comments go, strings hold no backslash, other characters than ASCII stand in
strings and backticks only. So the engine sees what was checked.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

MOST_CHARS = 4_000
MOST_TOKENS = 600


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    """A keyword, or a name without backticks."""
    QUOTED = "quoted"
    """A name in backticks; `text` is what stands between."""
    STRING = "string"
    """`text` is what it says."""
    NUMBER = "number"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; `spaced` where something that says nothing stands before it."""

    kind: Kind
    text: str
    spaced: bool

    def says(self, *words: str) -> bool:
        """Tell whether it is one of some bare words, given in upper case."""
        return self.kind is Kind.WORD and self.text.upper() in words

    def marks(self, *marks: str) -> bool:
        """Tell whether it is one of some marks."""
        return self.kind is Kind.MARK and self.text in marks

    @property
    def names(self) -> bool:
        """Tell whether it may be a name."""
        return self.kind in {Kind.WORD, Kind.QUOTED}


class Unreadable(ValueError):
    """A query that cannot be split for certain; the message says why."""


# Of a string only the plain characters, and a quote behind a backslash.
_TOKEN = re.compile(
    r"""
    (?P<gap>(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)+)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |`(?P<quoted>[^`\\\x00-\x1f\x7f\ud800-\udfff]+)`
    |(?P<string>'(?:[^'\\\x00-\x1f\x7f\ud800-\udfff]|\\['"])*'|"(?:[^"\\\x00-\x1f\x7f\ud800-\udfff]|\\['"])*")
    |(?P<number>[0-9]+(?:\.[0-9]+)?)
    |(?P<mark><=|>=|<>|\.\.|/(?![*/])|[-+*%^<>=()\[\]{},.:|])
    """,
    re.VERBOSE | re.DOTALL,
)


_OPEN_STRING = "a string is not closed, or holds a line break, or a backslash before something else than a quote"
_COMPLAINTS = {
    "'": _OPEN_STRING,
    '"': _OPEN_STRING,
    "`": "a name in backticks is not closed, or holds a backslash",
    "/": "a comment is not closed",
    ";": "write one query, without ';'",
    "$": "there are no parameters: write values out",
    "~": "in place of patterns of characters use CONTAINS, STARTS WITH or ENDS WITH",
}


def split_cypher(cypher: str) -> list[Token]:
    """Split a query; raises `Unreadable`."""
    if len(cypher) > MOST_CHARS:
        raise Unreadable(f"a query has at most {MOST_CHARS} characters")
    tokens: list[Token] = []
    place, spaced = 0, False
    while place < len(cypher):
        found = _TOKEN.match(cypher, place)
        if found is None:
            raise Unreadable(_complain(cypher[place]))
        place = found.end()
        kind = found.lastgroup
        if kind == "gap":
            spaced = True
            continue
        text = found[kind or 0]
        if kind == Kind.STRING:
            text = text[1:-1].replace("\\'", "'").replace('\\"', '"')
            if "'" in text and '"' in text:
                raise Unreadable("a string may hold single or double quotes, not both")
        tokens.append(Token(Kind(str(kind)), text, spaced))
        spaced = False
    if len(tokens) > MOST_TOKENS:
        raise Unreadable(f"a query has at most {MOST_TOKENS} words and marks")
    return tokens


def spell_cypher(tokens: list[Token]) -> str:
    """Spell tokens: single spaces in place of comments and other space, no backslashes."""
    return "".join(" " * token.spaced + _spell(token) for token in tokens).strip()


def _spell(token: Token) -> str:
    match token.kind:
        case Kind.STRING:
            quote = '"' if "'" in token.text else "'"
            return f"{quote}{token.text}{quote}"
        case Kind.QUOTED:
            return f"`{token.text}`"
        case _:
            return token.text


def _complain(character: str) -> str:
    return _COMPLAINTS.get(character, f"{character!r} may stand in strings and backticks only")
