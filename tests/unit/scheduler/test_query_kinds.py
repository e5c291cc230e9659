import pytest

from pipeline.errors import QueryInvalid
from scheduler.query_kinds import QueryKinds


def look(graph: str, numbers: list[int], reach: int = 2) -> dict:
    return {"graph": graph, "numbers": numbers, "reach": reach}


def test_a_question_is_answered_by_its_kind_and_its_arguments_by_name():
    kinds = QueryKinds({"look": look, "check": lambda draft: {"draft": draft}})
    assert kinds.run("look", {"numbers": [1], "graph": "g"}) == {"graph": "g", "numbers": [1], "reach": 2}
    assert kinds.run("check", {"draft": "So [1]."}) == {"draft": "So [1]."}


@pytest.mark.parametrize(
    ("kind", "arguments", "reason"),
    [
        ("drop", {}, "no query 'drop': ask for one of look"),
        ("__init__", {}, "no query"),
        ("look", {"graph": "g"}, "look: numbers"),
        ("look", {"graph": 5, "numbers": []}, "look: graph"),
        ("look", {"graph": "g", "numbers": ["1"]}, "look: numbers.0"),
        ("look", {"graph": "g", "numbers": [], "reach": True}, "look: reach"),
        ("look", {"graph": "g", "numbers": [], "more": 1}, "look: more"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_is_wrong(kind, arguments, reason):
    with pytest.raises(QueryInvalid, match=reason):
        QueryKinds({"look": look}).run(kind, arguments)
