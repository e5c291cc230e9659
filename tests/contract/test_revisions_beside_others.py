"""What a revision leaves to the other documents: what they say, what they share, and what is written meanwhile."""

import uuid
from collections.abc import Callable

import pytest

from pipeline import ids
from pipeline.adapters.falkor import FalkorCurator, FalkorGraph, FalkorReviser, FalkorWriter, connect
from pipeline.models import Document
from pipeline.ontology import DEFAULT_ONTOLOGY

ADA, ACME, BELL = ("Ada", "Person"), ("Acme", "Organization"), ("Bell", "Organization")
FOUNDED = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])
FOUNDED_LTD = (
    "Ada founded Acme Ltd.", [ADA, ("Acme Ltd", "Organization")], [("Ada", "FOUNDED", "Acme Ltd")]
)  # fmt: skip
JOINED = ("Ada left for Bell.", [ADA, BELL], [("Ada", "JOINED", "Bell")])
KNOWS_NAMES = ("Ada is known at Bell.", [ADA, BELL], [])
QUIET = ("Nothing is said here.", [], [])
APART = (
    "Cleo sold Initech.", [("Cleo", "Person"), ("Initech", "Organization")], [("Cleo", "SOLD", "Initech")]
)  # fmt: skip


def proceed() -> None:
    """Stands for leases that hold."""


def update(reviser: FalkorReviser, document: Document) -> None:
    reviser.stage([document], 1, proceed)
    reviser.swap(document, 1)
    reviser.clear([document.id], 1, proceed)


def delete(reviser: FalkorReviser, document_id: str) -> None:
    reviser.retire(document_id, 1)
    reviser.clear([document_id], 1, proceed)


def derive(graph: FalkorGraph) -> None:
    """Do finalize's part."""
    curator = FalkorCurator(graph)
    for kind, act in (("entity", curator.derive_entities), ("relation", curator.derive_relations)):
        act([one.id for one in curator.pending(kind, -1, 1000)], 1)
    for kind in ("entity", "relation", "chunk"):
        curator.clear_pending(curator.pending(kind, -1, 1000), 1)


def passage_ids(*documents: Document) -> list[str]:
    return sorted(ids.chunk_id(one.id, chunk.text, chunk.occurrence) for one in documents for chunk in one.chunks)


def sources(graph: FalkorGraph) -> list[str]:
    ((found,),) = graph.ro_query("MATCH (:Person)-[x:RELATES {rel_type: 'FOUNDED'}]->() RETURN x.source_chunk_ids")
    return sorted(found)


# Facts


@pytest.mark.parametrize("gone", [0, 1])
@pytest.mark.parametrize("merged", [False, True])
def test_a_fact_of_two_documents_names_the_passages_of_both_and_then_those_of_the_one_that_stays(
    gone, merged, graph, writer, reviser, make_document
) -> None:
    documents = [make_document("a", FOUNDED), make_document("b", FOUNDED_LTD if merged else FOUNDED)]
    for document in documents:
        writer.write([document], 1, proceed)
    if merged:
        assert FalkorCurator(graph).merge("acme__organization", "acme ltd__organization", 1)
        assert sources(graph) == passage_ids(*documents), "readers need not wait for the finalize"
    derive(graph)
    assert sources(graph) == passage_ids(*documents)
    delete(reviser, documents.pop(gone).id)
    assert sources(graph) == passage_ids(*documents), "readers need not wait for the finalize"
    derive(graph)
    assert sources(graph) == passage_ids(*documents)


def test_a_fact_that_only_replaced_passages_state_goes_although_both_ends_stay(
    graph, writer, reviser, make_document
) -> None:
    writer.write([make_document("a", JOINED, QUIET), make_document("b", KNOWS_NAMES)], 1, proceed)
    assert graph.ro_query("MATCH ()-[x:RELATES]->() RETURN x.rel_type") == [["JOINED"]]
    update(reviser, make_document("a", KNOWS_NAMES, QUIET))
    assert graph.ro_query("MATCH ()-[x:RELATES|__SUPPORT__]->() RETURN x.rel_type") == []
    entities = "MATCH (e:__Entity__)-[:MENTIONED_IN]->(c) RETURN e.id, c.document_id ORDER BY e.id, c.document_id"
    assert graph.ro_query(entities) == [
        [one, of] for one in ("ada__person", "bell__organization") for of in ("file:a", "file:b")
    ]


# Other documents


def test_what_a_changed_and_a_removed_document_do_not_mention_is_not_touched(
    graph, writer, reviser, make_document
) -> None:
    writer.write(
        [make_document("a", FOUNDED), make_document("b", JOINED), make_document("c", APART, QUIET)], 1, proceed
    )
    derive(graph)
    for elements in ("(e:Chunk)", "(e:__Entity__)", "()-[e:RELATES]->()"):
        graph.query(f"MATCH {elements} SET e.embedding = vecf32([1, 2]), e.embedded_hash = 'h'")
    mine = "n.id = 'file:c' OR n.document_id = 'file:c' OR n.id STARTS WITH 'cleo' OR n.id STARTS WITH 'initech'"
    nodes = f"MATCH (n) WHERE {mine} RETURN ID(n), labels(n), properties(n) ORDER BY ID(n)"
    edges = f"MATCH (n)-[x]->(m) WHERE {mine} RETURN ID(x), type(x), properties(x), ID(m) ORDER BY ID(x)"
    before = (graph.ro_query(nodes), graph.ro_query(edges))
    assert [len(found) for found in before] == [5, 7]
    update(reviser, make_document("a", JOINED))
    delete(reviser, "file:b")
    derive(graph)
    assert (graph.ro_query(nodes), graph.ro_query(edges)) == before


# Meanwhile


def between_queries(graph, monkeypatch, act: Callable[[], None], other: Callable[[], None]):
    """Do one thing with another in front of each of its queries that change something, one after the other."""
    original = type(graph).query
    step, done, at_work = 0, 0, False

    def interrupt(self, *args, **parameters):
        nonlocal done, at_work
        if not at_work:
            if done == step:
                at_work = True
                other()
                at_work = False
            done += 1
        return original(self, *args, **parameters)

    while True:
        yield step
        done = 0
        monkeypatch.setattr(type(graph), "query", interrupt)
        act()
        monkeypatch.undo()
        if done <= step:
            return
        step += 1


@pytest.mark.parametrize("meanwhile", ["written", "updated", "removed", "removed and finalized"])
def test_whatever_step_of_an_update_another_document_comes_between_both_keep_what_they_share(
    meanwhile, graph, writer, reviser, make_document, dump_graph, graph_server, monkeypatch
) -> None:
    # Both ends of the fact that is no longer stated stay.
    names = ("Ada is known at Acme.", [ADA, ACME], [])
    old, new = make_document("a", FOUNDED, JOINED), make_document("a", names, JOINED)
    before = {"written": [], "updated": [make_document("b", JOINED)]}.get(meanwhile, [make_document("b", FOUNDED)])
    other = make_document("b", FOUNDED, FOUNDED_LTD)
    acts = {
        "written": lambda: writer.write([other], 1, proceed),
        "updated": lambda: update(reviser, other),
        "removed": lambda: delete(reviser, other.id),
        "removed and finalized": lambda: (delete(reviser, other.id), derive(graph)),
    }
    stays = meanwhile in {"written", "updated"}
    expected = fresh(graph_server, dump_graph, [new, other] if stays else [new])
    steps = 0
    for step in between_queries(graph, monkeypatch, lambda: update(reviser, new), acts[meanwhile]):
        if step:
            facts = graph.ro_query("MATCH ()-[x:RELATES]->(e) RETURN x.rel_type, e.id")
            assert ["JOINED", "bell__organization"] in facts
            assert ["FOUNDED", "acme__organization"] in facts or not stays, (
                "what is stated needs no finalize to be there"
            )
            derive(graph)
            assert dump_graph(graph) == expected, f"before query {step - 1} of the update"
            steps = step
        graph.query("MATCH (n) WHERE n.epoch IS NULL DETACH DELETE n")
        writer.write([old, *before], 1, proceed)
        derive(graph)
    assert steps > 10


def fresh(graph_server, dump_graph, documents: list[Document]) -> list[str]:
    """Tell what a graph says that never held anything else."""
    graph = connect(graph_server.url, f"fresh-{uuid.uuid4().hex}")
    writer = FalkorWriter(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    writer.write(documents, 1, proceed)
    derive(graph)
    said = dump_graph(graph)
    writer.drop()
    graph.close()
    return said
