"""`python -m workers.worker`: what `celery -A workers.app worker` does, as the embedded stack starts it.

Celery's program loads all its commands and those of its plugins first, Flower and a terminal shell among them: a
quarter of a worker's start.
"""

import gc
import sys

from celery.bin.base import CLIContext
from celery.bin.worker import worker

from workers.app import app

if __name__ == "__main__":
    try:
        worker.main(sys.argv[1:], prog_name="worker", obj=CLIContext(app=app, no_color=False, workdir=None))
    finally:
        # Python looks for garbage in all that is loaded before it ends, and the owner waits for that.
        gc.freeze()
