"""The graph follows files that change, move and go, through real workers."""

import pytest

from scheduler.records import NewFile

STORY = "Ada Quill founded Northlight Press in Port Ember. {} met Bram Oster at the Tidewater Fair."
OTHER = "Cass Verity sold the Lighthouse to Dora Finch."


PEOPLE = ("Esme Venn", "Finn Moss", "Gita Pike", "Hugo Lark", "Iris Wold", "Jon Fell")


@pytest.fixture
def folder(tmp_path):
    for i, person in enumerate(PEOPLE):
        (tmp_path / f"story{i}.txt").write_text(STORY.format(person), "utf-8")
    return tmp_path


@pytest.fixture
def same_as_fresh(system, folder, graph_name):
    """Compare the graph with one that never held anything but the folder as it is now."""

    def compare():
        verdict = system.client.verify(graph_name)
        assert (verdict.at_work, verdict.findings) == (False, ())
        system.ingest(folder, f"{graph_name}-fresh")
        mine, fresh = (system.client.fingerprint(name) for name in (graph_name, f"{graph_name}-fresh"))
        assert mine.kinds == fresh.kinds

    return compare


def order(system, folder, graph, files):
    """Run a list of orders to its end."""
    return system.finish(system.client.submit_files(files, folder, graph=graph))


def names(system, graph):
    return {name for (name,) in system.rows(graph, "MATCH (e:__Entity__) RETURN e.name")}


def test_a_changed_file_is_updated_in_place(system, folder, graph_name, same_as_fresh):
    system.ingest(folder, graph_name)
    assert PEOPLE[3] in names(system, graph_name)
    (folder / "story3.txt").write_text(OTHER, "utf-8")
    status = system.ingest(folder, graph_name)
    assert status.error == ""
    assert system.outcomes(status.run)["story3.txt"] == ("updated", "ok")
    assert (status.counts["updated"], status.counts["unchanged"]) == (1, 5)
    assert {"Cass Verity", "Bram Oster"} <= names(system, graph_name)
    assert PEOPLE[3] not in names(system, graph_name)
    same_as_fresh()


def test_a_deleted_document_takes_with_it_what_it_alone_said(system, folder, graph_name, same_as_fresh):
    (folder / "story6.txt").write_text(OTHER, "utf-8")
    system.ingest(folder, graph_name)
    (folder / "story6.txt").unlink()
    status = order(system, folder, graph_name, [NewFile("story6.txt", 0, order={"op": "delete"})])
    assert system.outcomes(status.run) == {"story6.txt": ("removed", "ok")}
    assert "Cass Verity" not in names(system, graph_name)
    same_as_fresh()


def test_a_renamed_file_keeps_its_vectors_and_is_extracted_by_nobody(system, folder, graph_name, same_as_fresh):
    system.ingest(folder, graph_name)
    vectors = system.rows(graph_name, "MATCH (c:Chunk {document_id: 'file:story2.txt'}) RETURN c.embedding")
    (folder / "story2.txt").rename(folder / "moved.txt")
    status = order(
        system, folder, graph_name, [NewFile("moved.txt", 1, order={"op": "rename", "from": "file:story2.txt"})]
    )
    assert system.outcomes(status.run) == {"moved.txt": ("updated", "ok")}
    assert system.rows(graph_name, "MATCH (c:Chunk {document_id: 'file:moved.txt'}) RETURN c.embedding") == vectors
    same_as_fresh()


def test_a_file_that_becomes_empty_leaves_the_graph(system, folder, graph_name):
    system.ingest(folder, graph_name)
    (folder / "story1.txt").write_text(" \n", "utf-8")
    status = system.ingest(folder, graph_name)
    assert system.outcomes(status.run)["story1.txt"] == ("skipped", "empty_document")
    (report,) = [r for r in system.client.files(status.run) if r.relative == "story1.txt"]
    assert "has left the graph" in report.message
    assert system.rows(graph_name, "MATCH (d:Document {id: 'file:story1.txt'}) RETURN d.id") == []
    assert system.client.verify(graph_name).findings == ()
    again = system.ingest(folder, graph_name)
    assert system.outcomes(again.run)["story1.txt"] == ("skipped", "empty_document")


def test_a_broken_new_version_fails_and_the_graph_keeps_the_old_one(system, folder, graph_name):
    system.ingest(folder, graph_name)
    (folder / "story1.txt").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    status = system.ingest(folder, graph_name)
    assert system.outcomes(status.run)["story1.txt"] == ("failed", "not_this_format")
    assert PEOPLE[1] in names(system, graph_name)


def test_updates_and_an_ingest_at_once_lose_nothing(system, folder, graph_name, same_as_fresh):
    system.ingest(folder, graph_name)
    for i in range(6):
        (folder / f"story{i}.txt").write_text(f"{OTHER} {STORY.format('Esme Venn')} Again {i}.", "utf-8")
    for i in range(20):
        (folder / f"new{i}.txt").write_text(f"{STORY.format('Esme Venn')} Number {i}. {OTHER}", "utf-8")
    runs = [
        system.client.submit([folder / f"story{i}.txt" for i in range(6)], folder, graph=graph_name),
        system.client.submit([folder / f"new{i}.txt" for i in range(20)], folder, graph=graph_name),
        system.client.submit([folder], folder, graph=graph_name),
    ]
    counts = [system.finish(run).counts for run in runs]
    assert sum(one["updated"] for one in counts) == 6
    assert sum(one["written"] for one in counts) == 20
    same_as_fresh()


def test_an_update_of_a_merged_name_goes_to_the_survivor_and_a_delete_takes_just_its_own(
    system, folder, graph_name, same_as_fresh
):
    (folder / "a.txt").write_text("Larkspur Optics hired Cass Verity.", "utf-8")
    (folder / "b.txt").write_text("Larkspur Optics Ltd sold Maps.", "utf-8")
    system.ingest(folder, graph_name)
    (merged,) = system.rows(graph_name, "MATCH (m:__Merged__) RETURN m.id, m.into")
    (folder / "b.txt").write_text("Larkspur Optics Ltd sold Lenses to Dora Finch.", "utf-8")
    (folder / "c.txt").write_text("Larkspur Optics Ltd bought Glass.", "utf-8")
    status = system.ingest(folder, graph_name)
    assert (status.counts["updated"], status.counts["written"]) == (1, 1)
    assert system.rows(graph_name, "MATCH (m:__Merged__) RETURN m.id, m.into") == [merged]
    found = system.rows(graph_name, "MATCH (e:__Entity__) WHERE e.name STARTS WITH 'Larkspur' RETURN count(e)")
    assert found == [[1]], "no duplicate"
    order(system, folder, graph_name, [NewFile(f"{one}.txt", 0, order={"op": "delete"}) for one in "bc"])
    rows = system.rows(
        graph_name, "MATCH (e:__Entity__)-[m:MENTIONED_IN]->() WHERE e.name STARTS WITH 'Larkspur' RETURN m.as_id"
    )
    assert rows == [["larkspur optics__concept"]]
    assert system.client.verify(graph_name).findings == ()


def test_a_deleted_document_is_gone_from_the_search_indexes_too(system, folder, graph_name, same_as_fresh):
    (folder / "story6.txt").write_text(f"{OTHER} {STORY.format('Esme Venn')}", "utf-8")
    system.ingest(folder, graph_name)

    def found(word):
        """Name what the words' indexes find, and whose texts the vectors' indexes hold."""
        words = [
            system.rows(graph_name, f"CALL db.idx.fulltext.queryNodes('{of}', '{word}') YIELD node RETURN node.id")
            for of in ("Chunk", "__Entity__")
        ]
        like = "MATCH (q:Chunk) WITH q.embedding AS v LIMIT 1 CALL db.idx.vector"
        near = [
            system.rows(graph_name, f"{like}.{call}, 'embedding', 1000, v) {give}")
            for call, give in (
                ("queryNodes('Chunk'", "YIELD node RETURN node.text"),
                ("queryNodes('__Entity__'", "YIELD node RETURN node.name"),
                ("queryRelationships('RELATES'", "YIELD relationship AS r RETURN r.fact"),
            )
        ]
        return [len(one) for one in words], [sorted(text for (text,) in one) for one in near]

    counted, texts = found("Cass")
    assert counted == [1, 1]
    assert all(any("Cass Verity" in text for text in one) for one in texts)
    before, _ = found("Esme")
    (folder / "story6.txt").unlink()
    order(system, folder, graph_name, [NewFile("story6.txt", 0, order={"op": "delete"})])
    counted, texts = found("Cass")
    assert counted == [0, 0]
    alive = (
        "MATCH (e:Chunk) RETURN e.text", "MATCH (e:__Entity__) RETURN e.name", "MATCH ()-[e:RELATES]->() RETURN e.fact",
    )  # fmt: skip
    assert texts == [sorted(text for (text,) in system.rows(graph_name, query)) for query in alive]
    assert not any("Cass Verity" in text for one in texts for text in one)
    # What it shared stays, with the other document's passage alone.
    assert found("Esme")[0] == [before[0] - 1, before[1]]
    sources = "MATCH (e:__Entity__ {name: 'Esme Venn'})-[:MENTIONED_IN]->(c) RETURN c.document_id"
    assert system.rows(graph_name, sources) == [["file:story0.txt"]]
    same_as_fresh()
