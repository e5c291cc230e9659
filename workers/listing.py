"""Listing the files of a run: what becomes of each before it is read, and patience where Redis is full."""

import time
from collections.abc import Callable

import structlog

from pipeline.errors import SKIP_CODES, LoadCode
from pipeline.load import FoundFile
from scheduler.errors import LedgerUnavailable
from scheduler.records import MemoryUse, NewFile, Outcome
from scheduler.states import FileState

_log = structlog.get_logger(__name__)

Listed = Callable[[int, MemoryUse | None], None]
"""Called while files are listed, with how many there are so far; again and again, with the memory, while it waits."""

ROOM_SECONDS = 0.5
"""Between two looks at a Redis that is full."""
_FATES = {
    LoadCode.UNSUPPORTED_FORMAT: "No reader takes this kind of file (.txt, .md, .markdown, .rst, .pdf are read).",
    LoadCode.OUTSIDE_ROOT: "A link that leaves the files root. Copy the file in, or give a wider --root.",
    LoadCode.NOT_A_FILE: "Not a regular file (a pipe, socket, device, or folder named like a file).",
    LoadCode.MISSING: "A link whose target does not exist.",
    LoadCode.UNREADABLE: "The system refuses to list it. Check the permissions of its folder.",
}


def new_file(found: FoundFile) -> NewFile:
    """Make a line of the manifest, with the outcome of a file that will not be read."""
    outcome = None
    if found.code is not None:
        state = FileState.SKIPPED if found.code in SKIP_CODES else FileState.FAILED
        outcome = Outcome(state, found.code.value, _FATES[found.code], "list")
    return NewFile(found.relative, found.size, outcome)


def wait_for_room(look: Callable[[], MemoryUse], files: int, listed: Listed | None) -> None:
    """Wait while Redis holds more than its mark allows: a longer list would take what the work in hand needs.

    Args:
        look: Tells what Redis holds.
        files: How many are listed so far.
        listed: Is told of the waiting; without it a line is logged when it begins and when it ends.
    """
    waits = False
    while True:
        try:
            memory = look()
        except LedgerUnavailable:
            # Whoever appends next waits for it, with more patience.
            return
        if not memory.above_mark:
            break
        if listed:
            listed(files, memory)
        elif not waits:
            _log.warning("submission_waits", files=files, reason=str(memory))
        waits = True
        time.sleep(ROOM_SECONDS)
    if waits and not listed:
        _log.warning("submission_goes_on", files=files)
