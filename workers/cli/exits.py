"""Exit codes, and how an error becomes one line that names the thing and the fix."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pipeline.errors import PermanentError, PipelineError


class ExitCode(IntEnum):
    """What a command's exit status means; `graphmill --help` and docs/cli.md list the same."""

    OK = 0
    FAILED = 1
    """Done, but some files failed, an answer is not grounded, or a check found an error."""
    USAGE = 2
    """The command, a setting, or what it names is wrong; trying again gives the same."""
    UNREACHABLE = 3
    """A service cannot be reached or started; trying again later may work."""
    FAULT = 70
    """A fault of graphmill itself."""
    INTERRUPTED = 130
    """Ended by Ctrl-C, SIGTERM or SIGHUP; nothing is lost."""


MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "some files failed (or: not grounded; a check found an error)",
    ExitCode.USAGE: "the command, a setting, or what it names is wrong",
    ExitCode.UNREACHABLE: "a service cannot be reached or started",
    ExitCode.FAULT: "a fault of graphmill itself",
    ExitCode.INTERRUPTED: "interrupted; nothing is lost",
}


class UsageMistake(PermanentError):
    """The command asks for something that cannot be; the message says what to give instead."""


class Interrupted(PipelineError):
    """The user ended the command; the message says how to go on."""


# What to do about errors of the stages, which do not know the commands.
_FIXES = {
    "graph_missing": ". `graphmill ingest FOLDER --graph NAME` makes one.",
    "graph_unavailable": (
        ". `graphmill health` shows more. FALKORDB_URL names a server of your own; one of the embedded stack that "
        "hangs is started again by the command that runs the stack: give this one again in a minute or two."
    ),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the user sees it."""

    status: ExitCode
    code: str
    message: str


def describe_error(error: BaseException) -> Failure:
    """Sort an error by who must act on it."""
    if isinstance(error, KeyboardInterrupt):
        return Failure(ExitCode.INTERRUPTED, "interrupted", "Interrupted. `graphmill runs` shows what can be resumed.")
    if isinstance(error, PipelineError):
        return _describe_own(error)
    for known in _THIRD_PARTIES:
        if known.fits(error):
            return Failure(known.status, known.code, known.explain(error))
    message = (
        f"A fault of graphmill: {type(error).__name__}: {error} (GRAPHMILL_LOG_LEVEL=DEBUG shows where). "
        "Nothing is lost: `graphmill runs` shows what can be resumed."
    )
    return Failure(ExitCode.FAULT, "internal_error", message)


def _describe_own(error: PipelineError) -> Failure:
    code = error.code
    if isinstance(error, Interrupted):
        return Failure(ExitCode.INTERRUPTED, code, str(error))
    status = ExitCode.USAGE if isinstance(error, PermanentError) else ExitCode.UNREACHABLE
    return Failure(status, code, str(error) + _FIXES.get(code, ""))


@dataclass(frozen=True, slots=True)
class _ThirdParty:
    """A library's error: it can only be one if the library is loaded, so none is imported to find out."""

    module: str
    name: str
    status: ExitCode
    code: str
    explain: Callable[[Any], str]

    def fits(self, error: BaseException) -> bool:
        loaded = sys.modules.get(self.module)
        return loaded is not None and isinstance(error, getattr(loaded, self.name))


def _explain_usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    said = str(error.format_message())
    said = said if said.endswith((".", "?", "!")) else f"{said}."
    return f"{said} `{context.command_path} --help` shows how." if context is not None else said


def _explain_settings(error: Any) -> str:
    from workers.cli.entries import env_name

    faults = []
    for fault in error.errors(include_url=False):
        said = fault["msg"].removeprefix("Value error, ")
        if not fault["loc"]:
            faults.append(said)
            continue
        given = "" if fault["type"] == "missing" else f" (given: {fault['input']!r})"
        faults.append(f"{env_name(fault['loc'])}: {said}{given}")
    return "Wrong settings. " + "; ".join(faults)


_THIRD_PARTIES = (
    _ThirdParty("typer.exceptions", "TyperException", ExitCode.USAGE, "usage_error", _explain_usage),
    _ThirdParty("pydantic", "ValidationError", ExitCode.USAGE, "settings_invalid", _explain_settings),
    _ThirdParty(
        "pydantic_settings",
        "SettingsError",
        ExitCode.USAGE,
        "settings_invalid",
        lambda error: f"A setting cannot be read: {error}.",
    ),
    _ThirdParty(
        "redis.exceptions",
        "OutOfMemoryError",
        ExitCode.UNREACHABLE,
        "redis_full",
        lambda _: (
            "Redis is full and takes nothing in. A larger maxmemory makes room; `graphmill health` shows how much."
        ),
    ),
    _ThirdParty(
        "redis.exceptions",
        "RedisError",
        ExitCode.UNREACHABLE,
        "redis_unavailable",
        lambda error: f"Redis does not answer: {error}. Check REDIS_URL.",
    ),
    _ThirdParty(
        "kombu.exceptions",
        "OperationalError",
        ExitCode.UNREACHABLE,
        "broker_unavailable",
        lambda error: f"The queues' Redis does not answer: {error}. Check CELERY_BROKER_URL, or REDIS_URL.",
    ),
)
