"""Flower's settings: `celery -A workers.app flower --conf=ops/flower/flowerconfig.py`.

Flower has read its `FLOWER_*` variables and flags before this file; flags win over it.
"""

from typing import Any

from tornado.options import options

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_LONGEST_ARGUMENTS = 160

# Nobody but this host, unless told otherwise.
address = options.address or "127.0.0.1"
_guarded = bool(options.auth) or any(":" in pair for pair in options.basic_auth or ())
if address not in _LOOPBACK and not options.unix_socket and not _guarded:
    raise SystemExit(
        f"Flower would listen on {address} for everybody: set FLOWER_BASIC_AUTH=user:password, "
        "or let it listen on 127.0.0.1."
    )

# For looking, not for acting: what is to be done stands in the ledger, of which a revoked task knows nothing.
read_only = True

# Bounded memory: tasks that are kept, and workers that are gone.
max_tasks = 20_000
purge_offline_workers = 600

# History over a restart. FLOWER_DB names the file.
persistent = True
db = options.db if options.db != "flower" else "flower.db"
state_save_interval = 60_000  # milliseconds


def format_task(task: Any) -> Any:
    """Show ids, not content: long arguments are cut. Questions are not seen here: they send no events."""
    for field in ("args", "kwargs", "result"):
        value = getattr(task, field, None)
        if value is not None and len(str(value)) > _LONGEST_ARGUMENTS:
            setattr(task, field, str(value)[:_LONGEST_ARGUMENTS] + "…")
    return task
