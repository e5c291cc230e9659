"""What a query job can carry: a time in seconds, and plain JSON values up to a size."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pipeline.errors import QueryInvalid

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_seconds(value: object, most: float) -> None:
    """Raise `QueryInvalid` for what is no number of seconds above 0 and up to the most."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise QueryInvalid(f"a job may take up to {most:,.0f} seconds, not {value!r}")


def spell_json(value: Mapping[str, Any]) -> str:
    """Spell JSON as short as it can be stored: a lone surrogate must be escaped.

    Raises `QueryInvalid` for what JSON has no word for.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise QueryInvalid(f"only plain JSON values can be asked with: {error}") from error
    return json.dumps(value) if _SURROGATE.search(text) else text


def bound_reply(reply: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """Give a reply, or an error in its place where its JSON has more bytes than are kept."""
    if (size := len(spell_json(reply).encode())) <= most:
        return reply
    return {
        "error": QueryInvalid.__name__,
        "message": f"the reply has {size:,} bytes, and at most {most:,} are kept: ask for less at a time",
    }
