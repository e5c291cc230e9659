"""The faults that strike a plant while it ingests; a `strike` injects one, or tells that nothing was there to hit."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

STALL_SECONDS = 5.0
FULL_SECONDS = 4.0
"""Both longer than the servers' timeouts of the plant."""
QUEUES = ("load", "extract", "write", "finalize")


@dataclass(frozen=True)
class Fault:
    """How often something strikes, and what the plant is made like."""

    name: str
    strike: Callable | None = None
    times: int = 0
    plant: dict = field(default_factory=dict)
    last: float = 0.9
    """The last moment at which it strikes, as a share of the run's way."""
    lasting: int = 0
    """Faults that are there all the time, rather than struck."""


def kill_worker(plant, chance):
    """Kill a member of any role, or one process of its pool."""
    member = plant.member(chance)
    children = member.children()
    if children and chance.random() < 0.5:
        try:
            chance.choice(children).kill()
        except psutil.NoSuchProcess:
            return False
    else:
        member.kill()
    return True


def restart_redis(plant, _):
    """Kill the queue's and ledger's server, and start it again."""
    plant.redis.restart()
    return True


def restart_graph(plant, _):
    """Kill the graph's server, and start it again."""
    plant.graph.restart()
    return True


def drop_connections(plant, chance):
    """Reset every connection to one of the servers."""
    return chance.choice(plant.proxies).drop() > 0


def silence_connections(plant, chance):
    """Let every connection to one of the servers be dead, with nobody told."""
    return chance.choice(plant.proxies).silence() > 0


def fill_memory(plant, chance):
    """Let one of the servers refuse writes for want of memory, for a while."""
    store = chance.choice(plant.stores)
    store.client.config_set("maxmemory", 1_000_000)
    try:
        _pass_time(plant, FULL_SECONDS)
    finally:
        store.client.config_set("maxmemory", 0)
    return True


def stall_server(plant, chance):
    """Stop one of the servers for longer than anybody waits, and let it go on."""
    process = chance.choice(plant.stores).process
    process.send_signal(signal.SIGSTOP)
    try:
        _pass_time(plant, STALL_SECONDS)
    finally:
        process.send_signal(signal.SIGCONT)
    return True


def deploy(plant, chance):
    """End a worker in good order, as an upgrade does; a new one takes its place once it is gone."""
    member = plant.member(chance, "ingest", "finalize", "query", "control")
    member.process.send_signal(signal.SIGTERM)
    return True


def delete_message(plant, _):
    """Delete one message from a queue by hand."""
    return any(plant.redis.client.rpop(queue) for queue in QUEUES)


def freeze_worker(plant, chance):
    """Stop a worker and its pool past all their leases, and let them go on."""
    member = plant.member(chance, "ingest", "finalize")
    frozen = [*member.children(), psutil.Process(member.process.pid)]
    for process in frozen:
        process.suspend()
    try:
        _pass_time(plant, STALL_SECONDS)
    finally:
        for process in frozen:
            process.resume()
    return True


def any_of(*strikes):
    """Make a strike that is one of several."""
    return lambda plant, chance: chance.choice(strikes)(plant, chance)


def _pass_time(plant, seconds):
    """Let the fault last, with the supervisor at its work."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        plant.heal()
        time.sleep(0.1)


WARM = {"own_environment": {place: {"REMAP_SIGTERM": ""} for place in range(6)}}
FAULTS = {
    fault.name: fault
    for fault in (
        Fault("kills of workers", kill_worker, times=10),
        Fault("kills of Redis", restart_redis, times=4),
        Fault("kills of the graph's server", restart_graph, times=4),
        Fault("every message twice", plant={"faults": "twice"}, lasting=1),
        Fault("visibility timeout shorter than a task", plant={"faults": "visibility"}, lasting=1),
        Fault("two schedulers", plant={"roles": ("ingest", "finalize", "query", *("control", "beat") * 2)}, lasting=1),
        Fault("dropped connections", drop_connections, times=8, plant={"proxied": True}),
        Fault("half-open connections", silence_connections, times=3, plant={"proxied": True}),
        Fault("full memory", fill_memory, times=2),
        Fault("soft deploys", deploy, times=6),
        Fault("warm deploys", deploy, times=6, plant=WARM),
        Fault("stalled servers", stall_server, times=2),
        Fault("frozen workers", freeze_worker, times=2),
        Fault("deleted messages", delete_message, times=5, last=0.4),
        Fault("wrong clocks", plant={"clocks": {0: 3600, 2: -3600, 4: 86_400}}, lasting=3),
        Fault(
            "all at once",
            any_of(
                kill_worker, kill_worker, kill_worker, restart_redis, restart_graph, drop_connections,
                silence_connections, delete_message, deploy,
            ),
            times=10,
            plant={"proxied": True, "faults": "twice"},
            lasting=1,
        ),
    )
}  # fmt: skip
