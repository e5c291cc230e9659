"""Folders that vanish, files that change under the reader, two runs on the same files, names of every kind."""

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.errors import LoadError
from pipeline.ids import escape_path
from scheduler.reading import MOST_WAITS
from scheduler.states import RunState
from workers.app import create_app
from workers.client import Client

ROOT = Path(__file__).parents[2]
STORY = "Ada Quill founded Northlight Press in Port Ember. Person{} met Bram Oster at the Tidewater Fair."


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    (place / "deep").mkdir(parents=True)
    for i in range(12):
        (place / "deep" / f"story{i}.txt").write_text(STORY.format(i), "utf-8")
    return place


def test_two_runs_that_begin_at_the_same_instant_write_each_file_once(system, folder, graph_name):
    together = threading.Barrier(2)

    def ingest(_):
        client = Client(system.settings, create_app(system.settings))
        together.wait(30)
        run = client.submit([folder], folder, graph=graph_name)
        together.wait(30)
        return system.finish(run)

    for i in range(60):
        # Two names of one canonical key: a merge, whose survivor must not depend on who came first.
        name = "Larkspur Optics Ltd" if i % 2 else "Larkspur Optics"
        (folder / f"more{i}.txt").write_text(f"{STORY.format(i)} See {name}.", "utf-8")
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(ingest, range(2)))
    assert [status.state for status in ended] == [RunState.DONE] * 2
    fates = [system.outcomes(status.run) for status in ended]
    for name in fates[0]:
        assert sorted(fate[name] for fate in fates) == [("unchanged", "ok"), ("written", "ok")]
    alone = f"{graph_name}-alone"
    system.ingest(folder, alone)
    assert system.client.fingerprint(graph_name).hash == system.client.fingerprint(alone).hash
    assert system.client.verify(graph_name).findings == ()


@pytest.mark.slow
def test_a_folder_that_vanishes_and_a_file_that_keeps_changing_end_their_runs_and_are_healed(
    system, folder, tmp_path, graph_name
):
    """One test for both, as each takes all the patience that there is."""
    busy = tmp_path / "busy"
    busy.mkdir()
    (busy / "calm.txt").write_text(STORY.format("Calm"), "utf-8")
    over = threading.Event()

    def keep_writing():
        with (busy / "log.txt").open("wb", buffering=0) as log:
            log.truncate(100 * 2**20)  # reading it takes longer than any pause of this thread on a busy machine
            while not over.wait(0.0005):
                os.pwrite(log.fileno(), b"Ada Quill wrote more.", 0)

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        moving = system.client.submit([busy], busy, graph=graph_name)
        gone = system.client.submit([folder], folder, graph=graph_name)
        folder.rename(tmp_path / "elsewhere")
        ended = [system.finish(run, seconds=120) for run in (moving, gone)]
    finally:
        over.set()
        writer.join()
    assert [(status.state, status.failed) for status in ended] == [(RunState.DONE, 1), (RunState.DONE, 12)]
    assert system.outcomes(moving) == {"calm.txt": ("written", "ok"), "log.txt": ("failed", "keeps_changing")}
    assert set(system.outcomes(gone).values()) == {("failed", "root_missing")}
    for report in system.client.files(gone):
        assert str(folder) in report.message
        assert f"tried {MOST_WAITS + 1} times" in report.message

    (tmp_path / "elsewhere").rename(folder)
    (busy / "log.txt").write_text("Ada Quill has ended.", "utf-8")
    for run, files in ((gone, 12), (moving, 1)):
        assert system.client.verbs.retry(run) == files
        assert system.finish(run).failed == 0
    assert system.rows(graph_name, "MATCH (d:Document) RETURN count(d)") == [[14]]


def test_a_path_that_is_not_there_makes_no_run(system, tmp_path, graph_name):
    before = [status.run for status in system.client.runs()]
    with pytest.raises(LoadError, match="nowhere does not exist"):
        system.client.submit([tmp_path / "nowhere"], tmp_path, graph=graph_name)
    assert [status.run for status in system.client.runs()] == before


SUBMIT = """
import sys
import time
from pathlib import Path

import psutil

from workers.app import create_app
from workers.client import Client
from workers.settings import Settings

folder = Path(sys.argv[1])
client = Client(Settings(), create_app(Settings()))
client.submit([folder / "few"], folder, graph=sys.argv[2])
memory = psutil.Process().memory_info
before, began, most = memory().rss, time.monotonic(), 0

def listed(*_):
    global most
    most = max(most, memory().rss)

run = client.submit([folder / "many"], folder, graph=sys.argv[2], listed=listed)
print(client.status(run).total, most - before, time.monotonic() - began)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)  # making the files takes longer than listing them
def test_a_folder_of_very_many_files_is_submitted_in_little_memory_and_time(system, tmp_path, graph_name):
    count = 200_000
    for place, files in (("few", 1), ("many", count)):
        (tmp_path / place).mkdir()
        into = os.open(tmp_path / place, os.O_RDONLY)
        for i in range(files):
            os.close(os.open(f"document-number-{i:07}.txt", os.O_CREAT | os.O_WRONLY, dir_fd=into))
        os.close(into)
    done = subprocess.run(
        [sys.executable, "-c", SUBMIT, str(tmp_path), graph_name],
        env=system.environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "many")
    total, grown, seconds = done.stdout.splitlines()[-1].split()
    assert int(total) == count
    assert int(grown) < 300 * count
    assert float(seconds) < 120
    (run,) = [status.run for status in system.client.runs() if status.total == count]
    while system.client.verbs.cancel(run) if not system.client.status(run).over else 0:
        pass


def test_one_folder_by_many_spellings_is_one_set_of_documents(system, folder, tmp_path, graph_name):
    (tmp_path / "link").symlink_to(folder)
    (folder / "loop").symlink_to(folder)
    (folder / "again.txt").symlink_to("deep/story1.txt")
    first = system.ingest(folder, graph_name)
    assert first.counts["written"] == first.total == 12
    link = tmp_path / "link"
    for paths, root in (
        ([link], link),
        ([folder, folder / "deep", folder, link / "deep" / "story1.txt"], folder),
        ([folder / "deep" / ".." / "deep"], link),
    ):
        again = system.finish(system.client.submit(paths, root, graph=graph_name))
        assert again.counts["unchanged"] == again.total == 12
    assert system.rows(graph_name, "MATCH (d:Document) RETURN count(d)") == [[12]]


def test_names_of_every_kind_become_documents_of_their_own(system, tmp_path, graph_name):
    names = [
        b"caf\xe9.txt", b"two\nlines.txt", b"\x1b[31mred.txt", b"[red]markup.txt", b"-n.txt", b" .txt", b"\\x41.txt",
        b"it's \"quoted\" `$(id)` {0} %s.txt", "\u202egnp.txt".encode(), b"Story.txt", b"story.txt",
        b"x" * 251 + b".txt", "\u00e9".encode() * 125 + b".txt", b"\xff" * 251 + b".txt",
    ]  # fmt: skip
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("Ada Quill wrote this.", "utf-8")
    status = system.ingest(tmp_path, graph_name)
    assert status.counts["written"] == status.total == len(names)
    paths = {path for (path,) in system.rows(graph_name, "MATCH (d:Document) RETURN d.path")}
    assert paths == set(system.outcomes(status.run)) == {escape_path(name) for name in names}
