"""Connections to graphs, each as the port that its caller needs: part of the wiring, so it names adapters."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from pipeline.adapters.falkor import (
    FalkorCandidates,
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorMerges,
    FalkorOntologies,
    FalkorReader,
    FalkorWriter,
    connect,
    index_states,
)
from pipeline.errors import GraphMissing, QueryInvalid
from pipeline.models import StoredDocument
from pipeline.ports import CandidateStore, GraphCurator, GraphInspector, OntologyStore
from pipeline.ports.merges import GraphMerges
from workers.settings import Settings

DEFAULT_FALKORDB = "redis://127.0.0.1:6379"
_MOST_READ_SECONDS = 30.0
"""The server's own limit where none is sent; it refuses a query that asks for more than its TIMEOUT_MAX."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_READ_SHARE = 0.8
"""Of a reader's timeout, what the server may take for one read: then it ends it, before the connection gives up."""
QUERY_TRIES = 3
"""Timeouts of the graph that fit into what a command waits for an answer."""


def open_graph(settings: Settings, graph: str, timeout: float = 0.0, read_timeout: float | None = None) -> FalkorGraph:
    """Connect to a graph, with timeouts in seconds of its own if given, as `connect`; nothing is made by that."""
    url = settings.falkordb_url.get_secret_value() if settings.falkordb_url else DEFAULT_FALKORDB
    return connect(url, graph, timeout=timeout or settings.graph_timeout, read_timeout=read_timeout)


def open_reader(settings: Settings, graph: str) -> FalkorReader:
    """Connect to a graph for questions: a lost connection is noticed while somebody still waits for the answer.

    Raises `QueryInvalid` for what is no name of a graph.
    """
    if not graph or _SURROGATE.search(graph):
        raise QueryInvalid(f"{graph!r} is no name of a graph: name one that `graphmill ingest` has written")
    timeout = min(settings.graph_timeout, settings.query_timeout / QUERY_TRIES)
    return FalkorReader(open_graph(settings, graph, timeout, min(timeout * _READ_SHARE, _MOST_READ_SECONDS)))


def find_unready_indexes(settings: Settings) -> list[str]:
    """Name the graphs with indexes that are still being built, as after a restart: their searches miss things."""
    names = open_graph(settings, settings.graph).names()
    graphs = (open_graph(settings, name) for name in names)
    return [graph.name for graph in graphs if not all(state.operational for state in index_states(graph))]


def find_stored(settings: Settings, graph: str, document_id: str) -> StoredDocument | None:
    """Look a completely written document up; None where the graph, or the document in it, is not there."""
    with closing(open_graph(settings, graph)) as opened, suppress(GraphMissing):
        return FalkorWriter(opened).stored([document_id]).get(document_id)
    return None


def curate(graph: FalkorGraph) -> GraphCurator:
    """Give finalize's side of a graph."""
    return FalkorCurator(graph)


def inspect_graph(graph: FalkorGraph) -> GraphInspector:
    """Give the side of a graph that comparisons read."""
    return FalkorInspector(graph)


@contextmanager
def open_inspector(settings: Settings, graph: str) -> Iterator[GraphInspector]:
    """Connect to the side of a graph that comparisons read."""
    with closing(open_graph(settings, graph)) as opened:
        yield FalkorInspector(opened)


@contextmanager
def open_ontologies(settings: Settings, graph: str) -> Iterator[OntologyStore]:
    """Connect to the versions of a graph's ontology."""
    with closing(open_graph(settings, graph)) as opened:
        yield FalkorOntologies(opened)


@contextmanager
def open_merges(settings: Settings, graph: str) -> Iterator[GraphMerges]:
    """Connect to the merges and verdicts of a graph."""
    with closing(open_graph(settings, graph)) as opened:
        yield FalkorMerges(opened)


@contextmanager
def open_candidates(settings: Settings, graph: str) -> Iterator[CandidateStore]:
    """Connect to what a graph's documents say beyond its ontology."""
    with closing(open_graph(settings, graph)) as opened:
        yield FalkorCandidates(opened)
