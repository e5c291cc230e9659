"""The command line: `graphmill`, or `python -m workers.cli`.

Nothing heavy is imported before a command runs, so that help and completion answer at once.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status."""
    from workers.cli.program import prepare_process, run

    prepare_process()
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
