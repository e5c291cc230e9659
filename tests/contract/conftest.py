"""Fixtures that several suites share: a ledger's Redis, as the quick double and as a real one, and query jobs on it."""

from functools import partial

import asked_jobs
import fakeredis
import pytest

from scheduler.jobs import QueryJobs


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def queue():
    return asked_jobs.Queue()


@pytest.fixture
def query_jobs(client, queue):
    """Query jobs of three processes: two may be slow."""
    return QueryJobs(client, queue.send, lambda: 3)


@pytest.fixture
def travel(client):
    return partial(asked_jobs.travel, client)
