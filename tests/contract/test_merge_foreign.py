"""Edges that others have written live through merges and renames, and an undo gives them back."""

import random
from typing import Any

import pytest
from merging import ACME, ADA, ELY, GROUP, INITECH, LTD, NAMES, Graph, Make, make_corpus, proceed

from pipeline import ids
from pipeline.adapters.falkor import FalkorGraph, FalkorWriter

_EDGES = """
MATCH (a:__Entity__)-[x]->(b:__Entity__) WHERE x.by IS NOT NULL
RETURN a.id, type(x), b.id, [k IN keys(x) WHERE k <> 'by' | [k, x[k]]], x.by
"""
_OURS = """
MATCH (a:__Entity__)-[x:RELATES]->(b:__Entity__) WHERE x.by IS NULL
RETURN a.id, x.rel_type, b.id, x.fact, x.source_chunk_ids
"""


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter) -> Graph:
    return Graph(graph, writer)


def relate(kb: Graph, one: str, kind: str, other: str, **said: Any) -> None:
    """Let another writer add an edge; `RELATES` where `kind` is in capitals with a colon before it."""
    edge = "RELATES" if kind.startswith(":") else kind
    told = {**said, "by": "others"} | ({"rel_type": kind[1:]} if kind.startswith(":") else {})
    spelled = ", ".join(f"{name}: ${name}" for name in told)
    cypher = (
        f"MATCH (a:__Entity__ {{id: $one}}) MATCH (b:__Entity__ {{id: $other}}) CREATE (a)-[:{edge} {{{spelled}}}]->(b)"
    )
    kb.store.query(cypher, one=one, other=other, **told)


def list_foreign(kb: Graph) -> list[Any]:
    return sorted([a, kind, b, sorted(map(repr, told))] for a, kind, b, told, _ in kb.store.ro_query(_EDGES))


def list_ours(kb: Graph) -> list[Any]:
    return sorted(kb.store.ro_query(_OURS), key=repr)


@pytest.fixture
def plain(kb: Graph, make_document: Make) -> Graph:
    """Each of `NAMES` in one passage, and a fact of ours."""
    said = ("Ada of Acme, Acme Ltd, Acme Group, Initech, Ely.", NAMES, [("Acme Ltd", "OWNS", "Initech")])
    kb.writer.write([make_document("a", said)], kb.epoch, proceed)
    kb.finalize()
    return kb


def test_a_relation_of_another_writer_lives_through_a_merge_a_rename_and_an_undo(
    plain: Graph, make_document: Make
) -> None:
    kb = plain
    relate(kb, LTD, ":LEADS", ELY, fact="Acme Ltd leads Ely", description="x", conf=0.1 + 0.2, source_chunk_ids=["k"])
    relate(kb, ADA, ":KNOWS", LTD, description="y")
    before, ours = list_foreign(kb), list_ours(kb)
    kb.merge(ACME, LTD)
    kb.finalize()
    assert [row[:3] for row in list_foreign(kb)] == [[ACME, "RELATES", ELY], [ADA, "RELATES", ACME]]
    assert kb.merges.choose(ACME, "Acme Ltd", {}, kb.epoch)
    kb.finalize()
    assert len(list_foreign(kb)) == 2
    assert kb.merges.undo(LTD, kb.epoch)
    kb.finalize()
    assert (list_foreign(kb), list_ours(kb)) == (before, ours)
    ((exact,),) = kb.store.ro_query("MATCH ()-[x:RELATES]->() WHERE x.conf IS NOT NULL RETURN x.conf - 0.3 <> 0")
    assert exact


def test_a_renamed_entity_keeps_a_relation_that_no_passage_states(kb: Graph, make_document: Make) -> None:
    kb.writer.write(
        [make_document("a", ("ACME of Ely.", [("ACME", "Organization"), NAMES[-1]], []))], kb.epoch, proceed
    )
    kb.finalize()
    relate(kb, ACME, ":LEADS", ELY)
    more = [make_document(name, ("Acme.", [("Acme", "Organization")], [])) for name in "bcd"]
    kb.writer.write(more, kb.epoch, proceed)
    kb.finalize()
    assert kb.store.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.name", id=ACME) == [["Acme"]]
    assert [row[:3] for row in list_foreign(kb)] == [[ACME, "RELATES", ELY]]


def test_parallel_edges_keep_what_each_of_them_says(plain: Graph) -> None:
    kb = plain
    for since in (1999, 2004):
        relate(kb, ELY, "PARTNER", LTD, since=since)
    relate(kb, ELY, "PARTNER", ACME, since=1960)
    before = list_foreign(kb)
    kb.merge(ACME, LTD)
    found = kb.store.ro_query("MATCH (:Location)-[x:PARTNER]->(e:__Entity__) RETURN e.id, x.since ORDER BY x.since")
    assert found == [[ACME, 1960], [ACME, 1999], [ACME, 2004]]
    assert kb.merges.undo(LTD, kb.epoch)
    assert list_foreign(kb) == before


def test_edges_between_the_two_and_loops_come_back_with_an_undo(plain: Graph) -> None:
    kb = plain
    relate(kb, ACME, "PARTNER", LTD, since=1)
    relate(kb, LTD, ":LEADS", ACME, conf=2)
    relate(kb, LTD, "PARTNER", LTD, since=3)
    relate(kb, ACME, "PARTNER", ACME, since=4)
    before = list_foreign(kb)
    kb.merge(ACME, LTD)
    kb.finalize()
    assert [row[:3] for row in list_foreign(kb)] == [[ACME, "PARTNER", ACME]]
    assert kb.merges.undo(LTD, kb.epoch)
    kb.finalize()
    assert list_foreign(kb) == before


def test_a_relation_that_both_have_is_told_as_a_collision_and_comes_back_with_an_undo(plain: Graph) -> None:
    kb = plain
    relate(kb, ACME, ":LEADS", ELY, description="long ago", source_chunk_ids=["j"])
    relate(kb, LTD, ":LEADS", ELY, description="today", conf=1, source_chunk_ids=["k"])
    kb.merge(ACME, LTD)
    kb.finalize()
    (record,) = kb.merges.merges()
    key = ids.relation_key(ACME, "LEADS", ELY)
    assert [(one.name, one.kept, one.dropped) for one in record.collisions] == [(key, "long ago", "today")]
    cypher = "MATCH (a:__Entity__)-[x:RELATES {rel_type: 'LEADS'}]->() RETURN a.id, x.description, x.source_chunk_ids"
    assert kb.store.ro_query(cypher) == [[ACME, "long ago", ["j", "k"]]]
    assert kb.merges.undo(LTD, kb.epoch)
    found = sorted(kb.store.ro_query(cypher))
    assert found == sorted([[ACME, "long ago", ["j", "k"]], [LTD, "today", ["k"]]])


def test_a_fact_that_passages_and_others_state_stays_ours(plain: Graph) -> None:
    kb = plain
    relate(kb, ACME, ":OWNS", INITECH, description="they say")
    kb.merge(ACME, LTD)
    kb.finalize()
    cypher = "MATCH (:__Entity__ {id: $id})-[x:RELATES]->() RETURN x.description, size(x.source_chunk_ids)"
    ((description, chunks),) = kb.store.ro_query(cypher, id=ACME)
    assert (description != "they say", chunks) == (True, 1)
    assert kb.faults() == []


@pytest.mark.parametrize("seed", range(4))
def test_undoing_any_merges_in_any_order_gives_all_edges_back(kb: Graph, make_document: Make, seed: int) -> None:
    chance = random.Random(seed)
    kb.writer.write(make_corpus(make_document, chance), kb.epoch, proceed)
    everyone = [ids.entity_id(*one) for one in NAMES]
    for number in range(14):
        one, other = chance.choice(everyone), chance.choice(everyone)
        relate(kb, one, chance.choice(["PARTNER", "SEEN", ":MET", ":LED"]), other, number=number)
    kb.finalize()
    before, ours, fingerprint = list_foreign(kb), list_ours(kb), kb.fingerprint()
    merged = []
    while len(living := kb.living()) > 2:
        survivor, duplicate = chance.sample(living, 2)
        kb.merge(survivor, duplicate)
        merged.append(duplicate)
        if chance.random() < 0.5:
            kb.finalize()
    for duplicate in chance.sample(merged, len(merged)):
        assert kb.merges.undo(duplicate, kb.epoch)
    kb.finalize()
    assert list_foreign(kb) == before
    assert list_ours(kb) == ours
    assert kb.fingerprint() == fingerprint
    assert GROUP in kb.living()
