"""Documents that kill their worker, and runs that would take all of it: everybody else's files are written."""

import pytest

from scheduler.states import RunState

EXTRACTOR = "hostile_models:extract"
STORY = "Ada Quill founded Northlight Press in Port Ember. Person{} met Bram Oster there."


def write_stories(place, count, more=""):
    place.mkdir()
    for i in range(count):
        (place / f"story{i:03}.txt").write_text(f"{STORY.format(i)} {more}", "utf-8")
    return place


def test_documents_that_end_their_process_are_dead_letters_and_their_batch_mates_are_written(
    system, tmp_path, graph_name
):
    folder = write_stories(tmp_path / "files", 29)
    bad = {f"story{i}0x.txt": f"This {how} ITS WORKER." for i, how in enumerate(("KILLS", "ENDS", "CRASHES"))}
    for name, text in bad.items():
        (folder / name).write_text(text, "utf-8")
    run = system.client.submit([folder], folder, graph=graph_name)
    status = system.finish(run, seconds=120)
    assert status.state is RunState.DONE
    assert (status.counts["written"], status.counts["failed"]) == (29, 3)
    dead = [report for report in system.client.files(run) if report.state == "failed"]
    assert [(report.relative, report.code) for report in dead] == [(name, "worker_lost") for name in bad]
    assert {report.details["starts"] for report in dead} == {system.settings.max_starts}
    assert all(f"died {system.settings.max_starts} times" in report.message for report in dead)
    assert system.rows(graph_name, "MATCH (d:Document) RETURN count(d)") == [[29]]


def test_a_document_that_takes_all_memory_fails_by_itself_with_its_reason(system, tmp_path, graph_name):
    folder = write_stories(tmp_path / "files", 9)
    (folder / "story003x.txt").write_text("This TAKES ALL MEMORY that its worker may have.", "utf-8")
    status = system.ingest(folder, graph_name)
    assert status.counts["written"] == 9
    (failed,) = [report for report in system.client.files(status.run) if report.state == "failed"]
    assert (failed.relative, failed.code) == ("story003x.txt", "limit_exceeded")
    assert "memory" in failed.message


@pytest.mark.parametrize(
    ("files", "priority"), [(10, 0), pytest.param(60, 5, marks=pytest.mark.slow)], ids=["small", "urgent"]
)
def test_a_later_run_that_is_small_or_urgent_ends_while_a_large_one_goes_on(
    system, tmp_path, graph_name, files, priority
):
    large = write_stories(tmp_path / "large", 500, f"It TAKES ITS TIME in {graph_name}.")
    small = write_stories(tmp_path / "small", files)
    first = system.client.submit([large], large, graph=f"{graph_name}-large")
    system.client.tick()
    waiting = system.client.status(first).in_flight
    assert waiting > 0
    second = system.client.submit([small], small, graph=graph_name, priority=priority)
    seen = []

    def note_written():
        if not seen and system.client.status(second).counts["written"] == files:
            seen.append(system.client.status(first).ended)

    assert system.finish(second, seconds=120, meanwhile=note_written).counts["written"] == files
    going = system.client.status(first)
    assert going.state is RunState.RUNNING
    assert seen[0] <= 2 * waiting, "what was in flight when it came, and about as much again"
    system.client.verbs.cancel(first)
    assert system.finish(first, seconds=120).state is RunState.CANCELLED
