"""Entities that are one become one, for a reason that is told, and are taken apart again for good."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from scheduler.leases import Access, GraphLease
from workers.bootstrap import build_leases
from workers.merging import MergeUnknown

PRESS, PRESS_LTD = "northlight press__concept", "northlight press ltd__concept"
TEXTS = {
    "a.txt": "Ada Quill founded Northlight Press. Northlight Press met Bram Oster.",
    "b.txt": "Cass Verity bought Northlight Press Ltd from her.",
}
NAMES = "MATCH (e:__Entity__) RETURN e.id ORDER BY e.id"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "corpus"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text, "utf-8")
    return root


def finish(system, graph, number):
    """Drive a finalize to its end; gives its status."""
    waiting = threading.Event()
    while (status := system.client.finalize_status(graph)).state == "running" or status.number < number:
        system.client.tick()
        waiting.wait(0.05)
    assert status.error == ""
    return status


def ids(system, graph):
    return [one for (one,) in system.rows(graph, NAMES)]


def test_a_merge_is_listed_explained_undone_and_not_made_again(system, folder, graph_name):
    system.ingest(folder, graph_name)
    assert PRESS_LTD not in ids(system, graph_name)
    (merge,) = system.client.merges(graph_name)
    assert (merge.id, merge.into, merge.why.reason, merge.why.judge) == (PRESS_LTD, PRESS, "name", "rules")
    told = system.client.explain_merge(graph_name, PRESS_LTD)
    assert (told.id, [member.id for member in told.members]) == (PRESS, [PRESS, PRESS_LTD])
    assert {place.source for member in told.members for place in member.places} == {"a.txt", "b.txt"}
    system.client.undo_merge(graph_name, PRESS_LTD)
    assert PRESS_LTD in ids(system, graph_name)
    finish(system, graph_name, system.client.finalize(graph_name))
    assert system.client.merges(graph_name) == []
    assert system.client.verify(graph_name).findings == ()
    mentions = system.rows(graph_name, "MATCH (e:__Entity__)-[:MENTIONED_IN]->(c) RETURN e.id, count(c) ORDER BY e.id")
    assert dict(mentions)[PRESS_LTD] == 1


def test_what_was_not_merged_cannot_be_undone(system, folder, graph_name):
    system.ingest(folder, graph_name)
    with pytest.raises(MergeUnknown, match="nobody"):
        system.client.undo_merge(graph_name, "nobody")
    with pytest.raises(MergeUnknown, match="nobody"):
        system.client.explain_merge(graph_name, "nobody")


def test_a_dry_run_tells_the_merges_and_makes_none(system, folder, graph_name):
    system.finish(system.client.submit([folder], folder, graph=graph_name, finalize="never"))
    (merge,) = system.client.plan_merges(graph_name).merges
    assert (merge.id, merge.name, merge.into, merge.into_name) == (
        PRESS_LTD, "Northlight Press Ltd", PRESS, "Northlight Press",
    )  # fmt: skip
    assert {PRESS, PRESS_LTD} <= set(ids(system, graph_name))
    assert system.client.merges(graph_name) == []


def begin(system, *arguments):
    """Start a command of graphmill that answers as JSON."""
    environment = {**os.environ, **system.environment}  # noqa: TID251 - a child process needs a PATH
    command = [sys.executable, "-m", "workers.cli", *arguments, "--json"]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def end(command):
    """Wait for a command; gives its exit status, and what it wrote line by line."""
    out, err = command.communicate(timeout=60)
    return command.returncode, [json.loads(line) for line in out.splitlines()], err


def test_the_commands_tell_the_same(system, folder, graph_name):
    system.ingest(folder, graph_name)

    def run(*arguments):
        return end(begin(system, "merges", *arguments, "--graph", graph_name))[:2]

    assert [one["id"] for one in run("list")[1]] == [PRESS_LTD]
    with GraphLease.hold(build_leases(system.settings), graph_name, Access.SHARED, "a writer"):
        code, (answer,) = run("undo", PRESS_LTD)
        assert (code, answer["error"]) == (3, "lease_unavailable")
    assert run("undo", PRESS_LTD) == (0, [{"graph": graph_name, "undone": PRESS_LTD}])
    assert system.client.merges(graph_name) == []


def test_watching_follows_a_finalize_that_others_began_and_begins_none(system, folder, graph_name):
    system.ingest(folder, graph_name)
    number = system.client.finalize_status(graph_name).number
    watch = ("finalize", "--watch", "--graph", graph_name)
    status, (last,), remarks = end(begin(system, *watch))
    assert (status, last["number"], last["report"]["merged"]) == (0, number, 1)
    assert last["plan"] == {"held": [], "clashes": []}
    assert f"No finalize of graph {graph_name} is running." in remarks
    # It ends only once the lease is free.
    with GraphLease.hold(build_leases(system.settings), graph_name, Access.EXCLUSIVE, "another"):
        assert system.client.finalize(graph_name) == number + 1
        watching = begin(system, *watch)
        assert f"Following finalize {number + 1}" in watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        status, (answer,), _ = end(watching)
        assert (status, answer["error"]) == (130, "interrupted")
        assert "goes on" in answer["message"]
        assert system.client.finalize_status(graph_name).state == "running"
        watching = begin(system, *watch)
        assert f"Following finalize {number + 1}" in watching.stderr.readline()
    status, (ended,), _ = end(watching)
    assert (status, ended["number"], ended["state"], ended["error"]) == (0, number + 1, "idle", "")


def test_a_dry_run_tells_merges_by_name_as_json(system, folder, graph_name):
    system.finish(system.client.submit([folder], folder, graph=graph_name, finalize="never"))
    status, (told,), _ = end(begin(system, "finalize", "--dry-run", "--graph", graph_name))
    assert (status, told["dry_run"], told["counts"]["sets"]) == (0, True, 1)
    assert told["not_embedded"] > 1
    (merge,) = told["merges"]
    assert (merge["name"], merge["into_name"]) == ("Northlight Press Ltd", "Northlight Press")
    assert (told["held"], told["clashes"], told["undecided"]) == ([], [], [])
