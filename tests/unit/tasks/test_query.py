"""The message of a query job, which needs no server."""

import json
from threading import Event
from types import SimpleNamespace

import pytest
from celery import Celery

from tasks import query
from tasks.query import QUEUE, send_job
from workers.app import create_app
from workers.settings import Settings


@pytest.fixture
def app():
    with create_app(Settings()) as app:
        app.conf.update(broker_url="memory://", result_backend="cache+memory://", task_soft_time_limit=600)
        yield app


def take_message(app: Celery):
    with app.connection_for_read() as connection:
        return connection.default_channel.basic_get(QUEUE, no_ack=True)


@pytest.mark.parametrize(("seconds", "limit"), [(2.5, 2.5), (3_600, 600), (0.001, 1)])
def test_a_message_has_the_id_alone_and_the_job_s_time_but_no_more_than_any_task(app, seconds, limit) -> None:
    send_job(app, "0" * 24, seconds)
    message = take_message(app)
    assert json.loads(message.body)[:2] == [["0" * 24], {}]
    hard, soft = message.headers["timelimit"]
    assert soft == limit < hard
    assert message.headers["ignore_result"] is True
    assert message.headers["task"] == "query.work"


def test_a_process_of_questions_loads_their_models_before_the_first_one_comes(app, monkeypatch) -> None:
    loaded = Event()
    monkeypatch.setattr(query, "_WARM_AFTER_SECONDS", 0)
    monkeypatch.setattr(query, "current_app", app)
    monkeypatch.setattr(query, "current", lambda: SimpleNamespace(warm_up=loaded.set))
    app.amqp.queues.select([QUEUE])
    query._warm_up()
    assert loaded.wait(10)


@pytest.mark.parametrize("queues", [["extract"], ["extract", QUEUE]])
def test_a_process_that_does_other_work_loads_nothing_ahead(app, monkeypatch, queues) -> None:
    monkeypatch.setattr(query, "current_app", app)
    monkeypatch.setattr(query, "current", None)
    app.amqp.queues.select(queues)
    query._warm_up()
