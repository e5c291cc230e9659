"""Stage results are collected beside real workers: what was needed after all is made again."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.adapters.artifacts import FolderArtifactStore
from scheduler.stages import run_stage
from workers.bootstrap import collect_artifacts
from workers.resources import build_resources

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    for i in range(4):
        (place / f"{i}.txt").write_text(f"Ann Smith met Bob Jones in {tmp_path.name} {i}.", encoding="utf-8")
    return place


def collect_all(system):
    FolderArtifactStore(system.settings.artifacts)
    return collect_artifacts(system.settings, float("inf"), dry_run=False)


def test_a_file_whose_artifact_is_gone_goes_round_again_at_once_and_is_written(system, folder, graph_name, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    resources = build_resources(system.settings)
    ledger, stages = resources.ledger, resources.stages
    # Before the files of runs that other tests have left.
    run = system.client.submit([folder], folder, graph=graph_name, finalize="never", priority=9)

    def take():
        batch = ledger.take(window=9, max_files=20, max_bytes=100_000, spread=1)
        assert batch.run == run
        return batch

    def work(batch, *names):
        return [run_stage(ledger, batch, name, stages[name], "w") for name in names]

    for done, missing_in in (
        (["load"], "chunk"),
        (["load", "chunk"], "extract"),
        (["load", "chunk", "extract"], "write"),
    ):
        batch = take()
        assert work(batch, *done) == [4] * len(done)
        assert collect_all(system).removed >= 4
        assert work(batch, missing_in) == [0]
        assert set(system.outcomes(run).values()) == {("waiting", "artifact_missing")}
    work(take(), "load", "chunk", "extract", "write")
    assert set(system.outcomes(run).values()) == {("written", "ok")}
    assert {report.details.get("starts", 0) for report in ledger.files(run)} == {0}


def test_a_run_ends_whole_although_everything_is_collected_again_and_again(system, folder, graph_name):
    removed, looks = 0, 0

    def collect_now_and_then():
        nonlocal removed, looks
        looks += 1
        if looks % 8 == 1:
            removed += collect_all(system).removed

    # What a finalize has sealed is not made again: the command spares it.
    run = system.client.submit([folder], folder, graph=graph_name, finalize="never")
    status = system.finish(run, seconds=120, meanwhile=collect_now_and_then)
    removed += collect_all(system).removed
    assert (status.counts["written"], status.error) == (4, "")
    assert removed > 0


def command(system, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "workers.cli", "artifacts", "gc", *arguments],
        env={**system.environment, "PYTHONPATH": f"{ROOT}:{HERE}"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def let_age(system, days):
    then = time.time() - days * 86_400
    for path in (system.settings.artifacts / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def test_the_command_tells_what_it_frees_and_spares_what_a_paused_run_may_need(system, folder, graph_name):
    collect_all(system)
    system.ingest(folder, graph_name)
    let_age(system, 40)
    run = system.client.submit([folder], folder, graph=f"{graph_name}-other")
    system.client.verbs.pause(run, "for long")
    key = f"gm:run:{run}"
    redis = system.client.ledger._redis
    redis.hset(key, "created_at", int((time.time() - 50 * 86_400) * 1000))

    spared = command(system, "--json")
    assert spared.returncode == 0, spared.stderr
    assert "A run or finalize goes on that is older than that" in spared.stderr
    document = json.loads(spared.stdout)
    assert (document["removed"], document["kept"] > 8) == (0, True)

    system.client.verbs.cancel(run)
    tried = json.loads(command(system, "--json", "--dry-run").stdout)
    assert (tried["dry_run"], tried["removed"], tried["kept"]) == (True, document["kept"], 0)
    assert tried["removed_bytes"] == document["kept_bytes"]
    done = command(system)
    assert f"{document['kept']} stage results, 0 unfinished files and" in done.stdout
    assert "; 0 stay (0.0 MB)." in done.stdout
    assert json.loads(command(system, "--json").stdout)["removed"] == 0


def test_results_that_were_used_lately_stay(system, folder, graph_name):
    collect_all(system)
    system.ingest(folder, graph_name)
    let_age(system, 3)
    kept = json.loads(command(system, "--json", "--older-than", "4").stdout)["kept"]
    assert kept > 8
    # Another graph's run reads them all: that is use.
    system.ingest(folder, f"{graph_name}-other")
    assert json.loads(command(system, "--json", "--older-than", "2").stdout)["removed"] < kept
    assert command(system, "--older-than", "-1").returncode == 2


def test_a_folder_that_is_no_store_is_refused(system, tmp_path):
    (tmp_path / "holiday.jpg").touch()
    system = type(system)(
        system.client, system.settings, {**system.environment, "GRAPHMILL_ARTIFACTS_DIR": str(tmp_path)}, system.log
    )
    done = command(system, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "artifact_store_missing"
    assert "is no artifact folder of graphmill" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]
