"""Celery's settings, each with its reason; the only place where they stand.

The traps they avoid are told in `docs/adr/0003-celery-as-messenger.md`.
"""

from typing import Any

from workers.settings import Settings

QUEUES = ("load", "extract", "write", "finalize", "control", "query")
ROUTES = {
    "ingest.load": {"queue": "load"},
    "ingest.chunk": {"queue": "load"},
    "ingest.extract": {"queue": "extract"},
    "ingest.write": {"queue": "write"},
    "revise.*": {"queue": "write"},
    "finalize.*": {"queue": "finalize"},
    "control.*": {"queue": "control"},
    "query.*": {"queue": "query"},
}
TICK_SECONDS = 2.0
CONNECT_SECONDS = 5.0
HEALTH_SECONDS = 20.0
DEFAULT_REDIS = "redis://127.0.0.1:6379/0"


def celery_config(settings: Settings) -> dict[str, Any]:
    """Build Celery's configuration from ours."""
    redis_url = settings.redis_url.get_secret_value() if settings.redis_url else DEFAULT_REDIS
    broker_url = settings.broker_url.get_secret_value() if settings.broker_url else redis_url
    connect_seconds = min(CONNECT_SECONDS, settings.redis_timeout)
    health_seconds = min(HEALTH_SECONDS, 2 * settings.redis_timeout)
    return {
        "broker_url": broker_url,
        "result_backend": redis_url,
        # Connections: a restart of Redis is an everyday event, and a half-open socket must be noticed.
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,  # the default gives up after 100
        "broker_pool_acquire_timeout": 30,  # the default waits for ever
        "broker_transport_options": {
            # Longer than any task: a shorter one runs long tasks twice in parallel. Read here only.
            "visibility_timeout": settings.visibility_timeout,
            "socket_timeout": settings.redis_timeout,  # without it a worker on a half-open socket is deaf
            "socket_connect_timeout": connect_seconds,
            "socket_keepalive": True,
            # A half-open connection is noticed after twice this long.
            "health_check_interval": health_seconds,
            "unacked_restore_interval": 10,
            "unacked_restore_throttle": 1,  # a real sweep every 10 s rather than every 100 s
            "max_connections": 20,
        },
        "redis_socket_timeout": settings.redis_timeout,
        "redis_socket_connect_timeout": connect_seconds,
        "redis_socket_keepalive": True,
        "redis_backend_health_check_interval": health_seconds,
        # The default gives up after 0.6 s, sooner than Redis restarts.
        "task_publish_retry_policy": {"max_retries": 8, "interval_start": 0.1, "interval_step": 0.5, "interval_max": 3},
        # Messages: JSON of ids only, in declared queues (a typo must not make a queue that nobody reads).
        "task_serializer": "json",
        "result_serializer": "json",
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_create_missing_queues": False,
        "task_queues": {name: {"exchange": name, "routing_key": name} for name in QUEUES},
        "task_default_queue": "control",
        "task_routes": ROUTES,
        "task_send_sent_event": False,
        # Acknowledgement: late, always; the ledger alone decides what is tried again.
        "task_acks_late": True,
        "task_acks_on_failure": True,
        "task_acks_on_timeout": True,
        "task_reject_on_worker_lost": False,  # a document that kills its worker would loop for ever
        "task_retry_on_worker_lost": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,  # True loses the task on Redis
        "worker_deduplicate_successful_tasks": False,
        # Results: for queries and finalize shards only; a result of every task floods producers.
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "result_expires": 3600,
        "result_chord_expires": 86_400,  # longer than the longest finalize phase
        "result_extended": False,
        "result_chord_join_timeout": 30,
        # Pool
        "worker_prefetch_multiplier": 1,  # a long batch must not sit on messages
        "worker_max_tasks_per_child": 500,
        "worker_max_memory_per_child": settings.max_memory_per_child_kib,
        "task_soft_time_limit": settings.soft_time_limit,
        "task_time_limit": settings.time_limit,
        "worker_soft_shutdown_timeout": 20,
        "worker_enable_soft_shutdown_on_idle": False,  # True: an idle worker sleeps the whole time before it ends
        "worker_proc_alive_timeout": 60,  # models are loaded on first use, but imports take seconds
        "worker_send_task_events": True,  # Flower
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        # Beat: one entry; concurrent or missing beats are harmless. It never expires: a worker whose clock is
        # ahead of beat's would drop every tick, and a late one costs two milliseconds.
        "beat_schedule": {"control.tick": {"task": "control.tick", "schedule": TICK_SECONDS}},
        "beat_sync_every": 5,  # its schedule file shows that it lives: written after 5 ticks, not every 3 minutes
        "timezone": "UTC",
    }
