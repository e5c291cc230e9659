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
    tasks_per_process: int = 0
    """Tasks after which a process makes room for a new one; 0 takes Celery's setting."""


ROLES = {
    role.name: role
    for role in (
        Role("all", ("load", "extract", "write", "finalize"), 0, "ingest and finalize (the embedded default)"),
        Role("ingest", ("load", "extract", "write"), 0, "load, chunk, extract and write"),
        Role("load", ("load",), 0, "read files and cut them into passages"),
        Role("extract", ("extract",), 0, "find entities and relations"),
        Role("write", ("write",), 2, "write to the graph, which has one writer at a time"),
        Role("finalize", ("finalize",), 0, "merge, derive, embed, index"),
        # Two, so that one that waits for a language model leaves one to all others. A new process loads the embedder
        # anew, and questions leave nothing behind.
        Role("query", ("query",), 2, "answer questions, look texts up, check citations", tasks_per_process=100_000),
        Role("control", ("control",), 1, "run the control loop for beat"),
    )
}


def worker_arguments(role: Role, concurrency: int) -> list[str]:
    """Give the arguments of `celery -A workers.app` for a worker of a role."""
    return ["worker", *worker_options(role, concurrency)]


def worker_options(role: Role, concurrency: int) -> list[str]:
    """Give the options of Celery's command `worker` for a role."""
    return [
        f"--queues={','.join(role.queues)}",
        # The process id keeps two workers of one role on one host apart.
        f"--hostname={role.name}-{os.getpid()}@%h",
        f"--concurrency={role.concurrency or concurrency}",
        *([f"--max-tasks-per-child={role.tasks_per_process}"] if role.tasks_per_process else []),
        "--pool=prefork",
        "--without-gossip",
        "--without-mingle",
        "--events",
    ]
