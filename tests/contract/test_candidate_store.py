"""What every store of candidates promises: finds come and go with their passages, decisions stay."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pipeline.adapters.falkor import (
    FalkorCandidates,
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorReviser,
    FalkorWriter,
    connect,
)
from pipeline.errors import GraphMissing, LeaseLost
from pipeline.models import Document, Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.ports import CandidateState, CandidateStore

Make = Callable[..., Document]
Dump = Callable[[FalkorGraph], list[str]]

TEA = Mention("Tea", "drug", 0, 3)
ASPIRIN = Mention("Aspirin", "Drug", 0, 7)
TREATS = Relation("Tea", "drug", "flu", "Disease", "treats", "", 0, 3)
DRUG, PATTERN = "entity:drug", "relation:treats:drug:disease"


def proceed() -> None:
    """Stands for leases that hold."""


@pytest.fixture
def writer(graph: FalkorGraph) -> FalkorWriter:
    writer = FalkorWriter(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    return writer


@pytest.fixture
def store(graph: FalkorGraph) -> CandidateStore:
    return FalkorCandidates(graph)


@pytest.fixture
def undeclared(make_document: Make) -> Make:
    """Make a document of passages and what each says beyond the ontology."""

    def make(name: str, *said: tuple[str, tuple[Mention | Relation, ...]], fingerprint: str = "f1") -> Document:
        plain = make_document(name, *((text, [], []) for text, _ in said), fingerprint=fingerprint)
        extractions = (
            Extraction(
                undeclared_mentions=tuple(one for one in found if isinstance(one, Mention)),
                undeclared_relations=tuple(one for one in found if isinstance(one, Relation)),
            )
            for _, found in said
        )
        return dataclasses.replace(plain, extractions=tuple(extractions))

    return make


def update(graph: FalkorGraph, document: Document) -> None:
    reviser = FalkorReviser(graph)
    reviser.stage([document], 1, proceed)
    reviser.swap(document, 1)
    reviser.clear([document.id], 1, proceed)


def chunks_of(store: CandidateStore) -> dict[str, int]:
    return {one.id: one.chunks for one in store.find()}


def test_a_candidate_tells_what_it_is_and_where_it_was_found(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make
) -> None:
    a = undeclared("a", ("Tea.", (TEA,)), ("Tea treats flu.", (TEA, TREATS)))
    writer.write([a, undeclared("b", ("Aspirin.", (ASPIRIN,)))], 1, proceed)
    drug, treats = store.find()
    assert (drug.id, drug.kind, drug.source, drug.target, drug.state) == (DRUG, "entity", "", "", CandidateState.OPEN)
    assert (drug.type, drug.chunks, drug.documents, set(drug.examples)) == ("Drug", 3, 2, {"Tea", "Aspirin"})
    assert (treats.id, treats.kind, treats.type) == (PATTERN, "relation", "TREATS")
    assert (treats.source, treats.target, treats.chunks, treats.documents) == ("Drug", "Disease", 1, 1)
    assert treats.examples == ("Tea TREATS flu",)
    assert store.documents_of([DRUG]) == ["file:a", "file:b"]
    assert store.documents_of([PATTERN, "entity:nothing"]) == ["file:a"]


def test_writing_twice_finds_things_once(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph, dump_graph: Dump
) -> None:
    documents = [undeclared("a", ("Tea.", (TEA, TREATS)))]
    writer.write(documents, 1, proceed)
    before = dump_graph(graph)
    writer.write(documents, 2, proceed)
    assert dump_graph(graph) == before
    assert chunks_of(store) == {DRUG: 1, PATTERN: 1}


def test_a_rejected_candidate_stays_rejected_however_often_it_is_found(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make
) -> None:
    writer.write([undeclared("a", ("Tea.", (TEA, TREATS)))], 1, proceed)
    assert store.set_state([DRUG, "entity:nothing"], CandidateState.REJECTED) == [DRUG]
    writer.write([undeclared("b", ("Aspirin.", (ASPIRIN,)))], 1, proceed)
    assert [one.id for one in store.find(CandidateState.OPEN)] == [PATTERN]
    (rejected,) = store.find(CandidateState.REJECTED)
    assert (rejected.id, rejected.chunks) == (DRUG, 2)
    assert store.find(CandidateState.APPROVED) == []


def test_finds_go_with_the_last_passage_and_decisions_do_not(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph
) -> None:
    writer.write([undeclared("a", ("Tea.", (TEA,))), undeclared("b", ("Aspirin.", (ASPIRIN,)))], 1, proceed)
    store.set_state([DRUG], CandidateState.REJECTED)
    reviser = FalkorReviser(graph)
    for left, name in ((1, "file:a"), (0, "file:b")):
        assert reviser.retire(name, 1)
        assert chunks_of(store).get(DRUG, 0) == left
        reviser.clear([name], 1, proceed)
        assert chunks_of(store).get(DRUG, 0) == left
    assert graph.ro_query("MATCH ()-[x:FOUND_IN]->() RETURN count(x)") == [[0]]
    writer.write([undeclared("c", ("Tea.", (TEA,)))], 1, proceed)
    assert store.find(CandidateState.OPEN) == []


@pytest.mark.parametrize("fingerprint", ["f1", "f2"])
def test_an_update_finds_what_the_new_version_says(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph, fingerprint: str
) -> None:
    writer.write([undeclared("a", ("Tea.", (TEA,)), ("Flu.", (TREATS,)))], 1, proceed)
    new = undeclared("a", ("More tea.", (TEA,)), ("Tea.", (TEA,)), fingerprint=fingerprint)
    reviser = FalkorReviser(graph)
    reviser.stage([new], 1, proceed)
    assert chunks_of(store) == {DRUG: 1, PATTERN: 1}
    reviser.swap(new, 1)
    assert chunks_of(store) == {DRUG: 2}
    reviser.clear([new.id], 1, proceed)
    assert chunks_of(store) == {DRUG: 2}
    assert graph.ro_query("MATCH ()-[x:FOUND_IN]->() RETURN count(x)") == [[2]]


def test_what_other_settings_declare_is_no_find_any_more(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph
) -> None:
    writer.write([undeclared("a", ("Tea.", (TEA,)))], 1, proceed)
    update(graph, undeclared("a", ("Tea.", ()), fingerprint="f2"))
    assert store.find() == []
    assert store.documents_of([DRUG]) == []


def test_a_write_that_stops_half_way_is_not_counted_and_leaves_no_find(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph
) -> None:
    document = undeclared("a", ("Tea.", (TEA,)), ("Flu.", (TREATS,)))
    steps = 0

    def stop_after(left: int) -> Callable[[], None]:
        def progress() -> None:
            nonlocal steps
            steps += 1
            if steps > left:
                raise LeaseLost("killed")

        return progress

    stopped = 0
    for left in range(20):
        steps = 0
        try:
            writer.write([document], 1, stop_after(left))
        except LeaseLost:
            stopped += 1
            assert store.find() == []
        else:
            break
        other = dataclasses.replace(undeclared("a", ("Nothing.", ())), fingerprint="f2")
        writer.write([other], 1, proceed)
        assert graph.ro_query("MATCH ()-[x:FOUND_IN]->() RETURN count(x)") == [[0]]
        FalkorReviser(graph).retire(other.id, 1)
        FalkorReviser(graph).clear([other.id], 1, proceed)
    assert stopped >= 3
    assert chunks_of(store) == {DRUG: 1, PATTERN: 1}


def test_a_crash_at_any_query_of_an_update_changes_nothing_of_what_is_found_in_the_end(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = undeclared("a", ("Tea.", (TEA,)), ("Flu.", (TREATS,)))
    new = undeclared("a", ("More tea.", (TEA,)), ("Tea.", (TEA,)), fingerprint="f2")
    query, left = FalkorGraph.query, 0

    def crash(self: FalkorGraph, *args: Any, **parameters: Any) -> list[list[Any]]:
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError
        return query(self, *args, **parameters)

    for step in range(100):
        writer.write([old], 1, proceed)
        left = step
        with monkeypatch.context() as patch:
            patch.setattr(FalkorGraph, "query", crash)
            try:
                update(graph, new)
            except ConnectionError:
                assert chunks_of(store) in ({DRUG: 1, PATTERN: 1}, {DRUG: 2})
            else:
                break
        update(graph, new)
        assert chunks_of(store) == {DRUG: 2}
        assert graph.ro_query("MATCH ()-[x:FOUND_IN]->() RETURN count(x)") == [[2]]
        FalkorReviser(graph).retire(new.id, 1)
        FalkorReviser(graph).clear([new.id], 1, proceed)
    assert step > 10


def test_a_write_of_the_past_finds_nothing(writer: FalkorWriter, store: CandidateStore, undeclared: Make) -> None:
    writer.raise_fence(2, exclusive=True)
    with pytest.raises(LeaseLost):
        writer.write([undeclared("a", ("Tea.", (TEA,)))], 1, proceed)
    assert store.find() == []


def test_many_writers_find_one_candidate(
    writer: FalkorWriter, store: CandidateStore, undeclared: Make, graph: FalkorGraph, graph_server: Any
) -> None:
    documents = [undeclared(f"doc {number}", ("Tea.", (TEA, TREATS))) for number in range(8)]
    graphs = [connect(graph_server.url, graph.name) for _ in documents]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one, own: FalkorWriter(own).write([one], 1, proceed), documents, graphs))
    for own in graphs:
        own.close()
    assert [(one.id, one.chunks, one.documents) for one in store.find()] == [(DRUG, 8, 8), (PATTERN, 8, 8)]


def test_candidates_are_no_part_of_what_a_graph_says(
    writer: FalkorWriter, undeclared: Make, make_document: Make, graph: FalkorGraph
) -> None:
    inspector, curator = FalkorInspector(graph), FalkorCurator(graph)
    plain = make_document("a", ("Tea.", [], []))
    writer.write([plain], 1, proceed)
    said, counted = inspector.fingerprint(), curator.counts()
    writer.drop()
    writer.prepare(DEFAULT_ONTOLOGY)
    writer.write([undeclared("a", ("Tea.", (TEA, TREATS)))], 1, proceed)
    assert (inspector.fingerprint(), curator.counts()) == (said, counted)
    assert list(inspector.faults()) == []


def test_a_graph_that_is_missing_has_no_candidates_and_is_not_made(store: CandidateStore, graph: FalkorGraph) -> None:
    for ask in (store.find, lambda: store.documents_of([DRUG]), lambda: store.set_state([DRUG], CandidateState.OPEN)):
        with pytest.raises(GraphMissing):
            ask()
    assert graph.name not in graph.names()
