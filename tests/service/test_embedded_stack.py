"""The embedded stack with real servers and workers: owning, joining, surviving, ending."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from workers.embedded import (
    DataFolderUnusable,
    Engine,
    Joined,
    Owned,
    StackLost,
    StackUrls,
    StartFailed,
    open_stack,
)

ROOT = Path(__file__).parents[2]

# A worker with a child of its own, which says by a key that it is there.
WORKER = """
import os, sys, time
import redis
from workers.embedded import die_with_parent
parent = os.getpid()
if os.fork() == 0:
    die_with_parent(parent)
    time.sleep(600)
redis.Redis.from_url(os.environ["REDIS_URL"]).set("worker", os.getpid())
time.sleep(600)
"""

# A command line that owns or joins a stack, tells so, and stays until it is told to end.
COMMAND = """
import os, signal, sys, time
from pathlib import Path
import redis
from workers.cli import interrupts
from workers.embedded import Engine, Owned, open_stack
# As the commands do: what a signal raises in the moment of a fork is dropped by Python.
signal.signal(signal.SIGINT, interrupts._interrupt)
data, server, module, worker, exit_on_term = sys.argv[1:]
if exit_on_term == "yes":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
engine = Engine(Path(server), Path(module), "test")
with open_stack(
    Path(data), engine, {"all": [sys.executable, "-c", worker, data]}, dict(os.environ),
    ready=lambda urls: redis.Redis.from_url(urls.redis).exists("worker") == 1,
) as stack:
    print(type(stack).__name__, flush=True)
    while True:
        interrupts.check_interrupted()
        stack.supervise()
        time.sleep(0.05)
"""


def client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, decode_responses=True, retry=Retry(NoBackoff(), 0), socket_timeout=5)


def ask(url: str, *command: str) -> object:
    with client(url) as connection:
        return connection.execute_command(*command)


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def processes_of(data_dir: Path) -> list[psutil.Process]:
    """Everything that works in the data folder or was started with a path in its parent."""
    found = []
    for process in psutil.process_iter():
        try:
            places = [process.cwd(), *process.cmdline()]
        except psutil.Error:
            continue
        if process.pid != os.getpid() and any(place.startswith(str(data_dir.parent)) for place in places):
            found.append(process)
    return found


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "Grüße an 日本" / ".graphmill"
    yield folder
    wait_until(lambda: not processes_of(folder), 10, "all processes have ended")


@pytest.fixture
def binaries(engine: Engine) -> Engine:
    return Engine(engine.server, engine.module, "test")


@pytest.fixture
def open_here(data_dir: Path, binaries: Engine) -> Iterator[Callable[..., Owned | Joined]]:
    opened: list[Owned | Joined] = []

    def open_one(workers: dict[str, list[str]] | None = None, **options: object) -> Owned | Joined:
        stack = open_stack(data_dir, binaries, workers or {}, dict(os.environ), **options)  # noqa: TID251 - a worker needs PATH and the like
        opened.append(stack)
        return stack

    yield open_one
    for stack in reversed(opened):
        stack.close()


@pytest.fixture
def start_command(data_dir: Path, binaries: Engine, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(exit_on_term: str = "no") -> subprocess.Popen[str]:
        arguments = [str(data_dir), str(binaries.server), str(binaries.module), WORKER, exit_on_term]
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_the_first_owns_two_servers_with_append_only_files_and_limits(open_here, data_dir) -> None:
    stack = open_here()
    assert isinstance(stack, Owned)
    for url in (stack.urls.redis, stack.urls.graph):
        with client(url) as connection:
            settings = connection.config_get("*")
        assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "everysec")
        assert settings["maxmemory-policy"] == "noeviction"
        assert settings["bind"] == "127.0.0.1"
        assert settings["save"] == ""
    assert ask(stack.urls.graph, "GRAPH.CONFIG", "GET", "TIMEOUT_DEFAULT") == ["TIMEOUT_DEFAULT", 30000]
    assert ask(stack.urls.graph, "GRAPH.CONFIG", "GET", "TIMEOUT_MAX") == ["TIMEOUT_MAX", 60000]
    assert ask(stack.urls.graph, "GRAPH.CONFIG", "GET", "MAX_QUEUED_QUERIES") == ["MAX_QUEUED_QUERIES", 200]
    assert ask(stack.urls.graph, "GRAPH.CONFIG", "GET", "EFFECTS_THRESHOLD") == ["EFFECTS_THRESHOLD", 0]
    assert stack.supervise() == []


def test_passwords_are_in_files_of_the_user_only_and_in_no_command_line(open_here, data_dir) -> None:
    stack = open_here()
    password = stack.urls.redis.split("@")[0].rsplit(":", 1)[1]
    with_password = [path for path in data_dir.rglob("*") if path.is_file() and password.encode() in path.read_bytes()]
    assert {path.name for path in with_password} == {"redis.conf", "stack.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in with_password} == {0o600}
    assert all(password not in " ".join(process.cmdline()) for process in processes_of(data_dir))
    with pytest.raises(redis.AuthenticationError):
        ask(stack.urls.redis.replace(password, "guess"), "PING")


def test_data_survives_a_restart_while_the_password_changes(open_here) -> None:
    first = open_here()
    ask(first.urls.redis, "SET", "ledger", "kept")
    ask(first.urls.graph, "GRAPH.QUERY", "KB", "CREATE (:Document {id: 'file:a'})")
    first.close()
    second = open_here()
    assert second.urls.redis != first.urls.redis
    assert ask(second.urls.redis, "GET", "ledger") == "kept"
    assert ask(second.urls.graph, "GRAPH.RO_QUERY", "KB", "MATCH (d:Document) RETURN d.id")[1] == [["file:a"]]


def test_a_restart_replays_what_writes_changed_and_not_the_queries(open_here, data_dir) -> None:
    stack = open_here()
    ask(stack.urls.graph, "GRAPH.QUERY", "KB", "UNWIND range(1, 3) AS i MERGE (:Document {id: i})")
    stack.close()
    logged = b"".join(path.read_bytes() for path in (data_dir / "graph" / "appendonlydir").glob("*.incr.aof"))
    assert b"GRAPH.EFFECT" in logged
    assert b"MERGE" not in logged


def test_closing_leaves_no_process_and_no_record(open_here, data_dir) -> None:
    stack = open_here({"all": [sys.executable, "-c", "import time; time.sleep(600)", str(data_dir)]})
    assert len(processes_of(data_dir)) >= 2
    stack.close()
    stack.close()
    assert processes_of(data_dir) == []
    assert not (data_dir / "stack.json").exists()


def test_a_second_process_joins_and_the_owner_waits_for_it(open_here, start_command, data_dir) -> None:
    owner = start_command()
    assert first_line(owner) == "Owned"
    joined = open_here()
    assert isinstance(joined, Joined)
    assert ask(joined.urls.redis, "EXISTS", "worker") == 1
    assert joined.supervise() == []
    joined.close()


def test_an_owner_that_ends_normally_waits_for_those_who_joined(open_here, start_command, data_dir) -> None:
    stack = open_here({"all": [sys.executable, "-c", WORKER, str(data_dir)]})
    other = start_command()
    assert first_line(other) == "Joined"
    notices: list[str] = []

    def tell(text: str) -> None:
        notices.append(text)
        ask(stack.urls.redis, "PING")
        other.kill()

    stack.close(notice=tell)
    assert len(notices) == 1
    assert other.wait(5) == -signal.SIGKILL


def test_workers_that_nobody_waits_for_start_once_the_stack_is_in_use(open_here, data_dir, monkeypatch) -> None:
    monkeypatch.setattr("workers.embedded.owner.LATER_SECONDS", 0.3)
    worker = [sys.executable, "-c", WORKER, str(data_dir)]
    stack = open_here({"all": worker, "query": worker}, later=["query"])

    def recorded() -> set[str]:
        return set(json.loads((data_dir / "stack.json").read_text(encoding="utf-8"))["children"])

    stack.supervise()
    assert recorded() == {"broker", "graph", "all"}

    def started() -> bool:
        return stack.supervise() == [] and "query" in recorded()

    wait_until(started, 5, "the other worker has started")
    stack.close()
    assert processes_of(data_dir) == []


def test_a_stack_that_ends_at_once_starts_no_worker_that_nobody_waits_for(open_here, data_dir) -> None:
    worker = [sys.executable, "-c", WORKER, str(data_dir)]
    open_here({"query": worker}, later=["query"]).close()
    assert not (data_dir / "logs" / "query.log").exists()


@pytest.mark.parametrize(("answers", "asked"), [([False, False, True], 3), ([True], 1)])
def test_workers_are_told_to_end_once_they_have_nothing_in_hand(answers, asked, open_here) -> None:
    said: list[bool] = []

    def at_rest() -> bool:
        said.append(answers[len(said)])
        return said[-1]

    open_here().close(at_rest=at_rest)
    assert len(said) == asked


def test_workers_that_never_rest_are_told_to_end_all_the_same(open_here, data_dir, monkeypatch) -> None:
    monkeypatch.setattr("workers.embedded.owner.REST_SECONDS", 0.1)
    open_here({"all": [sys.executable, "-c", WORKER, str(data_dir)]}).close(at_rest=lambda: False)
    assert processes_of(data_dir) == []


def test_nobody_joins_an_owner_that_is_leaving(open_here, start_command, data_dir, binaries) -> None:
    stack = open_here({"all": [sys.executable, "-c", WORKER, str(data_dir)]})
    other = start_command()
    assert first_line(other) == "Joined"
    late: list[type[BaseException]] = []

    def tell(_text: str) -> None:
        with pytest.raises(StartFailed, match="leaving") as caught:
            open_stack(data_dir, binaries, {}, {}, timeout_seconds=0.2)
        late.append(caught.type)
        other.kill()

    stack.close(notice=tell)
    assert late == [StartFailed]


def test_two_that_start_at_once_share_one_stack(start_command) -> None:
    both = [start_command(), start_command()]
    assert sorted(first_line(process) for process in both) == ["Joined", "Owned"]


@pytest.mark.parametrize(
    ("number", "exit_on_term"),
    [(signal.SIGKILL, "no"), (signal.SIGTERM, "no"), (signal.SIGTERM, "yes"), (signal.SIGINT, "no")],
)
def test_no_process_is_left_five_seconds_after_the_owner_got(number, exit_on_term, start_command, data_dir) -> None:
    owner = start_command(exit_on_term)
    assert first_line(owner) == "Owned"
    # Two servers, the worker and the child of the worker, beside the owner itself.
    wait_until(lambda: len(processes_of(data_dir)) == 5, 5, "owner, two servers, worker and its child")
    owner.send_signal(number)
    wait_until(lambda: not processes_of(data_dir), 5, f"everything has ended after {number.name}")
    assert owner.wait(5) != 0


def test_ctrl_c_during_the_start_leaves_nothing(start_command, data_dir) -> None:
    owner = start_command()
    wait_until(lambda: len(processes_of(data_dir)) >= 2, 10, "the first server is there")
    owner.send_signal(signal.SIGINT)
    wait_until(lambda: not processes_of(data_dir), 5, "everything has ended")


def test_who_joined_is_told_that_the_owner_died(open_here, start_command) -> None:
    owner = start_command()
    assert first_line(owner) == "Owned"
    joined = open_here()
    owner.kill()
    owner.wait()
    with pytest.raises(StackLost, match="run the command again"):
        joined.supervise()


def test_data_survives_the_kill_of_the_owner(open_here, start_command, data_dir) -> None:
    owner = start_command()
    assert first_line(owner) == "Owned"
    joined = open_here()
    ask(joined.urls.redis, "SET", "ledger", "kept")
    joined.close()
    owner.kill()
    owner.wait()
    again = open_here()  # at once: the old servers may still be writing
    assert isinstance(again, Owned)
    assert ask(again.urls.redis, "GET", "ledger") == "kept"


def test_servers_of_a_dead_owner_are_ended_before_new_ones_start(open_here, data_dir, binaries) -> None:
    open_here().close()
    # As on a system where children do not die with their parent, and as if killed before the record was written.
    orphan = subprocess.Popen([str(binaries.server), "redis.conf"], cwd=data_dir / "broker", start_new_session=True)
    stack = open_here()
    assert orphan.wait(5) == 0
    assert ask(stack.urls.redis, "PING") is True


@pytest.mark.parametrize("content", ["", "{", '{"state": "ready"}', "other release"])
def test_a_stale_or_damaged_record_does_not_matter(content, open_here, data_dir) -> None:
    data_dir.mkdir(parents=True)
    (data_dir / "stack.json").write_text(content, encoding="utf-8")
    assert isinstance(open_here(), Owned)


def test_a_record_whose_pids_belong_to_others_now_kills_nobody(open_here, data_dir) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    data_dir.mkdir(parents=True)
    stranger = {"pid": bystander.pid, "created": 1.0}
    owner = {"owner": bystander.pid, "owner_created": 1.0}
    record = {"state": "ready", **owner, "started": "2026-01-01", "children": {"broker": stranger}}
    (data_dir / "stack.json").write_text(json.dumps(record), encoding="utf-8")
    open_here()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_worker_that_dies_is_started_again_and_so_is_a_server(open_here, data_dir) -> None:

    def registered(urls: StackUrls) -> bool:
        return ask(urls.redis, "EXISTS", "worker") == 1

    stack = open_here({"all": [sys.executable, "-c", WORKER, str(data_dir)]}, ready=registered)
    for name in ("all", "broker"):
        before = json.loads((data_dir / "stack.json").read_text(encoding="utf-8"))["children"][name]["pid"]
        os.kill(before, signal.SIGKILL)
        deaths = []
        while not deaths:
            deaths = stack.supervise()
        assert [(death.name, death.returncode) for death in deaths] == [(name, -signal.SIGKILL)]
        assert "signal 9" in str(deaths[0])

        def restarted(name: str = name, before: int = before) -> bool:
            stack.supervise()
            return json.loads((data_dir / "stack.json").read_text(encoding="utf-8"))["children"][name]["pid"] != before

        wait_until(restarted, 10, f"{name} is back")

    def answers() -> bool:
        try:
            return bool(ask(stack.urls.redis, "PING"))
        except redis.ConnectionError:
            return False

    wait_until(answers, 10, "the broker answers at its old address")


def test_a_graph_server_that_hangs_is_ended_and_comes_back_with_its_data(open_here) -> None:
    stack = open_here()
    ask(stack.urls.graph, "GRAPH.QUERY", "KB", "CREATE (:Document {id: 'file:a'})")
    os.kill(int(ask(stack.urls.graph, "INFO", "server")["process_id"]), signal.SIGSTOP)
    pulse = stack._graph.pulse
    pulse._clock = lambda: time.monotonic() * 60
    deaths: list[str] = []

    def told() -> bool:
        deaths.extend(str(death) for death in stack.supervise())
        return bool(deaths)

    wait_until(told, 10, "it is ended")
    assert "graph hung, was ended and is started again" in deaths[0]
    pulse._clock = time.monotonic

    def kept() -> bool:
        stack.supervise()
        try:
            answer = ask(stack.urls.graph, "GRAPH.RO_QUERY", "KB", "MATCH (d:Document) RETURN d.id")
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        return answer[1] == [["file:a"]]

    wait_until(kept, 20, "the graph is there again")


def test_a_worker_that_cannot_start_is_an_error_with_its_last_words(open_here, data_dir) -> None:
    with pytest.raises(StartFailed, match="my last words"):
        open_here({"all": [sys.executable, "-c", "raise SystemExit('my last words')"]}, ready=lambda _urls: False)
    with pytest.raises(StartFailed, match="all cannot be started: /no/such/program"):
        open_here({"all": ["/no/such/program"]})
    assert processes_of(data_dir) == []


def test_a_worker_that_never_gets_ready_is_an_error(open_here, data_dir) -> None:
    with pytest.raises(StartFailed, match="not ready within"):
        open_here(
            {"all": [sys.executable, "-c", "import time; time.sleep(600)", str(data_dir)]},
            ready=lambda _urls: False,
            timeout_seconds=2,
        )
    assert processes_of(data_dir) == []


def test_damaged_data_is_told_with_the_end_of_the_log(open_here, data_dir) -> None:
    open_here().close()
    for part in (data_dir / "broker" / "appendonlydir").glob("*.rdb"):
        part.write_bytes(b"REDIS9999" + bytes(100))
    with pytest.raises(StartFailed, match=r"(?s)broker server ended.*newer engine.*RDB"):
        open_here()
    assert processes_of(data_dir) == []


def test_a_module_that_does_not_load_is_told_with_the_end_of_the_log(data_dir, binaries, tmp_path) -> None:
    module = tmp_path / "falkordb.so"
    module.write_bytes(b"no library")
    with pytest.raises(StartFailed, match=r"(?s)graph server ended.*falkordb\.so"):
        open_stack(data_dir, Engine(binaries.server, module, "test"), {}, {})


def test_a_data_folder_that_cannot_be_made_is_named(binaries, tmp_path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(DataFolderUnusable, match="file/data cannot be used: Not a directory"):
        open_stack(tmp_path / "file" / "data", binaries, {}, {})


# Runs in a mount namespace of its own, where it may mount file systems.
IN_A_NAMESPACE = """
import os, subprocess, sys
from pathlib import Path
from workers.embedded import Engine, EmbeddedError, open_stack
folder, server, module, kind = sys.argv[1:]
size = {"full": "4k", "no-room-for-a-log": "8k", "no-room-for-data": "16k", "read-only": "1m"}[kind]
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
if kind == "read-only":
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
try:
    open_stack(Path(folder) / "data", Engine(Path(server), Path(module), "test"), {}, {}).close()
except EmbeddedError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("full", "No space left on device. Make room"),
        ("no-room-for-a-log", "disk is full"),
        ("no-room-for-data", "disk is full"),
        ("read-only", "Read-only file system. Make it writable"),
    ],
)
def test_a_full_disk_or_a_read_only_one_is_told(kind, words, binaries, tmp_path) -> None:
    inside = ["unshare", "--user", "--map-root-user", "--mount"]
    try:
        subprocess.run([*inside, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine makes no user namespaces")
    arguments = [str(tmp_path), str(binaries.server), str(binaries.module), kind]
    told = subprocess.run(
        [*inside, sys.executable, "-c", IN_A_NAMESPACE, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert told.stdout.startswith(("DataFolderUnusable", "StartFailed"))
    assert words in told.stdout
