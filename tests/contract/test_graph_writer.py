"""What every graph writer promises, on real servers. Adapters of other stores join the `writer` fixture."""

import dataclasses
from collections.abc import Callable

import pytest

from pipeline.adapters.falkor import FalkorGraph, FalkorWriter
from pipeline.errors import GraphMissing, GraphRejected, LeaseLost
from pipeline.models import Document, Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.ports import GraphWriter

Make = Callable[..., Document]
Dump = Callable[[FalkorGraph], list[str]]

ADA, ACME = ("Ada", "Person"), ("Acme", "Organization")
SAID = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])


def proceed() -> None:
    """Stands for leases that hold."""


@pytest.fixture
def unprepared(graph: FalkorGraph) -> GraphWriter:
    return FalkorWriter(graph)


@pytest.fixture
def writer(unprepared: GraphWriter) -> GraphWriter:
    unprepared.prepare(DEFAULT_ONTOLOGY)
    return unprepared


def test_preparing_twice_changes_nothing(writer: GraphWriter, graph: FalkorGraph, dump_graph: Dump) -> None:
    writer.raise_fence(4, exclusive=False)
    before = dump_graph(graph)
    writer.prepare(DEFAULT_ONTOLOGY)
    assert dump_graph(graph) == before
    assert writer.fence() == 4


def test_a_graph_that_was_never_prepared_is_missing(unprepared: GraphWriter, make_document: Make) -> None:
    with pytest.raises(GraphMissing):
        unprepared.fence()
    with pytest.raises(GraphMissing):
        unprepared.raise_fence(1, exclusive=False)
    with pytest.raises(GraphMissing):
        unprepared.stored(["file:a"])
    with pytest.raises(GraphMissing):
        unprepared.write([make_document("a", SAID)], 1, proceed)


def test_writing_behind_a_lost_fence_says_that_the_graph_is_missing(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    graph.query("MATCH (f:__Fence__) DELETE f")
    with pytest.raises(GraphMissing):
        writer.write([make_document("a", SAID)], 1, proceed)


def test_an_exclusive_raise_is_strict_and_a_shared_one_is_not(writer: GraphWriter) -> None:
    writer.raise_fence(1, exclusive=True)
    writer.raise_fence(1, exclusive=False)
    with pytest.raises(LeaseLost):
        writer.raise_fence(1, exclusive=True)
    with pytest.raises(LeaseLost):
        writer.raise_fence(0, exclusive=False)
    assert writer.fence() == 1


def test_a_write_with_a_stale_epoch_changes_nothing(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make, dump_graph: Dump
) -> None:
    writer.write([make_document("a", SAID)], 3, proceed)
    before = dump_graph(graph)
    with pytest.raises(LeaseLost):
        writer.write([make_document("b", SAID)], 2, proceed)
    assert dump_graph(graph) == before


def test_a_write_raises_the_fence_to_its_epoch(writer: GraphWriter, make_document: Make) -> None:
    writer.write([make_document("a", SAID)], 7, proceed)
    assert writer.fence() == 7


def test_writing_twice_is_writing_once(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make, dump_graph: Dump
) -> None:
    documents = [make_document("a", SAID), make_document("b", SAID, SAID)]
    writer.write(documents, 1, proceed)
    once = dump_graph(graph)
    writer.write(documents, 2, proceed)
    writer.write(documents[1:], 2, proceed)
    assert dump_graph(graph) == once


def test_a_document_listed_twice_in_a_batch_is_written_once(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    writer.write([make_document("a", SAID), make_document("a", SAID)], 1, proceed)
    assert graph.ro_query("MATCH (d:Document) RETURN count(d)") == [[1]]


def test_only_completely_written_documents_are_stored(writer: GraphWriter, make_document: Make) -> None:
    document = make_document("a", SAID)
    calls = 0

    def lose_the_lease_at_the_end() -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise LeaseLost("lost")

    with pytest.raises(LeaseLost):
        writer.write([document], 1, lose_the_lease_at_the_end)
    assert writer.stored([document.id]) == {}

    writer.write([document], 1, proceed)
    stored = writer.stored([document.id, "file:unknown"])
    assert list(stored) == [document.id]
    assert stored[document.id].content_hash == document.content_hash
    assert stored[document.id].fingerprint == document.fingerprint


def test_progress_is_told_between_queries(writer: GraphWriter, make_document: Make) -> None:
    calls: list[None] = []
    writer.write([make_document("a", SAID)], 1, lambda: calls.append(None))
    assert len(calls) >= 3


def test_an_interrupted_write_of_another_version_leaves_no_trace(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    old = make_document("a", ("Eve sold Initech.", [("Eve", "Person"), ("Initech", "Organization")], []), SAID)
    new = make_document("a", SAID)
    remaining = 5

    def stop_after_a_while() -> None:
        nonlocal remaining
        remaining -= 1
        if remaining < 0:
            raise LeaseLost("killed")

    with pytest.raises(LeaseLost):
        writer.write([old], 1, stop_after_a_while)
    assert graph.ro_query("MATCH (c:Chunk) RETURN count(c)") == [[2]]

    writer.write([new], 2, proceed)
    assert graph.ro_query("MATCH (c:Chunk) RETURN c.text") == [["Ada founded Acme."]]
    assert graph.ro_query("MATCH ()-[m:MENTIONED_IN]->() RETURN count(m)") == [[2]]
    assert new.id in writer.stored([new.id])


def test_a_stored_document_is_not_overwritten_by_another_version(writer: GraphWriter, make_document: Make) -> None:
    writer.write([make_document("a", SAID)], 1, proceed)
    with pytest.raises(GraphRejected, match="file:a"):
        writer.write([make_document("a", SAID, SAID)], 1, proceed)


def test_one_bad_document_is_named_and_the_others_are_written(writer: GraphWriter, make_document: Make) -> None:
    good = [make_document(f"good {number}", SAID) for number in range(6)]
    bad = dataclasses.replace(make_document("bad", SAID), media_type="\ud800")
    with pytest.raises(GraphRejected, match="'file:bad'") as caught:
        writer.write([*good[:3], bad, *good[3:]], 1, proceed)
    assert "good" not in str(caught.value)
    assert set(writer.stored([one.id for one in [*good, bad]])) == {one.id for one in good}


@pytest.mark.parametrize("identity", ["", " ", "file:a ", "file:" + "x" * 5000])
def test_an_id_that_an_index_would_not_find_again_is_refused(
    writer: GraphWriter, make_document: Make, identity: str
) -> None:
    with pytest.raises(GraphRejected):
        writer.write([dataclasses.replace(make_document("a", SAID), id=identity)], 1, proceed)


# What is stored of odd values


def test_what_is_not_known_of_a_thing_is_no_property_of_it(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    plain = make_document("a", SAID)
    (chunk,) = plain.chunks
    known = dataclasses.replace(chunk, text="Ada left.", page_first=1, page_last=2, heading_path=("Ada",), index=1)
    writer.write([dataclasses.replace(plain, chunks=(chunk, known), extractions=plain.extractions * 2)], 1, proceed)
    always = {"id", "document_id", "text", "index", "start_char", "end_char"}
    found = [set(keys) for (keys,) in graph.ro_query("MATCH (c:Chunk) RETURN keys(c) ORDER BY c.index")]
    assert found == [always, {*always, "page_first", "page_last", "heading_path"}]
    ((document,),) = graph.ro_query("MATCH (d:Document) RETURN keys(d)")
    assert {"table", "writing"}.isdisjoint(document)
    mentions = graph.ro_query("MATCH ()-[m:MENTIONED_IN]->() RETURN DISTINCT keys(m)")
    assert [set(keys) for (keys,) in mentions] == [{"as_id", "name", "description", "spans"}]


def test_control_characters_are_left_out_of_ids_and_texts_but_for_tabs_and_line_ends(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    everything = "".join(map(chr, [*range(0x20), 0x7F]))
    mentions = (
        Mention(f"A{everything.replace('\t', '').replace('\r', '').replace('\n', '')}da", "Person", 0, 3, everything),
        Mention("Acme", "Organization", 12, 16),
    )
    relation = Relation("Ada", "Person", "Acme", "Organization", "FOUN\x07DED", everything, 0, 16)
    document = make_document("a", SAID)
    writer.write([dataclasses.replace(document, extractions=(Extraction(mentions, (relation,)),))], 1, proceed)
    ada = graph.ro_query("MATCH (e:__Entity__:Person)-[m:MENTIONED_IN]->() RETURN e.id, e.name, m.name, m.description")
    assert ada == [["ada__person", "Ada", "Ada", "\t\n\r"]]
    facts = graph.ro_query("MATCH (a)-[x:RELATES]->(b) RETURN a.id, x.rel_type, b.id, x.description")
    assert facts == [["ada__person", "FOUNDED", "acme__organization", "\t\n\r"]]
    assert graph.ro_query("MATCH (p:__Pending__ {kind: 'relation'}) RETURN p.id") == [
        ["ada__person\x1fFOUNDED\x1facme__organization"]
    ]


def test_what_has_no_name_is_dropped_and_all_else_of_its_batch_is_stored(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    good = make_document("a", SAID)
    (said,) = good.extractions
    nameless = (Mention("", "Person", 0, 0), Mention(" \x07", "Organization", 0, 1))
    blank = tuple(
        Relation(source, "Person", target, "Organization", "KNOWS", "", 0, 1)
        for source, target in (("", "Acme"), ("Ada", ""), (" \x07", "Acme"), ("Ada", "\t\x00"), ("", ""))
    )
    odd = Extraction(said.mentions + nameless, blank + said.relations)
    writer.write([dataclasses.replace(make_document("odd", SAID), extractions=(odd,)), good], 1, proceed)
    assert writer.stored(["file:odd", "file:a"]).keys() == {"file:odd", "file:a"}
    assert graph.ro_query("MATCH (e:__Entity__) RETURN e.id ORDER BY e.id") == [["acme__organization"], ["ada__person"]]
    assert graph.ro_query("MATCH ()-[x:RELATES]->() RETURN x.rel_type") == [["FOUNDED"]]
    assert graph.ro_query("MATCH ()-[s:__SUPPORT__]->() RETURN DISTINCT s.rel_type, count(s)") == [["FOUNDED", 2]]


def test_what_a_row_says_is_stored_as_text_however_it_is_nested(
    writer: GraphWriter, graph: FalkorGraph, make_document: Make
) -> None:
    told = '{"place":{"city":"Port Ember","tags":["a","b"]}}'
    document = make_document("a", SAID)
    mention = Mention("Ada", "Person", 0, 3, key="7", properties=told)
    writer.write([dataclasses.replace(document, extractions=(Extraction((mention,)),))], 1, proceed)
    assert graph.ro_query("MATCH (e)-[m:MENTIONED_IN]->() RETURN e.id, m.properties") == [["KEY:Person:7", told]]
