"""A worker that cannot do its work takes none."""

import pytest

from pipeline.errors import ModelUnavailable
from workers import app, parts
from workers.settings import Settings


# The second one is no error of ours: Celery would note it and let the worker go on.
@pytest.mark.parametrize("error", [ModelUnavailable("no such model"), OSError("no such device")])
def test_a_worker_whose_parts_fail_ends_at_once_and_says_why(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(parts, "check_extractor", fail)
    with pytest.raises(SystemExit, match=f"(?s)This worker cannot start: .*{error}"):
        app._enter_worker()


def test_a_server_whose_address_is_empty_is_not_configured(monkeypatch):
    monkeypatch.setenv("REDIS_URL", "")
    monkeypatch.setenv("FALKORDB_URL", "")
    assert not Settings().configured
