"""graphmill's own app, whose finalizes are struck in the midst of a phase, once for each file in `PLANT_STRIKES`.

`kill-PHASE`: the worker that has just done a step of that phase is killed with its pool, before anybody learns of it.
`crash-PHASE`: only the process of its pool is. `hold-PHASE`: it stands still there, as `held-PHASE` tells, until that
file is gone.
"""

import functools
import os
import signal
import threading
from pathlib import Path

from pipeline.adapters.falkor import FalkorCurator, FalkorWriter
from scheduler.curation import Curation
from scheduler.finalize import Phase
from scheduler.name_vectors import NameVectors
from scheduler.seals import Seals
from workers.app import app

__all__ = ["app"]

STRIKES = Path(os.environ["PLANT_STRIKES"])  # noqa: TID251 - a setting of the harness, not of graphmill
STEPS = {
    Phase.PLAN: (FalkorWriter, "make_durable"),
    Phase.NAMES: (NameVectors, "keep"),
    Phase.JUDGE: (Seals, "seal_plan"),
    Phase.MERGE: (FalkorCurator, "merge"),
    Phase.DERIVE: (FalkorCurator, "derive_entities"),
    Phase.FACTS: (FalkorCurator, "set_vectors"),
    Phase.INDEX: (FalkorCurator, "clear_pending"),
}
"""What of a phase changes something; most of it is done under a lease."""
at_work = []


def _note_phase(run):
    @functools.wraps(run)
    def noted(self, shard):
        at_work[:] = [shard.phase]
        try:
            run(self, shard)
        finally:
            at_work.clear()

    return noted


def _struck(step, name):
    @functools.wraps(step)
    def struck(*arguments, **named):
        result = step(*arguments, **named)
        if at_work and STEPS[at_work[0]][1] == name:
            _strike(at_work[0])
        return result

    return struck


def _strike(phase):
    if _take(f"kill-{phase}"):
        # The worker leads its own group, which its pool is in.
        os.killpg(0, signal.SIGKILL)
    if _take(f"crash-{phase}"):
        os.kill(os.getpid(), signal.SIGKILL)
    if _take(f"hold-{phase}"):
        held = STRIKES / f"held-{phase}"
        held.touch()
        while held.exists():
            threading.Event().wait(0.01)


def _take(order):
    try:
        (STRIKES / order).unlink()
    except FileNotFoundError:
        return False
    return True


Curation.run = _note_phase(Curation.run)
for place, called in set(STEPS.values()):
    setattr(place, called, _struck(getattr(place, called), called))
