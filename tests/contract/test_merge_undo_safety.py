"""An undo is for good, survives crashes, and minds what others have written meanwhile."""

import random
from collections.abc import Callable

import pytest
from merging import ACME, ADA, ELY, GROUP, INITECH, LTD, NAMES, Graph, Make, make_corpus, proceed, write_chain

from pipeline.adapters.falkor import FalkorGraph, FalkorReviser, FalkorWriter, undo
from pipeline.errors import GraphUnavailable, LeaseLost
from pipeline.models.judging import PERSON, Verdict, pair_of
from pipeline.ontology import DEFAULT_ONTOLOGY


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter) -> Graph:
    return Graph(graph, writer)


def test_an_undone_pair_is_kept_apart_wherever_its_entities_go(kb: Graph, make_document: Make) -> None:
    write_chain(kb, make_document)
    assert kb.merges.undo(LTD, kb.epoch)
    (verdict,) = kb.merges.verdicts([(ACME, LTD)]).values()
    assert (verdict.judged.verdict, verdict.judged.judge) == (Verdict.DIFFERENT, PERSON)
    assert kb.merges.kept_apart() == {pair_of(GROUP, LTD)}
    kb.merge(LTD, INITECH)
    kb.merge(ADA, LTD)
    assert kb.merges.kept_apart() == {pair_of(GROUP, ADA)}


def test_an_undo_that_dies_on_the_way_is_ended_by_the_next_finalize(
    kb: Graph, make_document: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(3)), kb.epoch, proceed)
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ACME, LTD)
    kb.finalize()

    def die(*_: object, **__: object) -> int:
        raise GraphUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(undo, "derive_entities", die)
        with pytest.raises(GraphUnavailable):
            kb.merges.undo(LTD, kb.epoch)
    assert not kb.merges.undo(LTD, kb.epoch)
    assert kb.merges.kept_apart() == {pair_of(ACME, LTD)}
    kb.finalize()
    assert kb.fingerprint() == before


def test_an_undo_with_a_stale_epoch_or_of_nothing_changes_nothing(
    kb: Graph, make_document: Make, dump_graph: Callable[[FalkorGraph], list[str]]
) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(3)), 5, proceed)
    kb.epoch = 5
    kb.merge(ACME, LTD)
    before = dump_graph(kb.store)
    with pytest.raises(LeaseLost):
        kb.merges.undo(LTD, 4)
    assert not kb.merges.undo(ACME, 5)
    assert not kb.merges.undo("nobody__person", 5)
    assert dump_graph(kb.store) == before


def test_documents_that_come_and_go_while_things_are_merged_are_as_if_they_had_never_been(
    kb: Graph, make_document: Make
) -> None:
    documents = make_corpus(make_document, random.Random(4), documents=6)
    kb.writer.write(documents[:3], kb.epoch, proceed)
    kb.finalize()
    kb.merge(ACME, LTD)
    kb.merge(INITECH, ACME)
    kb.writer.write(documents[3:], kb.epoch, proceed)
    reviser = FalkorReviser(kb.store)
    reviser.retire(documents[0].id, kb.epoch)
    reviser.clear([documents[0].id], kb.epoch, proceed)
    kb.finalize()
    assert kb.merges.undo(ACME, kb.epoch)
    kb.writer.write(documents[:1], kb.epoch, proceed)
    assert kb.merges.undo(LTD, kb.epoch)
    kb.finalize()
    undone = kb.fingerprint()
    kb.writer.drop()
    kb.writer.prepare(DEFAULT_ONTOLOGY)
    kb.writer.write(documents, kb.epoch, proceed)
    kb.finalize()
    assert kb.fingerprint() == undone


def test_a_merge_into_what_is_gone_can_be_undone(kb: Graph, make_document: Make) -> None:
    document = make_document("a", ("Acme and Acme Ltd.", [("Acme", "Organization"), ("Acme Ltd", "Organization")], []))
    kb.writer.write([document], kb.epoch, proceed)
    kb.merge(ACME, LTD)
    reviser = FalkorReviser(kb.store)
    reviser.retire(document.id, kb.epoch)
    reviser.clear([document.id], kb.epoch, proceed)
    assert kb.living() == []
    assert kb.merges.undo(LTD, kb.epoch)
    assert (kb.count("__Merged__"), kb.count("__Unmerged__"), kb.living()) == (0, 0, [])
    kb.writer.write([document], kb.epoch, proceed)
    assert kb.living() == sorted([ACME, LTD])


def test_what_others_write_after_a_merge_stays_and_what_they_wrote_before_goes_back(
    kb: Graph, make_document: Make
) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(2)), kb.epoch, proceed)
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1960, e.seat = 'Ely', e.tags = ['a']", id=LTD)
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1961, e.tags = ['b']", id=ACME)
    kb.merge(ACME, LTD)
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1962, e.colour = 'red'", id=ACME)
    kb.merge(GROUP, ACME)
    assert kb.merges.undo(ACME, kb.epoch)
    assert kb.merges.undo(LTD, kb.epoch)
    (found,) = kb.store.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.born, e.seat, e.tags, e.colour", id=ACME)
    assert found == [1962, None, ["b"], "red"]
    (found,) = kb.store.ro_query("MATCH (e:__Entity__ {id: $id}) RETURN e.born, e.seat, e.tags, e.colour", id=LTD)
    assert found == [1960, "Ely", ["a"], None]


def test_a_merge_without_copies_of_what_it_united_is_undone_by_its_mentions(kb: Graph, make_document: Make) -> None:
    before = write_chain(kb, make_document)
    kb.store.query("MATCH (o:__Unmerged__) DELETE o")
    kb.finalize()
    for one in (ACME, LTD):
        assert kb.merges.undo(one, kb.epoch)
    kb.finalize()
    assert kb.fingerprint() == before


def test_an_undone_entity_is_found_by_its_labels_again(kb: Graph, make_document: Make) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(2)), kb.epoch, proceed)
    kb.merge(ELY, ACME)
    cypher = "MATCH (e:Organization) WHERE e.id IN $rows RETURN e.id, e.merged_labels ORDER BY e.id"
    assert kb.store.ro_query(cypher, [ACME, ELY]) == [[ELY, ["Organization"]]]
    assert kb.merges.undo(ACME, kb.epoch)
    assert kb.store.ro_query(cypher, [ACME, ELY]) == [[ACME, None]]
    assert len(kb.store.ro_query("MATCH (e:__Entity__) RETURN e.id")) == kb.count("__Entity__") == len(NAMES)
