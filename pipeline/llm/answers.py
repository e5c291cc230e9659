"""Reading a language model's answer: the JSON in it, then item by item, so that a bad one costs no other."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import json_repair
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from pipeline.extract import Drop
from pipeline.llm.suggested import read_suggestion
from pipeline.ontology import UNKNOWN
from pipeline.ontology.labels import fold_label

_MOST_STARTS = 20
"""Places in an answer at which its JSON is looked for: prose before it may hold braces, too."""
_REPAIRED_DEPTH, _REPAIRED_CHARS = 32, 100_000
"""What is nested deeper, or longer, is not repaired: that takes time by the cube of the depth."""


_NO_TYPE = frozenset({"", fold_label(UNKNOWN)})


def _text(raw: object) -> object:
    return raw if isinstance(raw, str) else ""


def _object(raw: object) -> object:
    return raw if isinstance(raw, dict) else {}


def _confidence(raw: object) -> object:
    try:
        number = float(raw) if isinstance(raw, (int, float, str)) else 1.0
    except (ValueError, OverflowError):
        return 1.0
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1.0)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


type _Name = Annotated[str, AfterValidator(_not_blank)]
type _Text = Annotated[str, BeforeValidator(_text)]


class _Item(BaseModel):
    """What is odd about other fields than names counts as not said."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class EntityItem(_Item):
    """An entity as a model gives it."""

    name: _Name
    type: _Text = ""
    suggested_type: _Text = ""
    description: _Text = ""
    attributes: Annotated[dict[str, Any], BeforeValidator(_object)] = {}
    confidence: Annotated[float, BeforeValidator(_confidence)] = 1.0

    @property
    def raw_type(self) -> str:
        """Its type; what the model would call that, where it says that none fits."""
        says_none = fold_label(self.type) in _NO_TYPE
        return (read_suggestion(self.suggested_type) if says_none else "") or self.type


class RelationItem(_Item):
    """A relationship as a model gives it; `quote` is where the passage states it."""

    source: _Name
    target: _Name
    type: _Name
    suggested_type: _Text = ""
    description: _Text = ""
    quote: _Text = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The usable items of an answer; `dropped` counts the others by reason."""

    entities: tuple[EntityItem, ...]
    relations: tuple[RelationItem, ...]
    dropped: Counter[str] = field(default_factory=Counter)


def read_answer(text: str, *, repair: bool, other: str = "") -> Said | None:
    """Read an answer; None where it is no JSON of the asked shape, or has items of which none is usable.

    Text around the JSON is skipped. `repair` mends JSON that is broken: not to be done where an answer is cut off.
    Relations of the type `other` get the type that the model suggests, and are lost where it suggests none.
    """
    found = _find_object(text)
    if found is None and repair:
        found = _repair(text)
    if found is None:
        return None
    raw_entities, raw_relations = found["entities"], found.get("relationships") or []
    entities = [item for item in map(_read_entity, raw_entities) if item is not None]
    relations = [item for item in map(_read_relation, raw_relations) if item is not None]
    if raw_entities and not entities:
        return None
    # The GraphRAG SDK's rule: `Person/Company` is a model that could not decide.
    decided = tuple(item for item in entities if "/" not in item.type)
    typed = tuple(item for item in (_suggest(relation, other) for relation in relations) if item is not None)
    lost: Counter[str] = Counter(
        {
            Drop.INVALID_ITEM: len(raw_entities) + len(raw_relations) - len(entities) - len(relations),
            Drop.INVALID_TYPE: len(entities) - len(decided),
            Drop.UNDECLARED_RELATION: len(relations) - len(typed),
        }
    )
    return Said(decided, typed, +lost)


def _read_entity(raw: object) -> EntityItem | None:
    try:
        return EntityItem.model_validate(raw)
    except ValidationError:
        return None


def _read_relation(raw: object) -> RelationItem | None:
    try:
        return RelationItem.model_validate(raw)
    except ValidationError:
        return None


def _suggest(item: RelationItem, other: str) -> RelationItem | None:
    if not other or fold_label(item.type) != fold_label(other):
        return item
    suggested = read_suggestion(item.suggested_type)
    return item.model_copy(update={"type": suggested}) if suggested else None


def _find_object(text: str) -> Mapping[str, Any] | None:
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            break
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if _has_shape(value):
            found: Mapping[str, Any] = value
            return found
        start = text.find("{", start + 1)
    return None


def _repair(text: str) -> Mapping[str, Any] | None:
    start = text.find("{")
    if start < 0 or len(text) > _REPAIRED_CHARS or _depth(text) > _REPAIRED_DEPTH:
        return None
    try:
        value = json_repair.loads(text[start:])
    except Exception:  # noqa: BLE001 - whatever a repair stumbles over, it has repaired nothing
        return None
    return next((one for one in _candidates(value) if _has_shape(one)), None)


def _candidates(value: object) -> Iterator[Any]:
    yield value
    if isinstance(value, list):
        yield from value


def _has_shape(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("entities"), list):
        return False
    relations = value.get("relationships")
    return not relations or isinstance(relations, list)


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    return deepest
