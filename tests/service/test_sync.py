"""A graph follows a folder, and loses what it is told to lose, through real workers."""

from pathlib import Path

import pytest

from pipeline.errors import GraphMissing
from scheduler.documents import Changes, DocumentUnknown
from scheduler.dropping import GraphInUse
from scheduler.errors import RunOver
from scheduler.syncing import RootUnclear
from workers.graphs import open_graph

PEOPLE = ("Esme Venn", "Finn Moss", "Gita Pike", "Hugo Lark", "Iris Wold", "Jon Fell")
NOTHING = Changes(0, 0, 0, 0, 0, 0, 0)


def write(place, person):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"Ada Quill founded Northlight Press. {person} met Bram Oster at the Tidewater Fair.", "utf-8")


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "corpus"
    for i, person in enumerate(PEOPLE):
        write(root / ("north" if i % 2 else "south") / f"story{i}.txt", person)
    return root


@pytest.fixture
def sync(system, folder, graph_name):
    """Sync the folder, or a part of it, to the end; gives what was done."""

    def run(path=None, graph=graph_name):
        plan = system.client.plan_sync(path or folder, folder, graph=graph)
        run = system.client.sync(plan)
        if not run:
            return NOTHING
        status = system.finish(run)
        assert status.error == ""
        return system.client.changes(run)

    return run


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


def ids(system, graph):
    return {document.id for document in system.client.documents(graph)}


def test_a_graph_is_made_by_a_sync_and_a_second_one_does_nothing(system, folder, graph_name, sync, same_as_fresh):
    assert system.client.plan_sync(folder, folder, graph=graph_name).kept == 0, "a graph that is missing holds nothing"
    assert graph_name not in system.graphs()
    assert sync() == Changes(added=6, updated=0, renamed=0, removed=0, kept=0, skipped=0, failed=0)
    plan = system.client.plan_sync(folder, folder, graph=graph_name)
    assert (plan.files, plan.kept) == ([], 6)
    assert sync() == NOTHING
    same_as_fresh()


def test_everything_that_can_happen_to_a_folder_at_once(system, folder, graph_name, sync, same_as_fresh):
    write(folder / "copy.txt", PEOPLE[0])
    sync()
    (folder / "south").rename(folder / "east")  # stories 0, 2, 4
    (folder / "copy.txt").unlink()  # the same content stays at another path
    write(folder / "north" / "story1.txt", "Cass Verity")
    (folder / "north" / "story3.txt").rename(folder / "north" / "moved.txt")
    write(folder / "north" / "moved.txt", "Dora Finch")  # renamed and changed
    write(folder / "new.txt", "Orla Byrne")
    assert sync() == Changes(added=2, updated=1, renamed=3, removed=2, kept=0, skipped=0, failed=0)
    assert sync() == NOTHING
    same_as_fresh()


def test_a_renamed_folder_keeps_its_vectors(system, folder, graph_name, sync, same_as_fresh):
    sync()
    query = "MATCH (c:Chunk) WHERE c.document_id ENDS WITH 'story0.txt' RETURN c.embedding, c.embedded_hash"
    before = system.rows(graph_name, query)
    (folder / "south").rename(folder / "east")
    assert sync() == Changes(added=0, updated=0, renamed=3, removed=0, kept=0, skipped=0, failed=0)
    assert system.rows(graph_name, query) == before
    same_as_fresh()


def test_documents_of_other_settings_stay_as_they_are_and_are_renamed_all_the_same(system, folder, graph_name, sync):
    sync()
    open_graph(system.settings, graph_name).query("MATCH (d:Document) SET d.fingerprint = 'of old'")
    assert sync() == NOTHING
    (folder / "south").rename(folder / "east")
    assert sync() == Changes(added=0, updated=0, renamed=3, removed=0, kept=0, skipped=0, failed=0)
    assert system.rows(graph_name, "MATCH (d:Document) RETURN DISTINCT d.fingerprint") == [["of old"]]
    runs = system.client.reextract(["file:east/story0.txt", "file:north/story1.txt"], graph=graph_name)
    assert [system.finish(run).counts["updated"] for run in runs] == [2]
    assert system.client.verify(graph_name).findings == ()


def test_swapped_names(folder, sync, same_as_fresh):
    sync()
    a, b = folder / "south" / "story0.txt", folder / "north" / "story1.txt"
    a.rename(folder / "kept")
    b.rename(a)
    (folder / "kept").rename(b)
    assert sync() == Changes(added=0, updated=2, renamed=0, removed=0, kept=0, skipped=0, failed=0)
    same_as_fresh()


def test_a_sync_of_a_folder_below_leaves_the_rest_alone(system, folder, graph_name, sync):
    sync()
    for place in (folder / "north" / "story1.txt", folder / "south" / "story0.txt"):
        place.unlink()
    assert sync(folder / "north").removed == 1
    assert {"file:south/story0.txt", "file:north/story3.txt"} <= ids(system, graph_name)


def test_a_moved_folder_is_followed_at_its_new_place(system, folder, graph_name, sync, same_as_fresh):
    sync()
    query = "MATCH (c:Chunk) RETURN c.id, c.embedding, c.embedded_hash ORDER BY c.id"
    before = system.rows(graph_name, query)
    away = folder.rename(folder.with_name("moved"))

    def follow():
        plan = system.client.plan_sync(away, away, graph=graph_name)
        run = system.client.sync(plan)
        return plan, system.client.changes(system.finish(run).run) if run else NOTHING

    plan, changes = follow()
    assert (len(plan.adopted), plan.kept) == (6, 0)
    assert (changes.added, changes.updated, changes.removed, changes.failed) == (0, 0, 0, 0)
    assert system.rows(graph_name, query) == before
    assert {document.root for document in system.client.documents(graph_name)} == {str(away)}
    plan, changes = follow()
    assert (plan.adopted, plan.kept, changes) == ((), 6, NOTHING)
    (away / "north" / "story1.txt").unlink()
    assert follow()[1] == Changes(added=0, updated=0, renamed=0, removed=1, kept=0, skipped=0, failed=0)
    assert "file:north/story1.txt" not in ids(system, graph_name)
    away.rename(folder)
    follow_back = system.client.plan_sync(folder, folder, graph=graph_name)
    system.finish(system.client.sync(follow_back))
    same_as_fresh()


def test_another_folder_takes_no_document_of_the_same_name(system, folder, graph_name, sync):
    sync()
    write(folder.with_name("other") / "north" / "story1.txt", "Cass Verity")
    other = folder.with_name("other")
    with pytest.raises(RootUnclear, match=r"north/story1\.txt"):
        system.client.plan_sync(other, other, graph=graph_name)
    (other / "north" / "story1.txt").unlink()
    assert system.client.plan_sync(other, other, graph=graph_name, allow_empty=True).files == []


def test_a_relative_root_is_the_same_folder_to_the_workers(system, folder, graph_name, monkeypatch):
    monkeypatch.chdir(folder.parent)
    run = system.client.submit([Path("corpus/north")], Path("corpus"), graph=graph_name)
    status = system.finish(run)
    assert (status.counts["written"], status.root) == (3, str(folder))
    assert status.options["paths"] == [str(folder / "north")]
    plan = system.client.plan_sync(Path("corpus"), Path("corpus"), graph=graph_name)
    assert (len(plan.added), plan.kept, plan.root) == (3, 3, str(folder))
    assert system.finish(system.client.sync(plan)).counts["written"] == 3
    (document, *_) = system.client.documents(graph_name)
    assert document.root == str(folder)


def test_a_sync_beside_an_ingest_loses_nothing(system, folder, graph_name, sync, same_as_fresh):
    sync()
    (folder / "south").rename(folder / "east")
    write(folder / "north" / "story1.txt", "Cass Verity")
    (folder / "north" / "story3.txt").unlink()
    write(folder / "new.txt", "Orla Byrne")
    plan = system.client.plan_sync(folder, folder, graph=graph_name)
    runs = [system.client.submit([folder], folder, graph=graph_name), system.client.sync(plan)]
    for run in runs:
        status = system.finish(run)
        assert (status.failed, status.error) == (0, "")
    # Where the ingest was first, a rename found its new name taken: the next sync removes the old one.
    sync()
    same_as_fresh()


def test_two_syncs_at_once_do_what_one_does(system, folder, graph_name, sync, same_as_fresh):
    sync()
    (folder / "south").rename(folder / "east")
    write(folder / "north" / "story1.txt", "Cass Verity")
    (folder / "north" / "story3.txt").unlink()
    plan = system.client.plan_sync(folder, folder, graph=graph_name)
    for run in [system.client.sync(plan), system.client.sync(plan)]:
        assert system.finish(run).failed == 0
    assert sync() == NOTHING
    same_as_fresh()


# Delete


def test_documents_are_deleted_by_id_and_by_path(system, folder, graph_name, sync, same_as_fresh):
    sync()
    gone = ["file:south/story0.txt", str(folder / "north" / "story1.txt")]
    run = system.client.delete(gone, graph=graph_name)
    system.finish(run)
    assert system.client.changes(run).removed == 2
    for place in ("south/story0.txt", "north/story1.txt"):
        (folder / place).unlink()
    same_as_fresh()


def test_one_unknown_document_keeps_all_others(system, graph_name, sync):
    sync()
    before = system.client.runs()
    with pytest.raises(DocumentUnknown, match=r"did you mean 'file:south/story0\.txt'"):
        system.client.delete(["file:north/story1.txt", "file:south/story0.tx"], graph=graph_name)
    assert system.client.runs() == before
    assert len(ids(system, graph_name)) == 6
    with pytest.raises(GraphMissing):
        system.client.delete(["file:a.txt"], graph=f"{graph_name}-none")


def test_a_delete_while_the_same_file_is_ingested_ends_with_one_of_both(system, folder, graph_name, sync):
    sync()
    write(folder / "north" / "story1.txt", "Cass Verity")
    runs = [
        system.client.submit([folder], folder, graph=graph_name),
        system.client.delete(["file:north/story1.txt"], graph=graph_name),
    ]
    for run in runs:
        status = system.finish(run)
        assert (status.failed, status.error) == (0, "")
    assert system.client.verify(graph_name).findings == ()
    sync()
    assert "file:north/story1.txt" in ids(system, graph_name)


# Drop


def test_a_dropped_graph_is_gone_and_a_new_ingest_works_at_once(system, folder, graph_name, sync, same_as_fresh):
    first = system.ingest(folder, graph_name)
    assert first.counts["written"] == 6
    number = system.client.finalize_status(graph_name).number
    assert system.client.drop(graph_name) == 1
    assert graph_name not in system.graphs()
    assert graph_name not in system.client.finalizes.graphs()
    told = system.client.status(first.run)
    assert (told.counts, told.dropped) == (first.counts, True)
    with pytest.raises(RunOver, match="dropped"):
        system.client.verbs.retry(first.run)
    with pytest.raises(GraphMissing):
        system.client.drop(graph_name)
    # Fewer files than before: what the old run says of the others is of the past.
    (folder / "north" / "story1.txt").unlink()
    second = system.ingest(folder, graph_name)
    assert (second.counts["written"], second.error) == (5, "")
    status = system.client.finalize_status(graph_name)
    assert (status.number, status.error) == (number + 1, "")
    assert system.rows(graph_name, "MATCH (c:Chunk) WHERE c.embedding IS NULL RETURN count(c)") == [[0]]
    same_as_fresh()


def test_a_graph_that_a_run_or_finalize_works_on_is_not_dropped(system, folder, graph_name):
    system.ingest(folder, graph_name)
    write(folder / "new.txt", "Orla Byrne")
    run = system.client.submit([folder], folder, graph=graph_name)
    with pytest.raises(GraphInUse, match=f"graphmill cancel {run}"):
        system.client.drop(graph_name)
    system.client.verbs.pause(run, "by hand")
    with pytest.raises(GraphInUse, match="paused"):
        system.client.drop(graph_name)
    system.client.verbs.go_on(run)
    system.finish(run)
    system.client.finalizes.begin(graph_name, forced=True)
    with pytest.raises(GraphInUse, match="finalize"):
        system.client.drop(graph_name)


# Reextract


def test_files_are_extracted_anew_from_their_own_roots_and_what_is_the_same_stays(system, folder, graph_name):
    system.ingest(folder / "north", graph_name)
    system.ingest(folder / "south", graph_name)
    runs = system.client.reextract(graph=graph_name)
    done = [system.finish(run) for run in runs]
    assert [status.root for status in done] == [str(folder / "north"), str(folder / "south")]
    assert [status.counts["unchanged"] for status in done] == [3, 3], "the settings are the same"
    (run,) = system.client.reextract([str(folder / "south" / "story0.txt")], graph=graph_name)
    assert system.outcomes(system.finish(run).run) == {"story0.txt": ("unchanged", "ok")}
    with pytest.raises(DocumentUnknown):
        system.client.reextract(["nothing.txt"], graph=graph_name)


def test_a_file_that_fails_stops_no_other_change_and_all_are_told_in_the_order_of_the_list(
    system, folder, graph_name, sync
):
    sync()
    number = system.client.finalize_status(graph_name).number
    (folder / "north" / "story1.txt").unlink()
    (folder / "south" / "story0.txt").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    write(folder / "north" / "story3.txt", "Cass Verity")
    (folder / "south" / "story2.txt").rename(folder / "moved.txt")
    write(folder / "new.txt", "Orla Byrne")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    plan = system.client.plan_sync(folder, folder, graph=graph_name)
    status = system.finish(system.client.sync(plan, finalize="never"))
    reports = [(r.relative, r.state, r.code) for r in system.client.files(status.run)]
    assert reports == [
        ("broken.pdf", "failed", "corrupt"),
        ("moved.txt", "updated", "ok"),
        ("new.txt", "written", "ok"),
        ("north/story1.txt", "removed", "ok"),
        ("north/story3.txt", "updated", "ok"),
        ("south/story0.txt", "failed", "not_this_format"),
    ]
    assert [path for path, *_ in reports] == [one.relative for one in plan.files]
    assert system.client.changes(status.run) == Changes(
        added=1, updated=1, renamed=1, removed=1, kept=0, skipped=0, failed=2
    )
    assert system.client.finalize_status(graph_name).number == number, "none was asked for"
    names = {name for (name,) in system.rows(graph_name, "MATCH (e:__Entity__) RETURN e.name")}
    assert {"Cass Verity", "Orla Byrne", PEOPLE[0]} <= names, "what failed keeps its old version"
    assert not {PEOPLE[1], PEOPLE[3]} & names
    # The files that failed are all that the next one finds to do.
    again = system.client.plan_sync(folder, folder, graph=graph_name)
    assert [one.relative for one in again.files] == ["broken.pdf", "south/story0.txt"]
    assert {one.code for one in system.client.verify(graph_name).findings} == {"pending_left"}
