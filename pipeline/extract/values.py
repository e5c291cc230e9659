"""Values of properties: what an extractor says, made one of the type that the ontology declares.

A value that does not fit is absent; the mention that it belongs to stays. The rules are the GraphRAG SDK's. They
are applied twice where a mention is grounded anew, so a value that fits stays as it is.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime

import orjson

from pipeline.extract.names import clean
from pipeline.ontology import Ontology, ValueType
from pipeline.ontology.labels import fold_property

_INT64 = 2**63
_NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

type Scalar = str | int | float | bool
type Value = Scalar | list[Scalar]


def coerce_properties(told: str, label: str, ontology: Ontology) -> str:
    """Give the declared ones of a mention's properties as JSON, keys in order; '' where none has a value.

    `told` is what the extractor said, as JSON, and `label` the mention's declared type.
    """
    declared = ontology.properties_of(label) if told else ()
    if not declared:
        return ""
    given = {fold_property(name): value for name, value in read_properties(told).items()}
    values = {one.name: coerce(given.get(fold_property(one.name)), one.type) for one in declared}
    kept = {name: value for name, value in values.items() if value is not None}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode() if kept else ""


def read_properties(told: str) -> Mapping[str, object]:
    """Read properties from JSON; what is no JSON object holds none."""
    try:
        given = json.loads(told) if told else {}
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def coerce(raw: object, kind: ValueType) -> Value | None:
    """Give the value of a type that something means; None where it means none."""
    match kind:
        case ValueType.STRING:
            return _string(raw)
        case ValueType.INTEGER:
            return _integer(raw)
        case ValueType.FLOAT:
            return _float(raw)
        case ValueType.BOOLEAN:
            return _boolean(raw)
        case ValueType.DATE:
            return _date(raw)
        case ValueType.LIST:
            return _list(raw)


def _string(raw: object) -> str | None:
    match raw:
        case bool():
            return "true" if raw else "false"
        case float() if not math.isfinite(raw):
            return None
        case int() if not -_INT64 <= raw < _INT64:
            return None
        case str() | int() | float():
            return clean(str(raw)) or None
        case _:
            return None


def _integer(raw: object) -> int | None:
    match raw:
        case bool():
            return None
        case int():
            whole = raw
        case str() if _WHOLE.fullmatch(digits := _ascii(raw)):
            whole = int(digits)
        case _:
            # 56.7 is 56; a float is exact only up to 2**53, so whole numbers never pass here.
            number = _float(raw)
            if number is None:
                return None
            whole = int(number)
    return whole if -_INT64 <= whole < _INT64 else None


def _float(raw: object) -> float | None:
    match raw:
        case bool():
            return None
        case float():
            number = raw
        case int():
            number = float(raw) if -_INT64 <= raw < _INT64 else math.inf
        case str() if _NUMBER.fullmatch(digits := _ascii(raw)):
            number = float(digits)
        case _:
            return None
    return number if math.isfinite(number) else None


def _boolean(raw: object) -> bool | None:
    match raw:
        case bool():
            return raw
        case int() | str():
            return _TRUTHS.get(_ascii(str(raw)).casefold()) if not _is_huge(raw) else None
        case _:
            return None


def _date(raw: object) -> str | None:
    """Give the day as it is written, `2001-02-03`; its time and time zone are left out, and move no day."""
    if not isinstance(raw, str):
        return None
    try:
        return datetime.fromisoformat(_ascii(raw)).date().isoformat()
    except ValueError:
        return None


def _list(raw: object) -> list[Scalar] | None:
    given = raw if isinstance(raw, list) else [raw]
    values = [value for item in given if (value := _scalar(item)) is not None]
    return values or None


def _scalar(raw: object) -> Scalar | None:
    match raw:
        case bool():
            return raw
        case str():
            return _string(raw)
        case int():
            return _integer(raw)
        case float():
            return _float(raw)
        case _:
            return None


def _ascii(raw: str) -> str:
    """Spell digits of any script as 0 to 9: these are the same number."""
    text = raw.strip()
    return text if text.isascii() else "".join(_digit(char) for char in text)


def _digit(char: str) -> str:
    return str(unicodedata.decimal(char)) if char.isdecimal() else char


def _is_huge(raw: int | str) -> bool:
    # Python refuses to spell integers of thousands of digits.
    return isinstance(raw, int) and not -_INT64 <= raw < _INT64
