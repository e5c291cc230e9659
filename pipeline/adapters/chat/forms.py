"""How JSON is asked for: by its schema, as some JSON object, or in words alone; which one a service takes is learnt.

Where there is no schema, plain text is asked for.
"""

import json
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from pipeline.ports import ChatRequest

_IN_WORDS = "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n"


class Form(IntEnum):
    """From the most certain to the one that every model takes."""

    SCHEMA = 0
    OBJECT = 1
    WORDS = 2


_ABOUT_FORMAT = re.compile(
    r"response_?format|json_?\s?schema|json_object|structured[ _]output|output_format|grammar|guided|invalid schema",
    re.IGNORECASE,
)

# By model and address, for the life of the process: one request finds out. Only ever grows.
_learnt: dict[tuple[str, str], Form] = {}


def form_of(model: str, address: str) -> Form:
    """Tell how to ask the model there."""
    return _learnt.get((model, address), Form.SCHEMA)


def refuse_form(model: str, address: str, form: Form) -> bool:
    """Note that this form is not taken; False where there is none left to try."""
    if form is Form.WORDS:
        return False
    _learnt[model, address] = max(form_of(model, address), Form(form + 1))
    return True


def is_about_format(message: str) -> bool:
    """Tell whether a service complains of the form of the answer that it is asked for."""
    return _ABOUT_FORMAT.search(message) is not None


def messages_of(request: ChatRequest, form: Form) -> list[dict[str, str]]:
    """Write the messages; a schema stands in them where the service is not given it otherwise."""
    plain = form is Form.SCHEMA or not request.schema
    system = request.system if plain else f"{request.system}\n\n{_IN_WORDS}{schema_text(request)}"
    return [{"role": "system", "content": system}, {"role": "user", "content": request.user}]


def response_format(schema: Mapping[str, Any], form: Form) -> dict[str, Any] | None:
    """Write the parameter `response_format` of OpenAI's protocol; None: it is left out, as for plain text."""
    if not schema:
        return None
    match form:
        case Form.SCHEMA:
            named = {"name": "answer", "schema": schema, "strict": _is_strict(schema)}
            return {"type": "json_schema", "json_schema": named}
        case Form.OBJECT:
            return {"type": "json_object"}
        case Form.WORDS:
            return None


def schema_text(request: ChatRequest) -> str:
    """Give the schema as JSON."""
    return json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))


def prompt_bytes(request: ChatRequest) -> int:
    """Count the bytes of all that any form sends."""
    texts = (request.system, request.user, _IN_WORDS, schema_text(request))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _is_strict(schema: Any) -> bool:
    """Tell whether OpenAI would take the schema as strict: objects are closed, and all that they have is required."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or not isinstance(properties, Mapping)
            or set(schema.get("required", ())) != set(properties)
        ):
            return False
        return all(map(_is_strict, schema.values()))
    return all(map(_is_strict, schema)) if isinstance(schema, list | tuple) else True
