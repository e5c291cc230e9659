"""A corpus of names that are one for every reason that a finalize knows, and a plant that works on it."""

import time
from contextlib import contextmanager
from unittest.mock import patch

import plant

from pipeline.tables import TableOrder
from scheduler.records import NewFile
from workers.giving import prepare_table

MILLS, PRESS, SOCIETY, OPTICS = (
    "Tidewater Mills", "Northlight Press", "Ashford Island Historical Society", "Larkspur Optics Works",
)  # fmt: skip
TEXTS = (
    f"in spring Ada Quill joined {MILLS} near Port Ember, and {PRESS} met {SOCIETY} there.",
    f"in autumn Bram Oster left {PRESS} Ltd for AIHS.",
    f"one day {PRESS} Limited sold {OPTICS} to Cleo Venn of Amber Forge North.",
    "then Larskpur Optics Works bought Amber Forge South from AIHS near Port Ember.",
    f"so Dov Moss of {SOCIETY} wrote to Larkspur Optic Works about The {PRESS}.",
    "they say ABC met Amber Boat Club, that ABC left Ashford Bell Company, and that Ada Quil saw it.",
    f"at last {MILLS} Ltd hired Ada Quill, Finn Lark and Finn Larke from {PRESS}.",
)
"""Names of one spelling, with and without legal form, an acronym, slips, and names that stay apart or open."""
TABLE = TableOrder("Organization", "id", "name", {})
SETTINGS = {
    "GRAPHMILL_EXTRACTOR": "alike_models:extract",
    "GRAPHMILL_EMBED__EMBEDDER": "python:alike_models:embed",
    "GRAPHMILL_BATCH_FILES": "1",
}
SHORT = dict.fromkeys(("GRAPHMILL_LEASE_SECONDS", "GRAPHMILL_GRAPH_LEASE_SECONDS", "GRAPHMILL_FINALIZE_SECONDS"), "1")
"""Where processes are killed, others wait for what they held."""
PATIENT = {"GRAPHMILL_FINALIZE_SECONDS": "20", "GRAPHMILL_GRAPH_LEASE_SECONDS": "20"}
"""Where a worker that is held is not to be taken for one that is gone."""
END_SECONDS = 60
GOOD = {"written", "updated", "removed"}


def make_files(folder):
    """Write the corpus; gives the lines of its manifest."""
    for number, text in enumerate(TEXTS):
        (folder / f"note{number}.txt").write_text(text, "utf-8")
    (folder / "firms.csv").write_text(f"id,name\n1,{MILLS}\n2,Lena Pike\n", "utf-8")
    notes = [NewFile(one.name, one.stat().st_size) for one in sorted(folder.glob("*.txt"))]
    return [*notes, prepare_table(folder / "firms.csv", folder, TABLE)]


class AlikePlant(plant.Plant):
    """Workers of all queues, whose finalizes can be struck; this process is their control loop."""

    def _command(self, place, role):
        ours = {"fault_app": "struck_app", "--concurrency=2": "--concurrency=1"}
        return [ours.get(word, word) for word in super()._command(place, role)]

    def hire(self, workers):
        """Start more workers, until there are so many; each is one process."""
        for place in range(len(self.members), workers):
            self.members.append(plant.Member("all", self._command(place, "all"), self.members[0].environment))
        self.wait_until(lambda: len(self.client.workers()) >= workers)

    @property
    def strikes(self):
        return self.folder / "strikes"

    def order(self, strike, phase):
        """Have a strike befall the next finalize that comes to a phase."""
        (self.strikes / f"{strike}-{phase}").touch()

    def wait_for_hold(self, phase):
        """Wait until a worker stands still in a phase; gives what lets it go on."""
        held = self.strikes / f"held-{phase}"
        self.wait_until(held.exists)
        return held.unlink

    def wait_until(self, met):
        """Do a supervisor's and the control loop's work until something is so."""
        deadline = time.monotonic() + END_SECONDS
        while not met():
            assert time.monotonic() < deadline, self.tail()
            self.heal()
            self.client.tick()
            time.sleep(0.02)

    def submit(self, files, folder, graph, finalize="never"):
        """Make a run of files."""
        return self.client.submit_files(files, folder, graph=graph, finalize=finalize)

    def end(self, *runs):
        """Wait for the end of runs, which is a good one."""
        self.wait_until(lambda: all(self.client.status(run).over for run in runs))
        for run in runs:
            assert self.client.status(run).error == "", self.tail()
            assert {state for state, count in self.client.status(run).counts.items() if count} <= GOOD, self.tail()

    def write(self, files, folder, graph):
        """Write files to a graph, without a finalize."""
        self.end(self.submit(files, folder, graph))

    def finalize(self, graph):
        """Finalize a graph from beginning to end; gives what it told."""
        return self.end_finalize(graph, self.client.finalize(graph))

    def end_finalize(self, graph, number):
        """Wait for the end of a finalize that was begun."""
        self.wait_until(
            lambda: (found := self.client.finalize_status(graph)).state == "idle" and found.number >= number
        )
        status = self.client.finalize_status(graph)
        assert status.error == "", self.tail()
        return status

    def check_clean(self, graph):
        """Nothing is at fault, pending, claimed or leased; gives the graph's fingerprint."""
        assert self.client.verify(graph).findings == (), self.tail()
        self.wait_until(lambda: not self.leases(graph))
        stem = f"gm:graph:{graph}"
        assert self.redis.client.exists(f"{stem}:left", f"{stem}:held", f"{stem}:tries", f"{stem}:serving") == 0
        assert self.redis.client.zcard("gm:active") == 0
        found = self.client.fingerprint(graph)
        assert found.pending == 0
        return found


@contextmanager
def start(folder, engine, workers=1, **more):
    """Start a plant of some workers, each for all queues."""
    strikes = folder / "strikes"
    strikes.mkdir()
    settings = SETTINGS | more | {"PLANT_STRIKES": str(strikes)}
    with patch.dict(plant.SETTINGS, settings), AlikePlant(folder, engine, roles=("all",) * workers) as started:
        for store in started.stores:
            # Whoever waits for the disk waits for no timer.
            store.client.config_set("appendfsync", "always")
        yield started
