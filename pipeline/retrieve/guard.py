"""What a query that a language model wrote may be: it reads, from known labels and types, within bounds.

The server refuses writes by itself; but it would read files and addresses (LOAD CSV), run procedures, hand out what
the pipeline keeps for itself, and fill its memory. So only what is known to be harmless passes.
"""

from collections.abc import Collection, Iterator

from pipeline.retrieve.cypher_layout import CLAUSES, Layout
from pipeline.retrieve.cypher_patterns import Patterns
from pipeline.retrieve.cypher_tokens import Kind, Token, Unreadable, spell_cypher, split_cypher
from pipeline.retrieve.cypher_work import check_work

MOST_ROWS = 25
_DEEPEST = 9
"""The server's parser takes three times as long with each level, and no time limit ends it: at 20 it hangs."""
_KEPT_BACK = frozenset({"embedding", "embedded_hash", "root", "settings"})
"""Properties that are no text, or tell of the pipeline and of the host that it read from."""

_FIRST = ("MATCH", "OPTIONAL", "UNWIND", "WITH")
_FORBIDDEN = """
    CREATE MERGE DELETE DETACH SET REMOVE DROP FOREACH CALL YIELD LOAD CSV FROM INTO COPY USING PERIODIC COMMIT START
    UNION PROFILE EXPLAIN CYPHER INDEX CONSTRAINT ON GRAPH SHORTESTPATH ALLSHORTESTPATHS
    """.split()  # noqa: SIM905 - a list of words is read as words
_KEYWORDS = """
    MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER BY ASC DESC ASCENDING DESCENDING SKIP LIMIT DISTINCT AS AND OR XOR NOT
    IN STARTS ENDS CONTAINS IS CASE WHEN THEN ELSE END
    """.split()  # noqa: SIM905 - a list of words is read as words
# Nothing that makes a long list or text of a short one: range, reduce, replace, join.
_FUNCTIONS = """
    ALL ANY NONE SINGLE EXISTS COUNT COLLECT SUM AVG MIN MAX STDEV COALESCE SIZE LENGTH ID TYPE LABELS KEYS NODES
    RELATIONSHIPS STARTNODE ENDNODE HEAD LAST TAIL INDEGREE OUTDEGREE ABS CEIL FLOOR ROUND SIGN SQRT TOINTEGER TOFLOAT
    TOSTRING TOBOOLEAN TOLOWER TOUPPER TRIM LTRIM RTRIM SUBSTRING LEFT RIGHT SPLIT DATE
    """.split()  # noqa: SIM905 - a list of words is read as words


def check_cypher(cypher: str, labels: Collection[str], types: Collection[str]) -> tuple[str, ...]:
    """Say why a query may not be run, in sentences for whoever wrote it; empty: it may, spelled by `bound_rows`.

    `labels` are those of entities, `types` the values of their relations' property `rel_type`.
    """
    try:
        layout = Layout(split_cypher(cypher))
    except Unreadable as error:
        return (str(error),)
    found = (
        *_check_frame(layout),
        *_check_words(layout),
        *_check_items(layout),
        *check_work(layout),
        *Patterns(layout, labels, types).reasons(),
    )
    return tuple(dict.fromkeys(found))


def is_kept_back(name: str) -> bool:
    """Tell whether a property is none of a query's business, by its name."""
    return name.lower() in _KEPT_BACK or name.startswith("__")


def bound_rows(cypher: str, most: int = MOST_ROWS) -> str:
    """Spell a query that passed for the engine, with at most so many rows."""
    layout = Layout(split_cypher(cypher))
    tokens = list(layout.tokens)
    if len(tokens) > 1 and layout.begins(len(tokens) - 2, "LIMIT") and tokens[-1].kind is Kind.NUMBER:
        tokens[-1] = Token(Kind.NUMBER, str(min(int(tokens[-1].text), most)), spaced=True)
        return spell_cypher(tokens)
    return f"{spell_cypher(tokens)} LIMIT {most}"


def _check_frame(layout: Layout) -> Iterator[str]:
    """Check what a query is as a whole."""
    if not layout.at(0).says(*_FIRST) or (layout.at(0).says("OPTIONAL") and not layout.at(1).says("MATCH")):
        yield "begin with MATCH, OPTIONAL MATCH, UNWIND or WITH"
    places = range(len(layout.tokens))
    returns = sum(layout.begins(place, "RETURN") for place in places)
    if returns != 1:
        yield f"have one RETURN, not {returns}"
    if layout.astray:
        yield f"a bracket has no other half: {layout.astray[0]!r}"
    # As if all of them stood within each other, in the deepest bracket.
    wraps = sum(_wraps(layout, place) or _is_sign(layout, place) for place in places)
    if max(map(len, layout.open), default=0) + wraps > _DEEPEST:
        yield f"use brackets, NOT, CASE and signs {_DEEPEST} deep at most, all together"


def _check_words(layout: Layout) -> Iterator[str]:
    """Check words, names and values by what stands beside them."""
    for place, token in enumerate(layout.tokens):
        if token.kind is Kind.MARK:
            continue
        before, after = layout.at(place - 1), layout.at(place + 1)
        if _ends(before) and not token.says(*_KEYWORDS):
            # Nowhere in the language: so no clause that is not known here begins.
            yield f"{token.text!r} cannot stand behind {before.text!r}"
        if token.names and is_kept_back(token.text) and (before.marks(".") or layout.is_key(place)):
            yield f"leave out the property {token.text}: it says nothing of the documents"
        if token.kind is Kind.NUMBER and after.marks("."):
            yield f"write {token.text} without a point behind it"
        if not token.names:
            continue
        if token.says(*_FORBIDDEN) and not before.marks(".", ":") and not after.marks(":"):
            yield f"{token.text.upper()} may not be used"
        elif after.marks("(") and not token.says(*_KEYWORDS) and not _is_function(token, before):
            yield f"there is no function {token.text}, or it may not be used"
        elif layout.begins(place, "LIMIT", "SKIP"):
            yield from _check_bound(layout, place)


def _check_items(layout: Layout) -> Iterator[str]:
    """Check what stands in brackets behind a value: of a node it would be a property, whose name nobody could check."""
    for place, token in enumerate(layout.tokens):
        if token.marks("[") and _ends(layout.at(place - 1)) and not _is_counted(layout, place):
            yield "in brackets behind a value write numbers only, as in labels(n)[0]"


def _wraps(layout: Layout, place: int) -> bool:
    return layout.begins(place, "NOT", "CASE") and not layout.at(place - 1).says("IS")


def _is_sign(layout: Layout, place: int) -> bool:
    """Tell signs from differences, sums and relationships."""
    sign = layout.at(place).marks("-", "+") and not _ends(layout.at(place - 1))
    return sign and not layout.at(place + 1).marks("[")


def _ends(token: Token) -> bool:
    """Tell whether a value may end with a token."""
    return token.marks(")", "]", "}") or (token.kind is not Kind.MARK and not token.says(*_KEYWORDS))


def _is_counted(layout: Layout, place: int) -> bool:
    """Tell whether a bracket holds numbers only, as those of an item or a range of a list do."""
    at = place + 1
    while layout.at(at).kind is Kind.NUMBER or layout.at(at).marks("-", ".."):
        at += 1
    return layout.at(at).marks("]")


def _is_function(token: Token, before: Token) -> bool:
    return token.says(*_FUNCTIONS) and not before.marks(".", ":", "|")


def _check_bound(layout: Layout, place: int) -> Iterator[str]:
    number, end = layout.at(place + 1), place + 2
    last = end == len(layout.tokens)
    if not number.text.isdecimal() or not (last or layout.begins(end, *CLAUSES)):
        yield f"{layout.at(place).text.upper()} takes a whole number"
