"""The one factory of our own Redis clients; FalkorDB's is `pipeline.adapters.falkor`."""

import redis

from workers.celeryconfig import DEFAULT_REDIS
from workers.settings import Settings


def redis_url(settings: Settings) -> str:
    """Give the URL of the ledger's Redis."""
    return settings.redis_url.get_secret_value() if settings.redis_url else DEFAULT_REDIS


def connect_redis(settings: Settings) -> "redis.Redis":
    """Make a client of the ledger's Redis; it connects on first use.

    No retries inside: redis-py 8 repeats any command by default, and a repeated INCR counts twice.
    RESP2, as FalkorDB's client speaks. Timeouts, so that a stalled server is an error and not a hang.
    """
    return redis.Redis.from_url(
        redis_url(settings),
        socket_timeout=15,
        socket_connect_timeout=5,
        socket_keepalive=True,
        health_check_interval=20,
        retry=None,
        protocol=2,
        decode_responses=True,
    )
