"""Reading a claimed file, with patience that ends: a run must end although its folder is gone."""

from pathlib import Path

from pipeline.config import LoadConfig
from pipeline.errors import FileNotReady, LoadError
from pipeline.load import read_file
from scheduler.records import ClaimedFile

MOST_WAITS = 6
"""How often in a row a file is waited for: half a minute at most, as the pauses grow."""


def read_patiently(root: Path, f: ClaimedFile, config: LoadConfig) -> bytes:
    """Read all bytes of a file.

    Raises:
        FileNotReady: It cannot be read now, and was not waited for often enough.
        LoadError: It cannot be read, for good or in spite of all waiting.
    """
    try:
        return read_file(root, f.relative, config)
    except FileNotReady as error:
        if f.waited_for == error.code and f.waits >= MOST_WAITS:
            raise LoadError(error.load_code, f"{error} It was tried {f.waits + 1} times.") from error
        raise
