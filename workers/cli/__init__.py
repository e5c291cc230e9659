"""The command line: `graphmill`, or `python -m workers.cli`.

Nothing heavy is imported before a command runs, so that help and completion answer at once.
"""

import gc
import sys
from collections.abc import Sequence

_INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, which may not be loaded yet."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status."""
    try:
        from workers.cli.program import prepare_process, run

        prepare_process()
        status = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # It came while all that could say more was being loaded.
        sys.stderr.write("Interrupted.\n")
        sys.exit(_INTERRUPTED)
    # Python looks for garbage in all that is loaded before it ends, and the user waits for that.
    gc.freeze()
    sys.exit(status)
