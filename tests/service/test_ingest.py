"""Folders go through a real queue, real workers and a real graph; every file's fate is told."""

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest

from scheduler.records import Batch
from scheduler.states import RunState

STORY = "Ada Quill founded Northlight Press in Port Ember. {} met Bram Oster at the Tidewater Fair. Nothing else."


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "a folder with spaces é"
    place.mkdir()
    for i in range(7):
        (place / f"story{i}.txt").write_text(STORY.format(f"Person{chr(65 + i)} Lane") + f" Number {i}.", "utf-8")
    return place


def count(system, graph, pattern):
    return system.rows(graph, f"MATCH {pattern} RETURN count(*)")[0][0]


def test_a_folder_becomes_a_finalized_graph_with_provenance(system, folder, graph_name):
    (folder / "notes.md").write_text("# Notes\n\n## The Fair\n\nBram Oster sold maps at the Tidewater Fair.\n", "utf-8")
    status = system.ingest(folder, graph_name)
    assert status.counts["written"] == status.total == 8
    assert count(system, graph_name, "(d:Document) WHERE d.content_hash IS NOT NULL") == 8
    assert count(system, graph_name, "(c:Chunk) WHERE c.embedding IS NULL") == 0
    assert count(system, graph_name, "(e:__Entity__) WHERE e.embedding IS NULL") == 0
    assert count(system, graph_name, "()-[r:RELATES]->() WHERE r.embedding IS NULL") == 0
    assert count(system, graph_name, "(p:__Pending__)") == 0
    assert count(system, graph_name, "(e:__Entity__) WHERE NOT (e)-[:MENTIONED_IN]->()") == 0
    oster = "(e:__Entity__ {name: 'Bram Oster'})"
    assert count(system, graph_name, oster) == 1, "one entity for all its documents"
    assert count(system, graph_name, f"{oster}-[:MENTIONED_IN]->(c:Chunk)<-[:PART_OF]-(d:Document)") == 8


def test_a_second_ingest_finds_everything_unchanged_and_needs_no_finalize(system, folder, graph_name):
    first = system.ingest(folder, graph_name)
    before = system.client.finalize_status(graph_name).number
    second = system.ingest(folder, graph_name)
    assert first.counts["written"] == 7
    assert second.counts["unchanged"] == 7
    assert system.client.finalize_status(graph_name).number == before


def test_bad_files_end_by_themselves_with_their_reason(system, folder, graph_name):
    (folder / "empty.txt").write_bytes(b"")
    (folder / "blank.md").write_text(" \n\n\t", "utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")
    (folder / "program.txt").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    status = system.ingest(folder, graph_name)
    outcomes = system.outcomes(status.run)
    assert outcomes["empty.txt"] == ("skipped", "empty_document")
    assert outcomes["blank.md"] == ("skipped", "empty_document")
    assert outcomes["broken.pdf"] == ("failed", "corrupt")
    assert outcomes["program.txt"] == ("failed", "not_this_format")
    assert outcomes["picture.png"] == ("skipped", "unsupported_format")
    assert status.counts["written"] == 7
    assert all(r.message for r in system.client.files(status.run) if r.state != "written")


def test_a_file_that_vanishes_after_the_listing_is_missing(system, folder, graph_name):
    run = system.client.submit([folder], folder, graph=graph_name)
    (folder / "story6.txt").unlink()
    status = system.finish(run)
    assert system.outcomes(run)["story6.txt"] == ("failed", "missing")
    assert status.counts["written"] == 6


def test_two_runs_over_one_folder_write_it_once(system, folder, graph_name):
    runs = [system.client.submit([folder], folder, graph=graph_name) for _ in range(2)]
    ended = [system.finish(run) for run in runs]
    assert sum(s.counts["written"] for s in ended) == 7
    assert sum(s.counts["unchanged"] for s in ended) == 7
    assert count(system, graph_name, "(c:Chunk)") == 7


def test_names_that_are_not_utf8_and_both_forms_of_an_accent_are_three_documents(system, tmp_path, graph_name):
    place = tmp_path / "names"
    place.mkdir()
    for name in (b"caf\xc3\xa9.txt", b"cafe\xcc\x81.txt", b"bad\xff.txt"):
        (place / name.decode("utf-8", "surrogateescape")).write_text("Ada Quill wrote this.", "utf-8")
    status = system.ingest(place, graph_name)
    assert status.counts["written"] == 3
    assert "bad\\xff.txt" in system.outcomes(status.run)
    assert count(system, graph_name, "(d:Document)") == 3


def test_a_run_survives_the_kill_of_its_only_worker(system, folder, graph_name):
    for i in range(60):
        (folder / f"more{i}.txt").write_text(STORY.format(f"Guest{i}"), "utf-8")
    helper = system.start_worker()
    run = system.client.submit([folder], folder, graph=graph_name)
    killed = []

    def kill_once():
        if not killed and system.client.status(run).ended > 5:
            for process in [*psutil.Process(helper.pid).children(), psutil.Process(helper.pid)]:
                process.send_signal(signal.SIGKILL)
            killed.append(helper.wait())

    status = system.finish(run, meanwhile=kill_once)
    helper.kill()
    assert killed
    assert status.counts["written"] == status.total == 67


def test_messages_carry_references_only(system, folder):
    from tasks.canvas import batch_chain

    message = batch_chain(Batch("20261130-000000-abcdef", 1, "kb", "17", tuple(range(200))))
    assert len(json.dumps(message)) < 16_000
    assert len(json.dumps(message.tasks[0])) < 4_000


def test_celery_tools_work_against_the_same_broker(system):
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "workers.app", "inspect", "ping"],
        env=system.environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "pong" in done.stdout


def test_a_finalize_on_demand_ends_and_changes_nothing_more(system, folder, graph_name):
    system.ingest(folder, graph_name)
    number = system.client.finalize(graph_name)
    deadline = time.monotonic() + 30
    while (status := system.client.finalize_status(graph_name)).state == "running":
        assert time.monotonic() < deadline
        system.client.tick()
        time.sleep(0.05)
    assert status.number == number
    assert status.error == ""
    assert status.report.get("merged", 0) == 0


def test_a_run_told_not_to_finalize_is_done_without(system, folder, graph_name):
    status = system.ingest(folder, graph_name, finalize="never")
    assert status.state is RunState.DONE
    assert count(system, graph_name, "(p:__Pending__)") > 0


def test_a_cancelled_run_keeps_what_is_finished_and_leaves_nothing_half_written(system, folder, graph_name):
    for i in range(150):
        (folder / f"more{i}.txt").write_text(STORY.format(f"Guest{i}"), "utf-8")
    run = system.client.submit([folder], folder, graph=graph_name)
    cancelled = []

    def cancel_once():
        if not cancelled and system.client.status(run).ended >= 20:
            cancelled.append(system.client.verbs.cancel(run))

    status = system.finish(run, meanwhile=cancel_once)
    assert status.state is RunState.CANCELLED
    assert status.counts["cancelled"] > 0
    assert status.counts["written"] + status.counts["cancelled"] == status.total
    assert count(system, graph_name, "(d:Document)") == status.counts["written"]
    assert count(system, graph_name, "(d:Document) WHERE d.content_hash IS NULL") == 0
    again = system.ingest(folder, graph_name)
    assert again.counts["unchanged"] == status.counts["written"]


def test_a_paused_run_goes_on_where_it_stopped(system, folder, graph_name):
    run = system.client.submit([folder], folder, graph=graph_name)
    system.client.verbs.pause(run, "a look at it")
    system.client.tick()
    assert system.client.status(run).reason == "a look at it"
    system.client.resume(run)
    assert system.finish(run).counts["written"] == 7


def test_a_failed_file_is_tried_again_once_it_is_mended(system, folder, graph_name):
    (folder / "late.pdf").write_bytes(b"%PDF-1.7 broken")
    run = system.ingest(folder, graph_name).run
    assert system.outcomes(run)["late.pdf"] == ("failed", "corrupt")
    (folder / "late.pdf").unlink()
    assert system.client.verbs.retry(run, "corrupt") == 1
    assert system.finish(run).failed == 1
    assert system.outcomes(run)["late.pdf"] == ("failed", "missing"), "it was read anew"
