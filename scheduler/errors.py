"""Errors of runs and leases, in the pipeline's two kinds.

TransientError
├── LeaseUnavailable    another holder has it; wait and ask again
├── RecipeUnavailable   this worker has not what a run's files are made with; another may
└── LedgerUnavailable   the ledger's Redis is down, loading, or full
PermanentError
├── RunNotFound         no run of that name
├── RunNotOpen          the run's list of files is sealed
├── RunOver             the run has ended
└── DocumentIdInvalid   no document can have that id
IllegalMove             a fault of the code: a state cannot become what it was told to
"""

from pipeline.errors import PermanentError, TransientError


class LeaseUnavailable(TransientError):
    """Another holder has the lease."""


class ShardOver(TransientError):
    """A part of a finalize that goes on without it: another try has done it, or the finalize has ended."""


class RecipeUnavailable(TransientError):
    """This worker has not what the files of a run are made with; the files wait for one that has."""


class LedgerUnavailable(TransientError):
    """The ledger's Redis is down, loading, or out of memory."""


class RunNotFound(PermanentError):
    """No run has that name."""


class RunNotOpen(PermanentError):
    """The run's manifest is sealed: it takes no more files."""


class RunOver(PermanentError):
    """The run has ended, and what was asked for needs one that goes on."""


class DocumentIdInvalid(PermanentError):
    """No document of given text can have that id."""


class IllegalMove(RuntimeError):
    """A script was about to make a move that `scheduler.states` does not have; nothing but the code is at fault."""
