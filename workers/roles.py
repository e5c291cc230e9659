"""The roles of worker processes: which queues each reads, and how."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of worker process; `concurrency` 0 takes the setting."""

    name: str
    queues: tuple[str, ...]
    concurrency: int
    purpose: str


ROLES = {
    role.name: role
    for role in (
        Role("all", ("load", "extract", "write", "finalize"), 0, "ingest and finalize (the embedded default)"),
        Role("ingest", ("load", "extract", "write"), 0, "load, chunk, extract and write"),
        Role("load", ("load",), 0, "read files and cut them into passages"),
        Role("extract", ("extract",), 0, "find entities and relations"),
        Role("write", ("write",), 2, "write to the graph, which has one writer at a time"),
        Role("finalize", ("finalize",), 0, "merge, derive, embed, index"),
        Role("query", ("query",), 1, "answer retrieval and citation checks"),
        Role("control", ("control",), 1, "run the control loop for beat"),
    )
}


def worker_arguments(role: Role, concurrency: int) -> list[str]:
    """Give the arguments of `celery -A workers.app worker` for a role."""
    return [
        "worker",
        f"--queues={','.join(role.queues)}",
        # The process id keeps two workers of one role on one host apart.
        f"--hostname={role.name}-{os.getpid()}@%h",
        f"--concurrency={role.concurrency or concurrency}",
        "--pool=prefork",
        "--without-gossip",
        "--without-mingle",
        "--events",
    ]
