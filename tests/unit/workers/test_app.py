"""A worker that cannot do its work takes none."""

import os

import pytest
from billiard.pool import EX_RECYCLE
from celery import signals

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


@pytest.mark.parametrize(("exitcode", "left"), [(0, [0]), (1, [1]), (EX_RECYCLE, [])])
def test_a_pool_process_waits_only_for_a_parent_that_replaces_it(exitcode, left, monkeypatch):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    signals.worker_process_shutdown.send(sender=None, pid=os.getpid(), exitcode=exitcode)
    assert ended == left


def test_a_server_whose_address_is_empty_is_not_configured(monkeypatch):
    monkeypatch.setenv("REDIS_URL", "")
    monkeypatch.setenv("FALKORDB_URL", "")
    assert not Settings().configured
