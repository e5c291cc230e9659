"""End what a dead owner of the data folder left running: its servers would still write there."""

import os
import signal
from pathlib import Path

import psutil

from workers.embedded.errors import DataFolderUnusable
from workers.embedded.processes import find_process
from workers.embedded.record import read_record, remove_record

_GRACE_SECONDS = 15.0
_SERVER_NAME = "redis-server"


def clear_leftovers(data_dir: Path, server_folders: list[Path]) -> None:
    """End processes that the last record names, and servers that work in our folders; then drop the record.

    Called by the holder of the folder's lock, so that whoever started them is dead. On Linux they end
    by themselves; this waits for the end, as two servers on one append-only file destroy it.

    Raises:
        DataFolderUnusable: a leftover cannot be ended (another user's).
    """
    record = read_record(data_dir)
    recorded = [find_process(identity) for identity in record.children.values()] if record is not None else []
    leftovers = {process.pid: process for process in recorded if process is not None}
    leftovers.update({process.pid: process for process in _servers_in(server_folders)})
    try:
        for process in leftovers.values():
            _send(process, signal.SIGTERM)
        _, alive = psutil.wait_procs(leftovers.values(), timeout=_GRACE_SECONDS)
        for process in alive:
            _send(process, signal.SIGKILL)
        _, alive = psutil.wait_procs(alive, timeout=_GRACE_SECONDS)
    except psutil.AccessDenied as error:
        raise DataFolderUnusable(
            f"Process {error.pid} still uses {data_dir} and belongs to another user: end it first."
        ) from error
    if alive:
        pids = ", ".join(str(process.pid) for process in alive)
        raise DataFolderUnusable(f"Processes {pids} still use {data_dir} and do not end.")
    remove_record(data_dir)


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
        if number is signal.SIGKILL and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, number)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return  # it has just ended, which is what was wanted


def _servers_in(folders: list[Path]) -> list[psutil.Process]:
    """Find servers by their working folder: a crash may come before they are written down."""
    wanted = {str(folder.resolve()) for folder in folders}
    found = []
    for process in psutil.process_iter():
        try:
            if _SERVER_NAME in process.name() and process.cwd() in wanted:
                found.append(process)
        except psutil.Error:
            continue  # ended meanwhile, or another user's, who cannot write to our folder
    return found
