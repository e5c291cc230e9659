"""Whether an embedded stack that has just been started takes work."""

from collections.abc import Collection

from scheduler.workers import Workers
from workers.connections import connect_redis
from workers.embedded import StackUrls
from workers.settings import Settings, with_servers


class Readiness:
    """Asks again and again whether each queue has its worker and each graph its indexes.

    A worker must have announced itself since then: a dead owner's are still listed, and are forgotten here, or a
    command with other settings would be told to end them. Indexes are built anew after a restart, and searches miss
    things until then.
    """

    def __init__(self, settings: Settings, queues: Collection[str], *, since: float) -> None:
        self._settings = settings
        self._queues = queues
        self._since = since
        self._searchable = False

    def __call__(self, urls: StackUrls) -> bool:
        """Look for what was missing the last time; True once nothing is."""
        running = with_servers(self._settings, urls)
        self._searchable = self._searchable or not _find_unready_indexes(running)
        return self._searchable and self._queues_read(running).issuperset(self._queues)

    def _queues_read(self, running: Settings) -> set[str]:
        with connect_redis(running) as client:
            workers = Workers(client)
            living = workers.living()
            for worker in living:
                if worker.seen < self._since:
                    workers.leave(worker.name)
        return {queue for worker in living if worker.seen >= self._since for queue in worker.queues}


def _find_unready_indexes(running: Settings) -> list[str]:
    # What speaks to graphs, and what the command needs next, is loaded here: the workers are loading as much, and none
    # of it delays their start.
    import workers.client  # noqa: F401
    from workers.graphs import find_unready_indexes

    return find_unready_indexes(running)
