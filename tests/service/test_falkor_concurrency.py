"""Many writers on one graph: nothing twice, nothing lost, whatever shares a name."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pipeline.adapters.falkor import FalkorCurator, FalkorGraph, FalkorWriter, connect
from pipeline.models import Document
from pipeline.ontology import DEFAULT_ONTOLOGY

Make = Callable[..., Document]
Dump = Callable[[FalkorGraph], list[str]]
WRITERS = 8


def proceed() -> None:
    """Stands for leases that hold."""


def make_sharing_documents(make_document: Make, number: int) -> list[list[Document]]:
    """Make a batch for each writer; all batches name the same people, and relate them the same new ways."""
    people = [(f"Person {letter}", "Person") for letter in "ABCDEFGHIJ"]
    kinds = [f"NEW_{kind}" for kind in range(10)]
    related = [(people[i][0], kinds[i], people[(i + 3) % 10][0]) for i in range(10)]
    text = ", ".join(name for name, _ in people)
    return [
        [make_document(f"{writer}/{one}", (f"{text} {writer} {one}", people, related)) for one in range(number)]
        for writer in range(WRITERS)
    ]


def write(url: str, name: str, documents: Sequence[Document]) -> None:
    graph = connect(url, name)
    FalkorWriter(graph).write(documents, 1, proceed)
    graph.close()


def check_that_nothing_is_twice_or_missing(graph: FalkorGraph, documents: int) -> None:
    counts = FalkorCurator(graph).counts()
    assert (counts.documents, counts.chunks, counts.entities) == (documents, documents, 10)
    assert (counts.relations, counts.mentions) == (10, 10 * documents)
    assert counts.pending == {"chunk": documents, "entity": 10, "relation": 10}
    assert graph.ro_query("MATCH ()-[s:__SUPPORT__]->() RETURN count(s)") == [[10 * documents]]
    twice = "MATCH (n) WITH n.id AS id, labels(n) AS kinds, count(n) AS times WHERE times > 1 RETURN id, kinds"
    assert graph.ro_query(twice) == []


def test_threads_that_share_entities_and_new_relation_types_write_each_once(
    graph_server: Any, graph: FalkorGraph, make_document: Make
) -> None:
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    batches = make_sharing_documents(make_document, 5)
    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(lambda batch: write(graph_server.url, graph.name, batch), batches):
            pass
    check_that_nothing_is_twice_or_missing(graph, WRITERS * 5)


def test_processes_that_write_the_same_documents_at_once_write_them_once(
    graph_server: Any, graph: FalkorGraph, make_document: Make, dump_graph: Dump
) -> None:
    FalkorWriter(graph).prepare(DEFAULT_ONTOLOGY)
    documents = make_sharing_documents(make_document, 1)
    everything = [document for batch in documents for document in batch]
    # Forked, as this module has no name that a fresh process could import.
    start = multiprocessing.get_context("fork").Process
    orders = [everything[first:] + everything[:first] for first in range(4)]
    children = [start(target=write, args=(graph_server.url, graph.name, order)) for order in orders]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * len(children)
    check_that_nothing_is_twice_or_missing(graph, WRITERS)

    before = dump_graph(graph)
    FalkorWriter(graph).write(everything, 1, proceed)
    assert dump_graph(graph) == before


def test_the_mentions_of_a_hub_are_all_stored(graph: FalkorGraph, make_document: Make) -> None:
    writer = FalkorWriter(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    named = [("Ada", "Person"), ("Acme", "Organization")]
    passages = [(f"Ada founded Acme, {number}.", named, [("Ada", "FOUNDED", "Acme")]) for number in range(1_100)]
    writer.write([make_document("long", *passages)], 1, proceed)
    counts = FalkorCurator(graph).counts()
    assert (counts.chunks, counts.entities, counts.mentions, counts.relations) == (1_100, 2, 2_200, 1)
    assert graph.ro_query("MATCH ()-[s:__SUPPORT__]->() RETURN count(s)") == [[1_100]]
    assert graph.ro_query("MATCH ()-[s:NEXT_CHUNK]->() RETURN count(s)") == [[1_099]]
