"""What an undo takes out of a merge: all that belonged to the one, in any order of merges and undos."""

import random

import pytest
from merging import ACME, GROUP, LTD, NAMES, NO_PLACE, Graph, Make, make_corpus, proceed, write_chain, write_foreign

from pipeline.adapters.falkor import FalkorGraph, FalkorWriter


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter) -> Graph:
    return Graph(graph, writer)


@pytest.mark.parametrize("seed", range(6))
def test_undoing_all_of_any_merges_in_any_order_gives_the_graph_of_before(
    kb: Graph, make_document: Make, seed: int
) -> None:
    chance = random.Random(seed)
    kb.writer.write(make_corpus(make_document, chance), kb.epoch, proceed)
    write_foreign(kb.store, chance)
    kb.finalize()
    before = kb.fingerprint()
    merged = []
    while len(living := kb.living()) > chance.randint(1, 3):
        survivor, duplicate = chance.sample(living, 2)
        kb.merge(survivor, duplicate)
        merged.append(duplicate)
        if chance.random() < 0.3:
            kept = {name: chance.choice([survivor, duplicate]) for name in ("age", "born", "home")}
            assert kb.merges.choose(survivor, chance.choice(NAMES)[0], kept, kb.epoch)
        if chance.random() < 0.5:
            kb.finalize()
        assert kb.faults() == []
    kb.finalize()
    assert kb.fingerprint() != before
    for duplicate in chance.sample(merged, len(merged)):
        assert kb.merges.undo(duplicate, kb.epoch)
        assert kb.faults() == []
    kb.finalize()
    assert kb.fingerprint() == before
    assert (kb.count("__Merged__"), kb.count("__Unmerged__")) == (0, 0)


def list_edges(kb: Graph) -> list[list[object]]:
    found = kb.store.ro_query("MATCH (a:__Entity__)-[r:RELATES]->(b) RETURN a.id, r.rel_type, b.id, r.source_chunk_ids")
    return sorted(found)


def test_an_undo_shows_relations_and_passages_at_once_and_leaves_the_rest_to_the_next_finalize(
    kb: Graph, make_document: Make
) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(1)), kb.epoch, proceed)
    kb.finalize()
    before, edges = kb.fingerprint(), list_edges(kb)
    kb.merge(ACME, LTD)
    kb.finalize()
    assert list_edges(kb) != edges
    assert kb.merges.undo(LTD, kb.epoch)
    assert list_edges(kb) == edges
    assert {one.id for one in kb.curator.pending("entity", NO_PLACE, 10)} == {ACME, LTD}
    kb.finalize()
    assert kb.fingerprint() == before


def list_merged(kb: Graph) -> list[list[str]]:
    return sorted(kb.store.ro_query("MATCH (m:__Merged__) RETURN m.id, m.into"))


def list_extracted(kb: Graph, identity: str) -> set[str]:
    cypher = "MATCH (e:__Entity__ {id: $id})-[m:MENTIONED_IN]->() RETURN DISTINCT m.as_id"
    return {one for (one,) in kb.store.ro_query(cypher, id=identity)}


def test_what_leaves_takes_along_what_went_into_it(kb: Graph, make_document: Make) -> None:
    write_chain(kb, make_document)
    assert kb.merges.undo(ACME, kb.epoch)
    assert list_merged(kb) == [[LTD, ACME]]
    assert (list_extracted(kb, ACME), list_extracted(kb, GROUP)) == ({ACME, LTD}, {GROUP})
    kb.finalize()
    assert kb.faults() == []


def test_what_leaves_from_further_down_leaves_alone(kb: Graph, make_document: Make) -> None:
    before = write_chain(kb, make_document)
    assert kb.merges.undo(LTD, kb.epoch)
    assert list_merged(kb) == [[ACME, GROUP]]
    assert (list_extracted(kb, LTD), list_extracted(kb, GROUP)) == ({LTD}, {ACME, GROUP})
    assert kb.merges.undo(ACME, kb.epoch)
    kb.finalize()
    assert kb.fingerprint() == before
