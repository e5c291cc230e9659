"""What every reviser promises: readers see the old document or the new one, whatever stops half-way."""

import dataclasses
import uuid
from collections.abc import Callable

import pytest

from pipeline.adapters.falkor import (
    FalkorCurator,
    FalkorGraph,
    FalkorInspector,
    FalkorReader,
    FalkorReviser,
    FalkorWriter,
    connect,
)
from pipeline.errors import GraphRejected, LeaseLost, WriteIncomplete
from pipeline.models import WHOLE_GRAPH, Document
from pipeline.ontology import DEFAULT_ONTOLOGY

Make = Callable[..., Document]

ADA, ACME, BELL = ("Ada", "Person"), ("Acme", "Organization"), ("Bell", "Organization")
FOUNDED = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])
LEFT = ("Ada left Acme for Bell.", [ADA, ACME, BELL], [("Ada", "JOINED", "Bell")])
QUIET = ("Nothing is said here.", [], [])


def proceed() -> None:
    """Stands for leases that hold."""


def update(reviser: FalkorReviser, document: Document) -> int:
    reviser.stage([document], 1, proceed)
    reviser.swap(document, 1)
    return clear(reviser, document.id)


def clear(reviser: FalkorReviser, identity: str) -> int:
    return reviser.clear([identity], 1, proceed)[identity]


def derive(graph: FalkorGraph) -> None:
    """Do finalize's part, so that two graphs can be compared."""
    curator = FalkorCurator(graph)
    kinds = {kind: curator.pending(kind, -1, 1000) for kind in ("entity", "relation", "chunk")}
    curator.derive_entities([one.id for one in kinds["entity"]], 1)
    curator.derive_relations([one.id for one in kinds["relation"]], 1)
    for things in kinds.values():
        curator.clear_pending(things, 1)


@pytest.fixture
def expected(graph_server, dump_graph) -> Callable[..., list[str]]:
    """What a graph says that never held anything else."""

    built: dict[str, list[str]] = {}

    def build(*documents: Document) -> list[str]:
        if repr(documents) not in built:
            built[repr(documents)] = make(documents)
        return built[repr(documents)]

    def make(documents: tuple[Document, ...]) -> list[str]:
        fresh = connect(graph_server.url, f"fresh-{uuid.uuid4().hex}")
        try:
            writer = FalkorWriter(fresh)
            writer.prepare(DEFAULT_ONTOLOGY)
            writer.write(list(documents), 1, proceed)
            derive(fresh)
            return dump_graph(fresh)
        finally:
            fresh._execute("GRAPH.DELETE", fresh.name)
            fresh.close()

    return build


def visible(graph: FalkorGraph) -> set[str]:
    """List the passages that a reader sees."""
    rows = graph.ro_query("MATCH (d:Document)-[:PART_OF]->(c) WHERE d.content_hash <> '' RETURN c.text")
    return {text for (text,) in rows}


VERSIONS = {
    "one passage more in front": ([FOUNDED], [QUIET, FOUNDED]),
    "one passage less": ([FOUNDED, LEFT, QUIET], [FOUNDED, QUIET]),
    "all new": ([FOUNDED], [LEFT]),
    "another order": ([FOUNDED, LEFT, QUIET], [QUIET, LEFT, FOUNDED]),
    "the same passage twice": ([FOUNDED], [FOUNDED, FOUNDED]),
    "nothing said any more": ([FOUNDED, LEFT], [QUIET]),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_an_updated_document_is_as_one_that_was_always_so(
    name, graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    before, after = VERSIONS[name]
    other = make_document("b", FOUNDED)
    writer.write([make_document("a", *before), other], 1, proceed)
    update(reviser, make_document("a", *after))
    derive(graph)
    assert dump_graph(graph) == expected(other, make_document("a", *after))


def test_other_settings_replace_what_the_same_passages_say(
    graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    writer.write([make_document("a", FOUNDED, QUIET)], 1, proceed)
    graph.query("MATCH (c:Chunk) SET c.embedded_hash = 'h', c.embedding = vecf32([1, 2])")
    said = ("Ada founded Acme.", [ADA], [])
    again = make_document("a", said, QUIET, fingerprint="f2")
    reviser.stage([again], 1, proceed)
    assert graph.ro_query("MATCH (e:__Entity__ {id: 'acme__organization'}) RETURN count(e)") == [[1]]
    reviser.swap(again, 1)
    clear(reviser, again.id)
    derive(graph)
    vectors = graph.query(
        "MATCH (c:Chunk) WHERE c.embedded_hash = 'h' SET c.embedded_hash = NULL, c.embedding = NULL RETURN count(c)"
    )
    assert vectors == [[2]], "vectors of equal texts are kept"
    assert dump_graph(graph) == expected(again)


def test_a_reader_sees_the_old_version_until_the_swap_and_the_new_one_from_then_on(
    graph, writer, reviser, make_document
) -> None:
    writer.write([make_document("a", FOUNDED, QUIET)], 1, proceed)
    new = make_document("a", QUIET, LEFT)
    old_texts, new_texts = {FOUNDED[0], QUIET[0]}, {QUIET[0], LEFT[0]}
    seen = []
    reviser.stage([new], 1, lambda: seen.append(visible(graph)))
    assert all(one == old_texts for one in [*seen, visible(graph)])
    assert [e.start for e in passages(graph, QUIET[0])] == [len(FOUNDED[0]) + 1]
    reviser.swap(new, 1)
    assert visible(graph) == new_texts
    assert [e.start for e in passages(graph, QUIET[0])] == [0], "a kept passage tells its new place at once"
    reviser.clear([new.id], 1, lambda: seen.append(visible(graph)))
    assert visible(graph) == new_texts


def passages(graph: FalkorGraph, text: str):
    reader = FalkorReader(graph)
    (identity,) = [one for (one,) in graph.ro_query("MATCH (c:Chunk {text: $text}) RETURN DISTINCT c.id", text=text)]
    return reader.passages([identity], [0.0] * 2, WHOLE_GRAPH)


class Stop(Exception):
    """A crash."""


def each_crash(graph, monkeypatch, act: Callable[[], None]):
    """Let an act stop before each of the queries that change something, one after the other."""
    original = type(graph).query
    step = done = 0

    def crash(self, *args, **parameters):
        nonlocal done
        if done == step:
            raise Stop
        done += 1
        return original(self, *args, **parameters)

    while True:
        done = 0
        monkeypatch.setattr(type(graph), "query", crash)
        try:
            act()
        except Stop:
            monkeypatch.undo()
            yield step
        else:
            monkeypatch.undo()
            return
        step += 1


OLD = (FOUNDED, LEFT, QUIET)
NEW = (QUIET, FOUNDED, ("Cleo sold Bell.", [("Cleo", "Person"), BELL], []))


def remove(reviser: FalkorReviser, document: Document) -> None:
    clear(reviser, document.id)
    reviser.retire(document.id, 1)
    clear(reviser, document.id)


def rename(reviser: FalkorReviser, document: Document) -> None:
    clear(reviser, document.id)
    reviser.rename(document.id, dataclasses.replace(document, id="file:c", path="c"), 1)
    clear(reviser, "file:c")


WAYS_ON = {
    "again": update,
    "removed": remove,
    "renamed": rename,
    "another": lambda reviser, new: update(reviser, dataclasses.replace(new, content_hash="third")),
}


@pytest.mark.parametrize(
    ("way", "fingerprint"), [("again", "f1"), ("again", "f2"), ("removed", "f2"), ("renamed", "f1"), ("another", "f2")]
)
def test_a_crash_at_any_query_of_an_update_leaves_one_version_whatever_comes_next(
    way, fingerprint, graph, reviser, make_document, dump_graph, expected, monkeypatch
) -> None:
    writer = FalkorWriter(graph)
    old, other = make_document("a", *OLD), make_document("b", FOUNDED)
    new = make_document("a", *NEW, fingerprint=fingerprint)
    versions = [{text for text, _, _ in said} for said in (OLD, NEW)]
    crashes = 0
    writer.write([old, other], 1, proceed)
    for _ in each_crash(graph, monkeypatch, lambda: update(reviser, new)):
        crashes += 1
        assert visible(graph) in versions
        before = visible(graph)
        WAYS_ON[way](reviser, new)
        derive(graph)
        if way == "again":
            assert dump_graph(graph) == expected(other, new)
        elif way == "removed":
            assert visible(graph) == {FOUNDED[0]}
        elif way == "renamed":
            assert visible(graph) == before | {FOUNDED[0]}
        assert not graph.ro_query("MATCH (d:Document) WHERE d.content_hash IS NULL RETURN d.id")
        assert not graph.ro_query("MATCH (c:Chunk) WHERE NOT ()-[:PART_OF]->(c) OR c.id ENDS WITH 'next' RETURN c.id")
        for identity in ("file:a", "file:b", "file:c"):
            remove(reviser, dataclasses.replace(old, id=identity))
        derive(graph)
        assert dump_graph(graph) == expected(), "nothing is left of it"
        writer.write([old, other], 1, proceed)
        derive(graph)
    assert crashes > 10


@pytest.mark.parametrize("fingerprint", ["f1", "f2"])
def test_a_crash_at_any_query_of_a_removal_is_ended_by_an_ordinary_write(
    fingerprint, graph, writer, reviser, make_document, dump_graph, expected, monkeypatch
) -> None:
    other = make_document("b", FOUNDED)
    new = make_document("a", ("Ada founded Acme.", [ADA], []), QUIET, fingerprint=fingerprint)
    writer.write([make_document("a", *OLD), other], 1, proceed)
    for _ in each_crash(graph, monkeypatch, lambda: remove(reviser, new)):
        if writer.stored(["file:a"]):
            continue
        writer.write([new], 1, proceed)
        derive(graph)
        assert dump_graph(graph) == expected(other, new)
        remove(reviser, new)
        writer.write([make_document("a", *OLD)], 1, proceed)


@pytest.mark.parametrize("empty", [False, True])
def test_a_crash_at_any_query_of_a_renaming_is_ended_by_clearing(
    empty, graph, writer, reviser, make_document, dump_graph, expected, monkeypatch
) -> None:
    said = () if empty else (*OLD, FOUNDED)
    old, other, to = make_document("a", *said), make_document("b", FOUNDED), make_document("c", *said)
    writer.write([old, other], 1, proceed)

    def act():
        reviser.rename(old.id, to, 1)
        clear(reviser, to.id)

    for _ in each_crash(graph, monkeypatch, act):
        act()
        derive(graph)
        assert dump_graph(graph) == expected(other, to)
        remove(reviser, to)
        writer.write([old], 1, proceed)


def test_a_name_that_is_taken_is_not_given_twice(writer, reviser, make_document) -> None:
    writer.write([make_document("a", FOUNDED), make_document("b", FOUNDED)], 1, proceed)
    with pytest.raises(WriteIncomplete, match="there is one"):
        reviser.rename("file:a", make_document("b", FOUNDED), 1)


def test_a_half_staged_version_is_not_swapped_in(graph, writer, reviser, make_document, monkeypatch) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    new = make_document("a", LEFT, QUIET)
    for _ in each_crash(graph, monkeypatch, lambda: reviser.stage([new], 1, proceed)):
        with pytest.raises(WriteIncomplete):
            reviser.swap(new, 1)
    assert visible(graph) == {FOUNDED[0]}


def test_a_swap_whose_answer_was_lost_is_done(graph, writer, reviser, make_document, dump_graph) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    new = make_document("a", LEFT)
    reviser.stage([new], 1, proceed)
    reviser.swap(new, 1)
    once = dump_graph(graph)
    assert visible(graph) == {LEFT[0]}
    reviser.swap(new, 1)
    assert dump_graph(graph) == once


def test_a_finalize_between_two_steps_leaves_no_provisional_names(
    graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    new = make_document("a", FOUNDED, LEFT, fingerprint="f2")
    reviser.stage([new], 1, proceed)
    derive(graph)
    reviser.swap(new, 1)
    derive(graph)
    clear(reviser, new.id)
    derive(graph)
    assert dump_graph(graph) == expected(new)


def test_a_third_version_takes_the_place_of_a_staged_one(
    graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    reviser.stage([make_document("a", LEFT, QUIET)], 1, proceed)
    third = make_document("a", QUIET, FOUNDED)
    update(reviser, third)
    derive(graph)
    assert dump_graph(graph) == expected(third)


def test_a_version_that_is_not_staged_is_not_swapped_in(writer, reviser, make_document) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    with pytest.raises(WriteIncomplete):
        reviser.swap(make_document("a", LEFT), 1)
    reviser.stage([make_document("a", QUIET)], 1, proceed)
    with pytest.raises(WriteIncomplete):
        reviser.swap(make_document("a", LEFT), 1)


def test_each_step_is_behind_the_fence(graph, writer, reviser, make_document, dump_graph) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    new = make_document("a", LEFT)
    reviser.stage([new], 1, proceed)
    writer.raise_fence(5, exclusive=True)
    before = dump_graph(graph)
    for late in (
        lambda: reviser.stage([new], 1, proceed), lambda: reviser.swap(new, 1), lambda: reviser.retire(new.id, 1),
    ):  # fmt: skip
        with pytest.raises(LeaseLost):
            late()
    assert dump_graph(graph) == before


def test_a_retired_document_is_gone_with_what_it_alone_said(
    graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    stays = make_document("b", FOUNDED)
    writer.write([make_document("a", FOUNDED, LEFT), stays], 1, proceed)
    assert reviser.retire("file:a", 1)
    assert visible(graph) == {FOUNDED[0]}
    removed = clear(reviser, "file:a")
    assert removed == 2
    derive(graph)
    assert dump_graph(graph) == expected(stays)
    assert not reviser.retire("file:a", 1)
    assert clear(reviser, "file:a") == 0


def test_the_same_content_at_two_paths_stays_cited_when_one_goes(graph, writer, reviser, make_document) -> None:
    writer.write([make_document("a", FOUNDED), make_document("b", FOUNDED)], 1, proceed)
    reviser.retire("file:a", 1)
    clear(reviser, "file:a")
    rows = graph.ro_query("MATCH ()-[x:RELATES]->() RETURN size(x.source_chunk_ids)")
    assert rows == [[1]]
    assert graph.ro_query("MATCH (d:Document)-[:PART_OF]->(c) RETURN d.id, c.text") == [["file:b", FOUNDED[0]]]


def test_what_a_merged_away_name_said_goes_with_its_document(graph, writer, reviser, make_document) -> None:
    short = ("ACME Ltd hired Ada.", [("ACME Ltd", "Organization"), ADA], [("ACME Ltd", "HIRED", "Ada")])
    writer.write([make_document("a", short), make_document("b", FOUNDED)], 1, proceed)
    assert FalkorCurator(graph).merge("acme__organization", "acme ltd__organization", 1)
    update(reviser, make_document("a", short, QUIET))
    assert graph.ro_query("MATCH (e:__Entity__) RETURN e.id ORDER BY e.id") == [["acme__organization"], ["ada__person"]]
    reviser.retire("file:a", 1)
    clear(reviser, "file:a")
    mentions = graph.ro_query("MATCH (e {id: 'acme__organization'})-[m:MENTIONED_IN]->() RETURN m.as_id")
    assert mentions == [["acme__organization"]]
    assert graph.ro_query("MATCH ()-[x:RELATES]->() RETURN x.rel_type") == [["FOUNDED"]]


def test_a_renamed_document_is_as_one_that_always_had_its_name(
    graph, writer, reviser, make_document, dump_graph, expected
) -> None:
    other = make_document("b", FOUNDED)
    writer.write([make_document("a", FOUNDED, LEFT, FOUNDED), other], 1, proceed)
    to = make_document("c", FOUNDED, LEFT, FOUNDED)
    assert reviser.rename("file:a", to, 1)
    clear(reviser, to.id)
    derive(graph)
    assert dump_graph(graph) == expected(other, to)
    assert not reviser.rename("file:a", to, 1)


def test_vectors_move_with_a_renamed_document(graph, writer, reviser, make_document) -> None:
    writer.write([make_document("a", FOUNDED)], 1, proceed)
    graph.query("MATCH (c:Chunk) SET c.embedded_hash = 'h', c.embedding = vecf32([1, 2])")
    reviser.rename("file:a", make_document("c", FOUNDED), 1)
    clear(reviser, "file:c")
    assert graph.ro_query("MATCH (c:Chunk) RETURN c.document_id, c.embedded_hash") == [["file:c", "h"]]


def test_a_writer_that_slept_adds_nothing_to_the_version_that_another_wrote_meanwhile(graph, writer, make_document):
    """Shared grants that follow each other have one epoch: the fence refuses neither."""
    calls = []

    def asleep():
        calls.append(1)
        if len(calls) == 2:
            FalkorWriter(graph).write([make_document("z", QUIET)], 1, proceed)

    with pytest.raises(GraphRejected, match="stored in another version"):
        writer.write([make_document("z", FOUNDED)], 1, asleep)
    read = "MATCH (d:Document {id: 'file:z'})-[:PART_OF]->(c) WHERE d.content_hash <> '' RETURN c.text"
    assert graph.ro_query(read) == [[QUIET[0]]]


def test_a_stager_that_slept_likewise(graph, reviser, writer, make_document):
    writer.write([make_document("z", LEFT)], 1, proceed)
    calls = []

    def asleep():
        calls.append(1)
        if len(calls) == 2:
            FalkorReviser(graph).stage([make_document("z", QUIET)], 1, proceed)

    with pytest.raises(WriteIncomplete):
        reviser.stage([make_document("z", FOUNDED)], 1, asleep)
    reviser.swap(make_document("z", QUIET), 2)
    reviser.clear(["file:z"], 2, proceed)
    read = "MATCH (d:Document {id: 'file:z'})-[:PART_OF]->(c) WHERE d.content_hash <> '' RETURN c.text"
    assert graph.ro_query(read) == [[QUIET[0]]]


def test_documents_that_are_staged_and_cleared_together_come_out_as_one_by_one(graph, writer, reviser, make_document):
    olds = [make_document(name, FOUNDED, QUIET) for name in "xyz"]
    news = [make_document(name, QUIET, LEFT, fingerprint="f1" if name != "y" else "f2") for name in "xyz"]
    writer.write(olds, 1, proceed)
    reviser.stage(news, 1, proceed)
    for new in news:
        reviser.swap(new, 2)
    assert reviser.clear([new.id for new in news], 2, proceed) == {"file:x": 1, "file:y": 2, "file:z": 1}
    read = "MATCH (d:Document)-[p:PART_OF]->(c) RETURN d.id, p.index, c.text, c.index ORDER BY d.id, p.index"
    assert graph.ro_query(read) == [
        [f"file:{name}", place, said[0], place] for name in "xyz" for place, said in enumerate((QUIET, LEFT))
    ]
    assert list(FalkorInspector(graph).faults()) == []
