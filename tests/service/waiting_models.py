"""Models of no cost, but that a question with the word Molasses is embedded only when a file `go` is there."""

import os
import threading
from pathlib import Path

import tiny_models
from tiny_models import extract

__all__ = ["embed", "extract"]


def embed(texts):
    if any("Molasses" in text for text in texts):
        folder = Path(os.environ["GRAPHMILL_DATA_DIR"])  # noqa: TID251 - told to the worker by the test
        (folder / f"waiting-{os.getpid()}").touch()
        pause = threading.Event()
        while not (folder / "go").exists():
            pause.wait(0.02)
    return tiny_models.embed(texts)
