"""docker-compose.yml without Docker: its rules, and every service's command run as a plain process."""

import base64
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from scheduler import workers
from workers.celeryconfig import celery_config
from workers.roles import ROLES
from workers.settings import Settings

ROOT = Path(__file__).parents[2]
PASSWORDS = {"REDIS_PASSWORD": "redis-pw", "FALKORDB_PASSWORD": "falkordb-pw", "FLOWER_BASIC_AUTH": "someone:flower-pw"}
VARIABLES = {**PASSWORDS, "GRAPHMILL_CONCURRENCY": "1"}
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")
SERVERS = {"redis", "falkordb"}
UNITS = {"s": 1, "m": 60}
START_SECONDS = 45
"""How long the services may take to start, all together."""


def interpolate(value: Any, variables: dict[str, str]) -> Any:
    """Fill variables in as compose does: ${X}, ${X:-default}, ${X:?why it is needed}."""
    if isinstance(value, dict):
        return {key: interpolate(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolate(item, variables) for item in value]
    if not isinstance(value, str):
        return value

    def fill(match: re.Match[str]) -> str:
        name, kind, text = match.groups()
        if variables.get(name):
            return variables[name]
        if kind == "?":
            raise KeyError(name)
        return text if kind == "-" else ""

    return VARIABLE.sub(fill, value)


def read_services(variables: dict[str, str] = VARIABLES) -> dict[str, dict[str, Any]]:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    services = interpolate(yaml.safe_load(text), variables)["services"]
    return {name: service for name, service in services.items() if "profiles" not in service}


def seconds(text: str) -> float:
    return float(text[:-1]) * UNITS[text[-1]]


def mounts(service: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """Target to (source, whether it is read-only)."""
    found = {}
    for volume in service.get("volumes", ()):
        source, target, *mode = volume.split(":")
        found[target] = (source, mode == ["ro"])
    return found


SERVICES = read_services()
APPS = {name: service for name, service in SERVICES.items() if name not in SERVERS}


@pytest.mark.parametrize("name", sorted(PASSWORDS))
def test_a_missing_password_is_refused(name) -> None:
    with pytest.raises(KeyError, match=name):
        read_services({key: value for key, value in VARIABLES.items() if key != name})


def test_every_part_of_the_system_has_a_service() -> None:
    roles = {service["command"][2] for service in APPS.values() if service["command"][:2] == ["graphmill", "worker"]}
    assert roles <= ROLES.keys()
    read = {queue for role in roles for queue in ROLES[role].queues}
    assert read == {queue for role in ROLES.values() for queue in role.queues}
    assert {"beat", "flower", *SERVERS} <= SERVICES.keys()


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_is_pinned_watched_and_reachable_from_this_host_only(name) -> None:
    service = SERVICES[name]
    assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])
    assert service["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("name", sorted(APPS))
def test_an_application_service_shares_the_image_and_may_end_in_good_order(name) -> None:
    service = APPS[name]
    assert service["image"] == APPS["worker-ingest"]["image"]
    assert service["read_only"]
    soft_shutdown = celery_config(Settings())["worker_soft_shutdown_timeout"]
    assert seconds(service["stop_grace_period"]) > soft_shutdown + 10
    assert service["environment"]["REMAP_SIGTERM"] == "SIGQUIT"


@pytest.mark.parametrize("name", sorted(name for name in APPS if name.startswith("worker-")))
def test_a_worker_sees_the_files_read_only_and_shares_artifacts(name) -> None:
    service = APPS[name]
    mounted = mounts(service)
    assert mounted[service["environment"]["GRAPHMILL_FILES_ROOT"]][1]
    assert mounted[service["environment"]["GRAPHMILL_ARTIFACTS_DIR"]] == ("artifacts", False)
    assert service["healthcheck"]["test"] == ["CMD", "graphmill", "health", "--role", service["command"][2]]


def test_what_the_compose_file_and_the_image_mount_or_copy_exists() -> None:
    for service in SERVICES.values():
        for source, _ in mounts(service).values():
            assert not source.startswith("./ops") or (ROOT / source).exists()
    dockerfile = (ROOT / APPS["beat"]["build"]["dockerfile"]).read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
    assert re.search(r"^USER (?!root)", dockerfile, re.MULTILINE)


@dataclass
class Host:
    """This machine in the place of the containers: other addresses, paths and programs."""

    ports: dict[str, int]
    paths: dict[str, str]
    server: Path
    module: Path
    folder: Path
    deadline: float = 0.0

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def translate(self, text: str) -> str:
        # In one pass, longest first: a short path may be the end of a longer one.
        text = re.sub("|".join(self.paths), lambda match: self.paths[match[0]], text)
        for name in SERVERS:
            text = text.replace(f"@{name}:6379", f"@127.0.0.1:{self.ports[name]}")
        return text.replace("127.0.0.1:5555", f"127.0.0.1:{self.ports['flower']}")

    def environment(self, service: dict[str, Any]) -> dict[str, str]:
        given = {name: self.translate(str(value)) for name, value in service.get("environment", {}).items()}
        given |= {"FLOWER_PORT": str(self.ports["flower"])} if "FLOWER_PORT" in given else {}
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}  # noqa: TID251 - a container has these too
        return kept | given | {"PYTHONPATH": str(ROOT)}

    def command(self, name: str, service: dict[str, Any]) -> list[str]:
        if name == "falkordb":
            # As the image's start script puts them together.
            given = service["environment"]
            words = [
                *("redis-server", *shlex.split(given["REDIS_ARGS"])),
                *("--dir", "/var/lib/falkordb/data", "--loadmodule", str(self.module)),
                *shlex.split(given["FALKORDB_ARGS"]),
            ]
        else:
            words = list(service["command"])
        if name in SERVERS:
            words += [] if name == "falkordb" else ["--dir", "/data"]
            at = words.index("--requirepass")
            words[at:at] = ["--port", str(self.ports[name]), "--bind", "127.0.0.1"]
        return self.program([self.translate(word) for word in words])

    def program(self, words: list[str]) -> list[str]:
        programs = {
            "graphmill": [sys.executable, "-c", "from workers.cli import main; main()"],
            "celery": [sys.executable, "-m", "celery"],
            "python": [sys.executable],
            "redis-server": [str(self.server)],
        }
        return [*programs[words[0]], *words[1:]]

    def is_healthy(self, name: str, service: dict[str, Any]) -> bool:
        if name in SERVERS:  # redis-cli is in the image only
            return self.answers(name)
        return self.succeeds(name, service, service["healthcheck"]["test"][1:])

    def succeeds(self, name: str, service: dict[str, Any], words: list[str]) -> bool:
        """Run a command inside a service; what it says goes to the end of the service's log."""
        with self.log(name).open("ab") as log:
            done = subprocess.run(
                self.program([self.translate(word) for word in words]),
                env=self.environment(service),
                cwd=ROOT,
                stdout=log,
                stderr=log,
                timeout=START_SECONDS,
                check=False,
            )
        return done.returncode == 0

    def connect(self, name: str) -> redis.Redis:
        return redis.Redis(port=self.ports[name], password=SERVICES[name]["environment"]["REDISCLI_AUTH"])

    def answers(self, name: str) -> bool:
        try:
            with self.connect(name) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def has_begun(self, name: str, service: dict[str, Any]) -> bool:
        """Look for a sign of life that costs nothing: health commands in vain would slow the start down."""
        command = service["command"] if name in APPS else []
        if command[:2] != ["graphmill", "worker"]:
            return True
        with self.connect("redis") as client:
            return any(worker.startswith(f"{command[2]}-".encode()) for worker in client.hkeys(workers.KEY))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def host(engine: Any) -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="graphmill-compose-") as folder:
        targets = {target for service in SERVICES.values() for target in mounts(service) if not target.endswith("conf")}
        paths = {"/usr/local/etc/redis/redis.conf": str(ROOT / "ops/redis/redis.conf")}
        for target in sorted(targets | {"/var/lib/graphmill"}, key=len, reverse=True):
            paths[target] = folder + target
            (Path(folder) / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
        ports = {name: free_port() for name in ("redis", "falkordb", "flower")}
        yield Host(ports, paths, engine.server, engine.module, Path(folder))


@pytest.fixture(scope="module")
def running(host: Host) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    processes: dict[str, subprocess.Popen[bytes]] = {}
    host.deadline = time.monotonic() + START_SECONDS
    try:
        for name in (*SERVERS, *APPS):
            service = SERVICES[name]
            with host.log(name).open("ab") as log:
                processes[name] = subprocess.Popen(
                    host.command(name, service), env=host.environment(service), cwd=ROOT, stdout=log, stderr=log
                )
            if name in SERVERS:
                wait_until_healthy(host, name, processes[name])
        yield processes
    finally:
        # As compose does: a worker that loses its broker while it ends waits for it, by Celery's heartbeat.
        stop([process for name, process in processes.items() if name in APPS])
        stop([process for name, process in processes.items() if name in SERVERS])


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    try:
        for process in processes:
            process.wait(START_SECONDS)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_until_healthy(host: Host, name: str, process: subprocess.Popen[bytes]) -> None:
    while not (host.has_begun(name, SERVICES[name]) and host.is_healthy(name, SERVICES[name])):
        assert process.poll() is None, f"{name} ended: {host.log(name).read_text()[-2000:]}"
        assert time.monotonic() < host.deadline, f"{name} is not healthy: {host.log(name).read_text()[-2000:]}"
        time.sleep(0.05)


@pytest.mark.parametrize("name", list(SERVICES))
def test_a_service_runs_its_command_and_gets_healthy(name, host, running) -> None:
    wait_until_healthy(host, name, running[name])


def test_the_whole_is_in_order_seen_from_a_service(host, running) -> None:
    """Password and host of the graph server hold the name of its own URL scheme."""
    for name, process in running.items():
        wait_until_healthy(host, name, process)
    assert host.succeeds("worker-query", APPS["worker-query"], ["graphmill", "health"]), host.log(
        "worker-query"
    ).read_text()


def test_a_beat_that_writes_no_more_is_not_healthy(host) -> None:
    stopped = replace(host, paths={"/var/lib/graphmill/beat": str(host.folder / "stopped")})
    schedule = host.folder / "stopped" / "schedule"
    schedule.parent.mkdir()
    assert not stopped.is_healthy("beat", APPS["beat"])
    schedule.touch()
    assert stopped.is_healthy("beat", APPS["beat"])
    os.utime(schedule, (time.time() - 100,) * 2)
    assert not stopped.is_healthy("beat", APPS["beat"])


def test_flower_shows_nothing_without_its_password(host, running) -> None:
    wait_until_healthy(host, "flower", running["flower"])
    address = f"http://127.0.0.1:{host.ports['flower']}/workers"
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        urllib.request.urlopen(address, timeout=10)
    refused.value.close()
    pair = base64.b64encode(VARIABLES["FLOWER_BASIC_AUTH"].encode()).decode()
    request = urllib.request.Request(address, headers={"Authorization": f"Basic {pair}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200


def test_flower_refuses_to_listen_for_everybody_without_a_password(host) -> None:
    service = APPS["flower"]
    environment = host.environment(service) | {"FLOWER_BASIC_AUTH": "", "FLOWER_PORT": "0"}
    refused = subprocess.run(
        host.command("flower", service),
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode != 0
    assert "set FLOWER_BASIC_AUTH=user:password" in refused.stderr
