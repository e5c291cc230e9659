"""The stack without configuration: two servers and the workers as child processes of one owner."""

from workers.embedded.engine import Engine, find_engine
from workers.embedded.errors import DataFolderUnusable, EmbeddedError, EngineMissing, StackLost, StartFailed
from workers.embedded.owner import Owned
from workers.embedded.processes import die_with_parent
from workers.embedded.record import StackUrls
from workers.embedded.stack import Joined, open_stack
from workers.embedded.supervision import Death

__all__ = [
    "DataFolderUnusable",
    "Death",
    "EmbeddedError",
    "Engine",
    "EngineMissing",
    "Joined",
    "Owned",
    "StackLost",
    "StackUrls",
    "StartFailed",
    "die_with_parent",
    "find_engine",
    "open_stack",
]
