"""What can go wrong with the embedded stack; each message names the fix."""

import errno
from pathlib import Path

from pipeline.errors import PipelineError


class EmbeddedError(PipelineError):
    """Base: the embedded stack cannot be started or has gone."""


class EngineMissing(EmbeddedError):
    """No redis-server with a FalkorDB module was found that starts on this machine."""


class DataFolderUnusable(EmbeddedError):
    """The data folder cannot be made, written or locked."""


class StartFailed(EmbeddedError):
    """A server or worker does not come up, or keeps dying."""


class StackLost(EmbeddedError):
    """The process that owned the stack has ended while this one was using it."""


def explain_unusable(data_dir: Path, error: OSError) -> DataFolderUnusable:
    """Tell the user what the system refused in the data folder, and what to do."""
    if error.errno in {errno.ENOLCK, errno.ENOTSUP}:
        fix = "Its file system has no locks: choose another one."
    elif error.errno in {errno.ENOSPC, errno.EDQUOT}:
        fix = "Make room on its disk, or choose another one."
    else:
        fix = "Make it writable, or choose another one."
    return DataFolderUnusable(f"The data folder {data_dir} cannot be used: {error.strerror or error}. {fix}")
