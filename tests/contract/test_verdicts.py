"""What judges think of pairs of entities: kept by pair, a person's word above all, forgotten with the entities."""

import random

import pytest
from merging import ACME, ADA, GROUP, INITECH, LTD, Graph, Make, make_corpus

from pipeline.adapters.falkor import FalkorGraph, FalkorReviser, FalkorWriter
from pipeline.errors import LeaseLost
from pipeline.models.judging import PERSON, Judged, Pair, Verdict, pair_of

ONE, OTHER = pair_of(ACME, LTD), pair_of(ACME, GROUP)
LONG = pair_of("a" * 3000, "b" * 3000)


def proceed() -> None:
    """Stands for leases that hold."""


def judge(pair: Pair, verdict: Verdict, judge: str = "rules", reason: str = "why") -> Judged:
    return Judged(pair, verdict, reason, judge)


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter, make_document: Make) -> Graph:
    kb = Graph(graph, writer)
    writer.write(make_corpus(make_document, random.Random(2)), kb.epoch, proceed)
    return kb


def test_a_verdict_is_found_by_its_pair_and_the_newer_one_holds(kb: Graph) -> None:
    assert kb.merges.verdicts([ONE]) == {}
    rows = [
        judge(ONE, Verdict.UNDECIDED),
        judge(LONG, Verdict.SAME),
        judge(OTHER, Verdict.DIFFERENT, "model/x", 'a "b"'),
    ]
    assert kb.merges.put_verdicts(rows, kb.epoch) == 3
    found = kb.merges.verdicts([ONE, LONG, OTHER, (ACME, ADA)])
    assert {pair: stored.judged for pair, stored in found.items()} == {row.pair: row for row in rows}
    assert all(stored.at > 0 for stored in found.values())
    again = judge(ONE, Verdict.SAME, "model/x")
    assert kb.merges.put_verdicts([again, again], kb.epoch) == 1
    assert kb.merges.verdicts([ONE])[ONE].judged == again
    assert kb.count("__Verdict__") == 3


def test_only_a_person_changes_what_a_person_said(kb: Graph) -> None:
    kb.merges.put_verdicts([judge(ONE, Verdict.DIFFERENT, PERSON)], kb.epoch)
    assert kb.merges.put_verdicts([judge(ONE, Verdict.SAME)], kb.epoch) == 0
    assert kb.merges.kept_apart() == {ONE}
    assert kb.merges.put_verdicts([judge(ONE, Verdict.SAME, PERSON)], kb.epoch) == 1
    assert kb.merges.kept_apart() == set()


def test_only_persons_keep_pairs_apart_for_good(kb: Graph) -> None:
    kb.merges.put_verdicts([judge(ONE, Verdict.DIFFERENT), judge(OTHER, Verdict.DIFFERENT, PERSON)], kb.epoch)
    assert kb.merges.kept_apart() == {OTHER}


def test_undecided_pairs_are_listed_with_names_page_by_page_while_both_are_entities(kb: Graph) -> None:
    pairs = sorted(pair_of(ACME, other) for other in (ADA, GROUP, INITECH, LTD))
    rows = [judge(pair, Verdict.UNDECIDED) for pair in [*pairs, pair_of(ACME, "gone__person")]]
    kb.merges.put_verdicts([*rows, judge(pair_of(ADA, LTD), Verdict.SAME)], kb.epoch)
    first = kb.merges.undecided(limit=3)
    rest = kb.merges.undecided(first[-1].judged.pair, limit=3)
    assert [one.judged.pair for one in (*first, *rest)] == pairs
    names = {one.judged.pair: one.names for one in (*first, *rest)}
    assert names[pair_of(ACME, LTD)] == tuple("Acme" if one == ACME else "Acme Ltd" for one in pair_of(ACME, LTD))
    kb.merge(ADA, LTD)
    assert len(kb.merges.undecided()) == 3


def test_verdicts_go_with_their_entities_but_not_with_a_merge_nor_where_a_person_spoke(kb: Graph) -> None:
    gone, kept = pair_of(ACME, "gone__person"), pair_of(ADA, "gone__person")
    rows = [judge(gone, Verdict.SAME), judge(kept, Verdict.DIFFERENT, PERSON), judge(ONE, Verdict.DIFFERENT)]
    kb.merges.put_verdicts(rows, kb.epoch)
    kb.merge(GROUP, LTD)
    assert kb.merges.forget_verdicts(kb.epoch) == 1
    assert set(kb.merges.verdicts([gone, kept, ONE])) == {kept, ONE}
    reviser = FalkorReviser(kb.store)
    for number in range(4):
        reviser.retire(f"file:d{number}", kb.epoch)
        reviser.clear([f"file:d{number}"], kb.epoch, proceed)
    assert kb.merges.forget_verdicts(kb.epoch) == 1
    assert set(kb.merges.verdicts([gone, kept, ONE])) == {kept}


def test_a_stale_epoch_keeps_and_forgets_no_verdict(kb: Graph) -> None:
    kb.merges.put_verdicts([judge(pair_of(ACME, "gone__person"), Verdict.SAME)], 7)
    with pytest.raises(LeaseLost):
        kb.merges.put_verdicts([judge(ONE, Verdict.SAME)], 6)
    with pytest.raises(LeaseLost):
        kb.merges.forget_verdicts(6)
    assert kb.count("__Verdict__") == 1


def test_verdicts_show_in_no_fingerprint_and_no_count(kb: Graph) -> None:
    kb.finalize()
    before = kb.fingerprint(), kb.curator.counts()
    kb.merges.put_verdicts([judge(ONE, Verdict.UNDECIDED)], kb.epoch)
    assert (kb.fingerprint(), kb.curator.counts()) == before
    assert kb.faults() == []
