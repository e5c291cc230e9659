"""Paths that a command was given, as the rest of the program names them."""

import os
from pathlib import Path

from workers.cli.exits import UsageMistake
from workers.cli.output import printable


def resolve_place(path: Path) -> Path:
    """Make a path independent of this process's folder; links stay links, as the user named them.

    Where it goes up by `..`, that is up from where a link leads, as for the system and all other programs.
    """
    place = Path(os.path.realpath(path)) if ".." in path.parts else path.absolute()
    try:
        str(place).encode()
    except UnicodeEncodeError:
        raise UsageMistake(
            f"{printable(str(place))}: a path that is given must be UTF-8 (names of files beneath it need not be)."
        ) from None
    return place
