"""The one factory of our own Redis clients; FalkorDB's is `pipeline.adapters.falkor`."""

import redis

from pipeline.errors import PermanentError
from scheduler.errors import LedgerUnavailable
from workers.addresses import mask_url
from workers.celeryconfig import CONNECT_SECONDS, DEFAULT_REDIS
from workers.settings import Settings


class SettingInvalid(PermanentError):
    """A setting that no server can be reached by."""


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
        socket_timeout=settings.redis_timeout,
        socket_connect_timeout=min(CONNECT_SECONDS, settings.redis_timeout),
        socket_keepalive=True,
        health_check_interval=20,
        retry=None,
        protocol=2,
        decode_responses=True,
    )


def broker_answers(settings: Settings) -> bool:
    """Tell whether the Redis of the queues answers, over a connection of its own."""
    url = settings.broker_url.get_secret_value() if settings.broker_url else redis_url(settings)
    timeout = min(CONNECT_SECONDS, settings.redis_timeout)
    try:
        with redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=None) as client:
            return bool(client.ping())
    except redis.exceptions.RedisError:
        return False


def require_redis(settings: Settings) -> None:
    """Raise `LedgerUnavailable` or `SettingInvalid`, which say what to do, unless the ledger's Redis answers."""
    where = mask_url(redis_url(settings))
    try:
        with connect_redis(settings) as client:
            client.ping()
    except redis.exceptions.RedisError as error:
        raise LedgerUnavailable(
            f"Redis at {where} does not answer: {str(error).rstrip('.')}. Start it, or correct REDIS_URL "
            "(without REDIS_URL and FALKORDB_URL, graphmill runs servers of its own)."
        ) from error
    except ValueError as error:
        raise SettingInvalid(f"REDIS_URL is no address of a Redis ({where}): {error}") from error
