"""Every setting as data, for `graphmill settings`, docs/settings.md and ops/env/example.env."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, SecretStr
from pydantic.fields import FieldInfo

from workers.addresses import mask_url
from workers.settings import Settings

_PREFIX = "GRAPHMILL_"
_DELIMITER = "__"


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """One setting: its variable, what it is now (secrets masked), where that is from, and what it is for."""

    name: str
    value: str
    source: str
    default: str
    description: str


def list_entries(settings: Settings, flags: Collection[str] = ()) -> list[SettingEntry]:
    """List all settings in the order in which they are declared; `flags` names the fields that a flag gave."""
    return list(_walk(settings, (), flags))


def env_name(location: Sequence[str | int]) -> str:
    """Name the variable of a setting by the place of its field, as in `("chunk", "max_tokens")`."""
    first = str(location[0])
    field = Settings.model_fields.get(first)
    if field is None:  # the variable itself, where one names the field
        return first
    if isinstance(field.validation_alias, AliasChoices):
        return str(field.validation_alias.choices[0])
    return _PREFIX + _DELIMITER.join(str(part).upper() for part in location)


def render_env(entries: Sequence[SettingEntry]) -> str:
    """Write a file of variables, all commented out, with the defaults as their values."""
    lines = ["# Settings of graphmill: each with its default. Remove the # where you want another value.", ""]
    for entry in entries:
        lines += [f"# {entry.description}".rstrip(), f"#{entry.name}={entry.default}", ""]
    return "\n".join(lines).rstrip() + "\n"


def render_markdown(entries: Sequence[SettingEntry]) -> str:
    """Write the page of all settings."""
    lines = [
        "# Settings",
        "",
        "All settings are environment variables. A command's flag goes before the environment, and the environment",
        "before the servers of a running embedded stack and the default. `graphmill settings` shows what is in effect.",
        "This page is written by `graphmill settings --format markdown`, and `ops/env/example.env` by `--format env`.",
        "",
        "| variable | default | what it is for |",
        "|---|---|---|",
    ]
    for entry in entries:
        default = f"`{entry.default}`" if entry.default else ""
        lines.append(f"| `{entry.name}` | {default} | {entry.description.replace('|', '&#124;')} |")
    return "\n".join(lines) + "\n"


def _walk(values: BaseModel, above: tuple[str, ...], flags: Collection[str]) -> Iterator[SettingEntry]:
    for name, field in type(values).model_fields.items():
        value, place = getattr(values, name), (*above, name)
        if isinstance(value, BaseModel):
            yield from _walk(value, place, ())
            continue
        source = "flag" if name in flags else "environment" if name in values.model_fields_set else "default"
        yield SettingEntry(env_name(place), _spell(value), source, _spell(_default(field)), field.description or "")


def _default(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True, validated_data={})


def _spell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return mask_url(secret) if "://" in secret else "***"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return mask_url(value) if "://" in value else value
    return str(value) if isinstance(value, Path) else f"{value:g}" if isinstance(value, float) else str(value)
