"""Connections for questions: what is no graph's name, and who gives up first, the server or the connection."""

import pytest

from pipeline.adapters.falkor import FalkorReader
from pipeline.errors import QueryInvalid
from workers import graphs
from workers.graphs import open_reader
from workers.settings import Settings


@pytest.mark.parametrize("name", ["", "\ud800", "kb\udfff"])
def test_what_is_no_name_of_a_graph_is_refused(name):
    with pytest.raises(QueryInvalid, match="is no name of a graph"):
        open_reader(Settings(), name)


@pytest.mark.parametrize("name", ["kb", "größer 漢字"])
def test_any_other_name_may_be_one(name):
    assert isinstance(open_reader(Settings(), name), FalkorReader)


@pytest.mark.parametrize(("query_timeout", "waits", "reads"), [(30, 10, 8), (3, 1, 0.8), (600, 60, 30)])
def test_the_server_ends_a_read_before_the_connection_gives_up(monkeypatch, query_timeout, waits, reads):
    made = []
    monkeypatch.setattr(graphs, "connect", lambda url, graph, **times: made.append(times))
    open_reader(Settings(query_timeout=query_timeout), "kb")
    assert made == [{"timeout": pytest.approx(waits), "read_timeout": pytest.approx(reads)}]
