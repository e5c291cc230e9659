"""Conditions of a scope are read as they are typed, or the one that cannot be is named with the fix."""

import pytest

from workers.cli.exits import UsageMistake
from workers.cli.scoping import read_scope


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("path=a.md", {"name": "path", "op": "=", "value": "a.md"}),
        ("path = a=b.md", {"name": "path", "op": "=", "value": "a=b.md"}),
        ("path=a.md, b.md", {"name": "path", "op": "in", "value": ["a.md", "b.md"]}),
        ("path^=handbook/", {"name": "path", "op": "starts_with", "value": "handbook/"}),
        ("page_count>=10", {"name": "page_count", "op": ">=", "value": 10}),
        ("page_count<10", {"name": "page_count", "op": "<", "value": 10}),
        ("page_count=1,2", {"name": "page_count", "op": "in", "value": [1, 2]}),
    ],
)
def test_conditions_are_read(typed, read):
    assert read_scope([], [typed]) == {"documents": None, "where": [read]}


def test_documents_are_named_by_id_or_path():
    assert read_scope(["a.md"], [])["documents"] == ["a.md", "file:a.md"]


@pytest.mark.parametrize("typed", ["", "path", "path>b", "=x", "page_count>=ten", "two words=x", "path<=b"])
def test_what_is_no_condition_is_named(typed):
    with pytest.raises(UsageMistake, match="--where"):
        read_scope([], [typed])
