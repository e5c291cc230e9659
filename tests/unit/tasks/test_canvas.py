"""Plans on queues that need no server."""

import pytest
from celery import Celery, current_app

from scheduler.finalize import Phase, Shard
from tasks.canvas import CanvasSender


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_phase_of_any_number_of_parts_is_sent_without_a_complaint(count) -> None:
    before = current_app._get_current_object()
    with Celery("sender", broker="memory://", backend="cache+memory://") as app:
        app.set_current()
        try:
            CanvasSender().send_phase([Shard("kb", 1, Phase.FACTS, shard) for shard in range(count)])
            with app.connection_for_read() as connection:
                assert connection.default_channel.queue_declare("celery", passive=True).message_count == count
        finally:
            before.set_current()
            with app.connection_for_write() as connection:
                connection.default_channel.queue_purge("celery")
