"""Entities that are one become one, for a reason that is told, and are taken apart again for good."""

import json
import os
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
    decision = system.client.plan_merges(graph_name)
    assert [(one.survivor, one.duplicate) for one in decision.plan.merges] == [(PRESS, PRESS_LTD)]
    assert {PRESS, PRESS_LTD} <= set(ids(system, graph_name))
    assert system.client.merges(graph_name) == []


def test_the_commands_tell_the_same(system, folder, graph_name):
    system.ingest(folder, graph_name)

    def run(*arguments):
        command = [sys.executable, "-m", "workers.cli", "merges", *arguments, "--graph", graph_name, "--json"]
        environment = {**os.environ, **system.environment}  # noqa: TID251 - a child process needs a PATH
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    assert [one["id"] for one in run("list")[1]] == [PRESS_LTD]
    with GraphLease.hold(build_leases(system.settings), graph_name, Access.SHARED, "a writer"):
        code, (answer,) = run("undo", PRESS_LTD)
        assert (code, answer["error"]) == (3, "lease_unavailable")
    assert run("undo", PRESS_LTD) == (0, [{"graph": graph_name, "undone": PRESS_LTD}])
    assert system.client.merges(graph_name) == []
