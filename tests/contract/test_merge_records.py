"""What is told of merges: why, when, what collided; what each member brought; and what judges see of entities."""

import dataclasses
import random

import numpy as np
import pytest
from merging import ACME, ADA, GROUP, LTD, NO_PLACE, Graph, Make, make_corpus, proceed

from pipeline.adapters.falkor import FalkorGraph, FalkorWriter
from pipeline.models import Extraction, Mention
from pipeline.models.judging import Named
from pipeline.ports.merges import Collision, MergeReason

FIRM = [("Acme", "Organization"), ("Acme Ltd", "Organization"), ("Acme Group", "Organization"), ("Ada", "Person")]
DIMENSION = 3


@pytest.fixture
def kb(graph: FalkorGraph, writer: FalkorWriter, make_document: Make) -> Graph:
    kb = Graph(graph, writer)
    said = ("Today, Ada left Acme for Acme Ltd of the Acme Group.", FIRM, [("Ada", "LEFT", "Acme")])
    again = ("Ada left Acme Ltd.", [FIRM[1], FIRM[3]], [("Ada", "LEFT", "Acme Ltd")])
    writer.write([make_document("a", said), make_document("b", again, said)], kb.epoch, proceed)
    kb.finalize()
    return kb


def test_a_merge_tells_why_when_and_what_it_united(kb: Graph) -> None:
    kb.store.query("MATCH (e:Organization) SET e.born = size(e.name), e.home = 'Ely'")
    why = MergeReason("judged", "one name", 7, "rules")
    assert kb.curator.merge(ACME, LTD, kb.epoch, why)
    assert kb.curator.merge(GROUP, ACME, kb.epoch, MergeReason(number=8))
    first, second = sorted(kb.merges.merges(), key=lambda one: one.at)
    assert (first.id, first.into, first.name, first.into_name, first.label) == (
        LTD, ACME, "Acme Ltd", "Acme", "Organization"
    )  # fmt: skip
    assert first.why == why
    told, relation = first.collisions
    assert told == Collision("property", "born", 4, 8)
    assert (relation.kind, relation.name.split("\x1f")) == ("relation", [ADA, "LEFT", ACME])
    assert relation.dropped == "Ada left Acme Ltd."
    assert second.collisions == (Collision("property", "born", 10, 4),)
    assert second.at > first.at > 0
    assert kb.merges.merges(number=8) == [second]
    listed = kb.merges.merges(limit=1)
    assert [*listed, *kb.merges.merges(listed[-1].id, 1)] == sorted((first, second), key=lambda one: one.id)


def test_dropped_values_of_several_merges_are_all_kept(kb: Graph) -> None:
    kb.store.query("MATCH (e:Organization) SET e.born = size(e.name), e.share = 0.1 + 0.2")
    kb.merge(ACME, LTD)
    kb.merge(GROUP, ACME)
    ((born, dropped, error),) = kb.store.ro_query(
        "MATCH (e:Organization) RETURN e.born, e.born__dropped, e.share - 0.3 <> 0"
    )
    assert (born, sorted(dropped), error) == (10, [4, 8], True)


def test_an_explanation_shows_what_each_member_brought(kb: Graph) -> None:
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.home = 'Ely'", id=LTD)
    kb.merge(ACME, LTD)
    kb.merge(GROUP, ACME)
    told = kb.merges.explain(LTD)
    assert told is not None
    assert told == kb.merges.explain(GROUP) == kb.merges.explain(ACME)
    assert (told.id, [one.id for one in told.merges]) == (GROUP, [LTD, ACME])
    assert [(one.id, one.name, one.mentions) for one in told.members] == [
        (GROUP, "Acme Group", 2), *sorted([(ACME, "Acme", 2), (LTD, "Acme Ltd", 3)])
    ]  # fmt: skip
    ltd = next(one for one in told.members if one.id == LTD)
    assert ltd.properties == {"home": "Ely"}
    place = ltd.places[0]
    assert (place.document, place.source, place.start, place.end) == ("file:a", "a", 25, 33)
    assert place.quote == "Today, Ada left Acme for Acme Ltd of the Acme Group."
    shorter = kb.merges.explain(LTD, places=1)
    assert shorter is not None
    assert {len(one.places) for one in shorter.members} == {1}


def test_what_was_never_merged_is_explained_by_its_own_mentions_and_what_never_was_not_at_all(kb: Graph) -> None:
    told = kb.merges.explain(ADA)
    assert told is not None
    assert (told.name, told.merges, [(one.id, one.facts) for one in told.members]) == ("Ada", (), [(ADA, 3)])
    assert kb.merges.explain("nobody__person") is None


# What judges see


def test_judges_see_all_that_entities_say_of_themselves(kb: Graph) -> None:
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1960", id=ACME)
    kb.store.query("MATCH (e:__Entity__ {id: $id}) SET e.born = 1961", id=LTD)
    kb.merge(ACME, LTD)
    assert kb.merges.named([ACME, LTD, "nobody__person"]) == [
        Named(
            *(ACME, "Organization", "Acme", ("Acme Ltd",)),
            description="Acme in: Today, Ada left Acme for Acme Ltd of the Acme Group.",
            properties={"born": 1960},
            degree=6,
            pending=True,
        )
    ]
    kb.merge(ADA, ACME)
    assert kb.merges.named([ADA])[0].merged_labels == ("Organization",)


def test_names_are_listed_page_by_page(kb: Graph) -> None:
    kb.curator.set_vectors("entity", [(ACME, "h", np.ones(DIMENSION, np.float32))], kb.epoch)
    pages = [kb.merges.names(NO_PLACE, 3)]
    while pages[-1].ids:
        pages.append(kb.merges.names(pages[-1].last, 3))
    assert [len(page.ids) for page in pages] == [3, 1, 0]
    found = {
        one: (page.labels[i], page.names[i], page.embedded_hashes[i], bool(page.pending[i]))
        for page in pages
        for i, one in enumerate(page.ids)
    }
    assert found == {
        ACME: ("Organization", "Acme", "h", False),
        LTD: ("Organization", "Acme Ltd", "", False),
        GROUP: ("Organization", "Acme Group", "", False),
        ADA: ("Person", "Ada", "", False),
    }
    kb.merge(ACME, LTD)
    assert kb.merges.names(NO_PLACE, 9).pending.tolist().count(True) == 1


def test_vectors_of_names_run_parallel_to_the_ids_asked_for(kb: Graph) -> None:
    rows = dict(zip((ACME, LTD), np.eye(DIMENSION, dtype=np.float32), strict=False))
    kb.curator.set_vectors("entity", [(one, "h", vector) for one, vector in rows.items()], kb.epoch)
    kb.curator.set_vectors("entity", [(GROUP, "h", np.ones(DIMENSION + 1, np.float32))], kb.epoch)
    vectors = kb.merges.name_vectors([ADA, LTD, "nobody__person", GROUP, ACME, LTD], DIMENSION)
    nothing = [0, 0, 0]
    assert vectors.tolist() == [nothing, [0, 1, 0], nothing, nothing, [1, 0, 0], [0, 1, 0]]
    assert vectors.dtype == np.float32


def test_entities_are_pending_until_a_finalize_has_looked_at_them(kb: Graph, make_document: Make) -> None:
    kb.writer.write(make_corpus(make_document, random.Random(1), documents=1), kb.epoch, proceed)
    assert any(one.pending for one in kb.merges.named([ACME, LTD, GROUP, ADA]))
    kb.finalize()
    assert not any(one.pending for one in kb.merges.named([ACME, LTD, GROUP, ADA]))


def test_a_value_of_another_kind_or_with_more_digits_hinders_no_merge(kb: Graph) -> None:
    pairs = [("1", "true"), ("'a'", "['a']"), ("0.3", "0.1 + 0.2"), ("1", "1.0"), ("['a']", "[1, 'a']")]
    for place, (one, other) in enumerate(pairs):
        kb.store.query(f"MATCH (e:__Entity__ {{id: $id}}) SET e.p{place} = {one}", id=ACME)
        kb.store.query(f"MATCH (e:__Entity__ {{id: $id}}) SET e.p{place} = {other}", id=LTD)
    kb.merge(ACME, LTD)
    ((found, dropped),) = kb.store.ro_query(
        "MATCH (e:__Entity__ {id: $id}) RETURN [e.p0, e.p1, e.p2, e.p3, e.p4], [e.p0__dropped, e.p1__dropped]", id=ACME
    )
    assert found == [1, "a", 0.3, 1, ["a", 1]]
    assert dropped == [[True], ["a"]]


def test_what_mentions_tell_differently_collides_before_it_is_derived(
    graph: FalkorGraph, writer: FalkorWriter, make_document: Make
) -> None:
    kb = Graph(graph, writer)
    plain = make_document("t", ("Acme is 4.", [], []), ("Acme Ltd is 8.", [], []))
    said = (
        Extraction((Mention(name, "Organization", 0, 4, properties=told),))
        for name, told in (("Acme", '{"age":4,"home":"Ely"}'), ("Acme Ltd", '{"age":8,"home":"Ely"}'))
    )
    kb.writer.write([dataclasses.replace(plain, extractions=tuple(said))], kb.epoch, proceed)
    kb.merge(ACME, LTD)
    (record,) = kb.merges.merges()
    assert record.collisions == (Collision("property", "age", 4, 8),)
    told = kb.merges.explain(ACME)
    assert told is not None
    assert [one.properties["age"] for one in told.members] == [4, 8]
