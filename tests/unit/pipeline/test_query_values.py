import json

import pytest

from pipeline.errors import QueryInvalid
from pipeline.models import Condition, Query, Rerank, Scope, SearchPath
from pipeline.models.query import read_query, spell_query


@pytest.mark.parametrize(
    ("name", "op", "value", "named"),
    [
        ("content_hash", "=", "x", "content_hash"),
        ("path = '' OR d.id", "=", "x", "path = '' OR d.id"),
        ("path", "<>", "x", "<>"),
        ("path", "=", 3, "path is text"),
        ("page_count", "=", "3", "page_count is a number"),
        ("page_count", "=", True, "page_count"),
        ("page_count", "in", (1, "2"), "page_count"),
        ("page_count", "starts_with", 1, "page_count"),
        ("path", "in", "abc", "takes a list"),
        ("path", "=", ("a",), "takes a list"),
    ],
)
def test_a_condition_that_no_document_can_be_asked_is_refused_by_name(name, op, value, named):
    with pytest.raises(QueryInvalid) as refused:
        Condition(name, op, value)
    assert named in str(refused.value)
    if not isinstance(value, bool):
        where = [{"name": name, "op": op, "value": value}]
        with pytest.raises(QueryInvalid):
            read_query({"question": "Who?", "scope": {"where": where}})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"passages": 0}, "1 to 100 passages, not 0"),
        ({"passages": 101}, "1 to 100 passages, not 101"),
        ({"facts": -1}, "0 to 100 facts, not -1"),
        ({"expand_hops": 6}, "1 to 5 hops, not 6"),
        ({"passages": True}, "passages: .* valid integer"),
        ({"passages": "5"}, "passages: .* valid integer"),
        ({"scope": {"where": [{"name": "page_count", "op": ">=", "value": True}]}}, "scope.where.0.value"),
        ({"paths": []}, "at least one path"),
        ({"paths": ["roads"]}, "paths"),
        ({"paths": ["cypher"], "scope": {"documents": ["file:a"]}}, "leave out the path cypher, or the scope"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_query_out_of_bounds_says_which_are_the_bounds(options, reason):
    with pytest.raises(QueryInvalid, match=reason):
        read_query({"question": "Who?", **options})


def test_a_number_of_items_that_is_no_number_is_refused_in_a_query_as_well():
    for value in (True, "5", 2.5):
        with pytest.raises(QueryInvalid, match=f"1 to 100 passages, not {value}"):
            Query("Who?", passages=value)


def test_a_scope_of_no_documents_is_a_scope_and_none_is_the_whole_graph():
    assert Scope(documents=())
    assert not Scope()
    assert read_query({"question": "Who?", "scope": {"documents": []}}).scope == Scope(documents=())
    assert read_query({"question": "Who?", "scope": {"documents": None}}).scope == Scope()
    with pytest.raises(QueryInvalid, match="leave out the path cypher"):
        read_query({"question": "Who?", "paths": ["cypher"], "scope": {"documents": []}})


def test_a_query_is_the_same_when_it_is_read_from_what_it_was_spelled_as():
    scope = Scope(("file:a",), (Condition("path", "in", ("a", "b")), Condition("page_count", ">=", 3)))
    query = Query(
        "Who?", frozenset({SearchPath.LINKS, SearchPath.FACTS}), passages=3, rerank=Rerank.COSINE, scope=scope
    )
    spelled = spell_query(query)
    assert spelled["paths"] == ["facts", "links"]
    assert read_query(json.loads(json.dumps(spelled))) == query


def test_options_may_be_values_as_well_as_plain_json():
    scope = Scope(where=(Condition("path", "=", "a"),))
    as_values = read_query({"question": "Who?", "paths": {SearchPath.LINKS}, "scope": scope})
    as_json = {"paths": ["links"], "scope": {"where": [{"name": "path", "op": "=", "value": "a"}]}}
    assert as_values == read_query({"question": "Who?", **as_json})
