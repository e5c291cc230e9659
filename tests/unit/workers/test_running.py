"""What a command is told when the system that it needs does not answer."""

import socket

import pytest

from scheduler.errors import LedgerUnavailable
from workers.embedded import StackUrls
from workers.running import _connect
from workers.settings import Settings, with_servers


@pytest.fixture
def nobody():
    """Settings of servers that are not there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{probe.getsockname()[1]}/0"
        yield with_servers(Settings(redis_url=None, falkordb_url=None), StackUrls(redis=url, graph=url))


def test_of_a_server_of_ones_own_the_address_is_named(nobody):
    with pytest.raises(LedgerUnavailable, match="correct REDIS_URL"):
        _connect(nobody, None)


def test_a_server_of_the_embedded_stack_is_waited_for(nobody):
    with pytest.raises(LedgerUnavailable, match="give this one again in a minute or two"):
        _connect(nobody, object())
