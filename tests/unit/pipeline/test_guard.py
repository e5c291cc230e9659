import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.cypher_tokens import MOST_CHARS, MOST_TOKENS, split_cypher
from pipeline.retrieve.guard import MOST_ROWS, bound_rows, check_cypher

LABELS, TYPES = ("Person", "Organization", "Medical Device", "Index"), ("FOUNDED", "WORKS_FOR")
FOUNDERS = "MATCH (p:Person)-[r:RELATES {rel_type: 'FOUNDED'}]->(o:Organization) RETURN p.name, o.name"
GOOD = [
    FOUNDERS,
    "OPTIONAL MATCH (p:Person) RETURN p.name",
    "UNWIND ['a', 'b'] AS name MATCH (p:Person {name: name}) RETURN p.name",
    "WITH 'x' AS x MATCH (p:Person) WHERE p.name STARTS WITH x RETURN p.name",
    "match (p:Person) return count(*) as n",
    "MATCH (d:Document)-[:PART_OF]->(c:Chunk)<-[:MENTIONED_IN]-(e) RETURN d.path, count(DISTINCT e) AS n ORDER BY n",
    "MATCH p = (a:Person)-[:RELATES*1..3]-(b:`Medical Device`) RETURN [x IN nodes(p) | x.name], length(p)",
    "MATCH (a:Person) WITH a, count(*) AS n WHERE n > 1 MATCH (a)-[:RELATES]->(b) RETURN b.name, n",
    "MATCH (a:Person) WITH * MATCH (a) RETURN a.name",
    "MATCH (a:Person), (b:Index), (a)-[:RELATES]->(c)-[:RELATES]->(b) MATCH (d:Chunk)<-[:MENTIONED_IN]-(c) RETURN d.id",
    "MATCH (a:Person) WITH count(a) AS n MATCH (c:Chunk) RETURN n, count(c)",
    "MATCH (a:Person), (b:Index) WHERE NOT (a)-[:RELATES]->(b) AND a.set IS NOT NULL RETURN a.create, {limit: 1}",
    "MATCH (a:Person)-[:RELATES|MENTIONED_IN]->(b) RETURN CASE WHEN b.name IS NULL THEN 'none' ELSE b.name END AS k",
    "MATCH (root:Person) RETURN labels(root)[0], collect(root.name)[0..3] AS settings, keys(root)[-1]",
    "MATCH (p:Person) WHERE p.name IN ['Ann', 'Bob'] RETURN p.root_cause",
    "MATCH p = (a:Person)-[:RELATES*1..2]->(b) RETURN [x IN nodes(p) WHERE x.name <> a.name OR 'I' IN keys(x) | x.id]",
    "MATCH (p:Person) WHERE any(x IN labels(p) WHERE x IN ['Index', 'Person', 'a', 'b']) RETURN {a: p.name, b: p.id}",
    f"WITH {list(map(str, range(50)))} AS l RETURN none(x IN l WHERE toLower(x) = 'x'), single(x IN l WHERE x = '1')",
    "MATCH (a:Person) RETURN a.age / 2 - 1, a.age * -1 SKIP 5 LIMIT 5",
]
BAD = {
    "CREATE (n:Person) RETURN n": "begin with MATCH",
    "RETURN 1": "begin with MATCH",
    "OPTIONAL (n:Person) RETURN n": "begin with MATCH",
    "MATCH (p:Person)": "have one RETURN",
    f"{FOUNDERS} UNION {FOUNDERS}": "have one RETURN",
    f"{FOUNDERS}; MATCH (n) DELETE n": "without ';'",
    "MATCH (p:Person) CALL db.labels() YIELD label RETURN label": "CALL may not",
    "LOAD CSV FROM 'https://example.org/x' AS row RETURN row": "LOAD may not",
    "WITH 1 AS x load\n/**/ csv FROM 'file:///etc/passwd' AS row RETURN row": "LOAD may not",
    "MATCH (p:Person) CREATE (n:Person) RETURN n": "CREATE may not",
    "MATCH (p:Person) MERGE (n:Person) RETURN n": "MERGE may not",
    "MATCH (p:Person) SET p.name = 'x' RETURN p": "SET may not",
    "MATCH (p:Person) REMOVE p.name RETURN p": "REMOVE may not",
    "MATCH (p:Person) DETACH DELETE p RETURN 1": "DELETE may not",
    "MATCH (p:Person) FOREACH (x IN [1] | SET p.x = x) RETURN p": "FOREACH may not",
    "PROFILE MATCH (p:Person) RETURN p": "PROFILE may not",
    "CYPHER x=1 MATCH (p:Person) RETURN p": "begin with MATCH",
    "MATCH (p:Person) RETURN $x": "no parameters",
    "MATCH (p:Pirate) RETURN p": "no label 'Pirate'",
    "MATCH (p:Person:Pirate) RETURN p": "no label 'Pirate'",
    "MATCH (p:Person) WHERE p:Pirate RETURN p": "no label 'Pirate'",
    "MATCH (f:__Fence__) RETURN f": "no label '__Fence__'",
    "MATCH (f:`__Fence__`) RETURN f": "no label '__Fence__'",
    "MATCH (p:Person)-[:FOUNDED]->(o) RETURN o": "rel_type: 'FOUNDED'",
    "MATCH (p:Person)-[:__SUPPORT__]->(o) RETURN o": "no relationship type '__SUPPORT__'",
    "MATCH (p:Person)-[r:RELATES {rel_type: 'SANK'}]->(o) RETURN o": "no relation has the rel_type 'SANK'",
    "MATCH (p:Person)-[r:RELATES]->(o) WHERE r.rel_type = 'SANK' RETURN o": "no relation has the rel_type 'SANK'",
    "MATCH (n) RETURN n": "give the node (n) a label",
    "MATCH (p:Person), () RETURN p": "give the node () a label",
    "MATCH (p:Person) WITH count(p) AS n MATCH (p) RETURN p": "give the node (p) a label",
    "MATCH (p:Person) WITH p.name AS p2, 1 AS x MATCH (p) RETURN p": "give the node (p) a label",
    "MATCH (p:Person) WHERE (p)-[:RELATES]->(o:Person) MATCH (o) RETURN o": "give the node (o) a label",
    "MATCH (p:Person)-->(o) RETURN o": "with its type",
    "MATCH (p:Person)- /* */ -(o) RETURN o": "with its type",
    "MATCH (p:Person)-[r]->(o) RETURN o": "with its type",
    "MATCH (p:Person)-[:RELATES*]->(o) RETURN o": "an upper bound",
    "MATCH (p:Person)-[:RELATES*2..]->(o) RETURN o": "an upper bound",
    "MATCH (p:Person)-[:RELATES*1..6]->(o) RETURN o": "an upper bound",
    "MATCH (p:Person)-[:RELATES*3]->(o)-[:RELATES*3]->(q) RETURN q": "an upper bound",
    "MATCH p = shortestPath((a:Person)-[:RELATES*1..3]->(b:Person)) RETURN p": "SHORTESTPATH may not",
    "MATCH (a:Chunk), (b:Chunk), (c:Chunk) RETURN count(*)": "share no node",
    "MATCH (a:Chunk) WITH a MATCH (b:Chunk) WITH a, b MATCH q = (c:Chunk)-[:NEXT_CHUNK]->(d) RETURN c": "share no node",
    "MATCH (p:Person) RETURN p.embedding": "leave out the property embedding",
    "MATCH (p:Person) RETURN p . `Embedding`": "leave out the property Embedding",
    "MATCH (p:Person {embedded_hash: 'x'}) RETURN p.name": "leave out the property embedded_hash",
    "MATCH (d:Document) WHERE d.root CONTAINS '/home' RETURN d.path": "leave out the property root",
    "MATCH (d:Document) RETURN [x IN collect(d) | x.settings]": "leave out the property settings",
    "MATCH (p:Person) RETURN p.__properties__": "leave out the property __properties__",
    "MATCH (p:Person) RETURN p['embedding']": "write numbers only",
    "MATCH (p:Person) RETURN (p)['emb' + 'edding']": "write numbers only",
    "MATCH (p:Person) UNWIND keys(p) AS k RETURN p[k]": "write numbers only",
    "MATCH (p:Person) RETURN p {.*}": "braces hold properties",
    "MATCH (p:Person) WHERE EXISTS { MATCH (n) } RETURN p": "braces hold properties",
    "WITH 1 AS x RETURN range(1, 1000000000)": "no function range",
    "WITH 1 AS x RETURN db.labels()": "no function labels",
    "WITH 1 AS x RETURN `size`('x')": "no function size",
    "WITH [1, 2] AS x WITH [y IN x | x] AS x RETURN x": "take one property",
    f"WITH 'a' AS x RETURN x{' + x' * 9}": "use + at most",
    f"WITH true AS x RETURN {'NOT ' * 10}x": "deep at most",
    f"WITH 1 AS x RETURN {'(' * 10}x{')' * 10}": "deep at most",
    f"WITH 1 AS x RETURN {'- (' * 5}x{')' * 5}": "deep at most",
    "MATCH (p:Person RETURN p": "no other half",
    "MATCH (p:Person) RETURN p LIMIT 5 + 1000": "whole number",
    "MATCH (p:Person) RETURN p LIMIT p.age": "whole number",
    "MATCH (p:Person) WHERE p.name =~ '(a+)+' RETURN p": "CONTAINS",
    "MATCH (p:Person) RETURN 'a' 'b'": "cannot stand behind",
    "MATCH (p:Person) RETURN 1. UNION MATCH (q:Person) RETURN q": "without a point",
    "MATCH (p:Person) RETURN p NEWCLAUSE p": "cannot stand behind",
    "MATCH (p:Person {name: 'x\\\\'}) RETURN p": "a string is not closed",
    "MATCH (p:Person {name: 'x}) RETURN p": "a string is not closed",
    "MATCH (p:Person) RETURN p /* CREATE": "a comment is not closed",
    "MATCH (p:Person) RETURN `p": "in backticks is not closed",
    "MATCH (p:Person) RETURN p.n\u00e4me": "backticks only",
    "MATCH (p:Person)\u2010[:RELATES]->(o) RETURN o": "backticks only",
    "MATCH (p:Person) RETURN p\x00": "backticks only",
    f"MATCH (p:Person) RETURN {'p.name, ' * 700}p": "characters",
    f"WITH 1 AS x RETURN x{'*1' * 400}": "words and marks",
    "WITH [1] AS l RETURN any(x IN l WHERE any(y IN l WHERE y = 1))": "a list once",
    "WITH [1] AS l RETURN any(x IN tail([y IN l WHERE y > 1]) WHERE x = 1)": "a list once",
    "WITH [1] AS l RETURN size([x IN l WHERE size([y IN l WHERE y > 1 | y.a]) > 0 | x.a])": "a list once",
    "WITH [1] AS l RETURN [x IN l WHERE size([(a:Person)-[:RELATES]->(b) | b.name]) > 0 | x.a]": "a list once",
    "WITH [1] AS l RETURN all(x IN l WHERE NOT x IN l)": "nothing but its item",
    "WITH {l: [1]} AS m RETURN all(x IN m.l WHERE m.l = m.l)": "nothing but its item",
    "WITH [1] AS l RETURN all(x IN l WHERE x IN {a: l}.a)": "nothing but its item",
    "MATCH (p:Person) RETURN none(x IN labels(p) WHERE x IN keys(p))": "nothing but its item",
    "MATCH (p:Person) RETURN none(x IN labels(p) WHERE x IN split(p.text, ' '))": "nothing but its item",
    "MATCH (p:Person) WITH collect(p) AS l RETURN [x IN l WHERE (x)-[:RELATES]->() | x.name]": "nothing but its item",
    "WITH [1] AS contains RETURN all(x IN contains WHERE x IN contains)": "a word of the language",
    f"WITH 'a' AS l {'WITH [l, l, l] AS l ' * 5} RETURN size(l)": "use + at most 8 times",
    f"WITH 'a' AS l {'WITH {a: l, b: l, c: l} AS l ' * 5} RETURN l": "use + at most 8 times",
    "": "begin with MATCH",
}


def check(cypher):
    return check_cypher(cypher, LABELS, TYPES)


@pytest.mark.parametrize("cypher", GOOD)
def test_a_query_that_only_reads_what_is_known_may_run(cypher):
    assert check(cypher) == ()


@pytest.mark.parametrize("cypher", BAD)
def test_every_other_query_is_refused_with_what_to_change(cypher):
    assert any(BAD[cypher] in reason for reason in check(cypher)), check(cypher)


@pytest.mark.parametrize("word", ["CALL", "load csv", "; CREATE", "SET x.y = 1", "*/", "//", "\\u0027"])
def test_words_in_strings_and_comments_forbid_nothing_and_comments_are_not_sent(word):
    said = word.replace("\\", "").replace("*/", "")
    cypher = f"// {said}\nMATCH (p:Person) /* {said} */ WHERE p.name = 'it {said}' RETURN p.name"
    assert check(cypher) == ()
    assert bound_rows(cypher) == f"MATCH (p:Person) WHERE p.name = 'it {said}' RETURN p.name LIMIT {MOST_ROWS}"


@pytest.mark.parametrize(
    ("end", "bounded"),
    [("", "LIMIT 25"), (" LIMIT 5", "LIMIT 5"), (" limit 100", "limit 25"), (f" LIMIT {'9' * 30}", "LIMIT 25")],
)
def test_a_query_gets_a_limit_and_a_larger_one_is_lowered(end, bounded):
    assert bound_rows(FOUNDERS + end) == f"{FOUNDERS} {bounded}"


def test_a_limit_before_the_end_or_in_a_name_is_no_limit_of_the_rows():
    for cypher in ("MATCH (p:Person) WITH p LIMIT 3 RETURN p.name", "MATCH (p:Person) RETURN p.limit"):
        assert check(cypher) == ()
        assert bound_rows(cypher) == f"{cypher} LIMIT 25"


def test_quotes_behind_backslashes_are_spelled_without_them():
    assert bound_rows(r"MATCH (p:Person {name: 'O\'Brien'}) RETURN p") == (
        'MATCH (p:Person {name: "O\'Brien"}) RETURN p LIMIT 25'
    )


PIECES = st.one_of(
    st.sampled_from([piece for cypher in (*GOOD, *BAD) for piece in cypher.split()]),
    st.sampled_from(["'", '"', "`", "\\", "/*", "*/", "//", "\n", ";", "--", "[", "(", "{", "..", "1.", "$"]),
    st.text(max_size=5),
)


@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_any_text_is_either_refused_or_stays_harmless_as_it_is_sent(cypher):
    if not check(cypher):
        sent = bound_rows(cypher)
        assert check(sent) == ()
        assert bound_rows(sent) == sent
        assert "\\" not in sent


def test_the_longest_query_is_checked_in_no_time():
    cypher = f"MATCH (p:Person) RETURN {', '.join(['p.a'] * 140)}"
    assert check(cypher) == ()
    assert len(split_cypher(cypher)) < MOST_TOKENS
    assert check("(" * MOST_CHARS) != ()
