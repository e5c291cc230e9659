"""How a table is to be read: which column is the key, what its rows are, and what they point at."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import ValidationError

from pipeline.errors import TableInvalid
from pipeline.ids import fingerprint
from pipeline.ontology.types import EntityType

# Raise it when a rule in this folder changes what a table says.
_RULES_VERSION = "1"
_NOT_WORD = re.compile(r"[\W_]+")
_ID_SUFFIX = "_ID"


@dataclass(frozen=True, slots=True)
class TableOrder:
    """What the rows of a table are. Raises `TableInvalid` where that cannot be.

    `refs` maps columns that hold another row's key to the label of that row; '' as `name` is the key.
    """

    label: str
    key: str
    name: str = ""
    refs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check words that stand for labels and relation types."""
        if not self.key.strip():
            raise TableInvalid("Name the column that holds each row's key (--key COLUMN).")
        for label in (self.label, *self.refs.values()):
            _check_label(label)
        for column in self.refs:
            if not relation_type(column):
                raise TableInvalid(f"The column {column!r} has no letter or digit to name a relation after. Rename it.")

    def spell(self) -> str:
        """Give the form that travels in a manifest."""
        row = {"label": self.label, "key": self.key, "name": self.name, "refs": dict(self.refs)}
        return orjson.dumps(row, option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def parse(cls, text: str) -> "TableOrder":
        """Read what `spell` wrote."""
        return cls(**orjson.loads(text))

    @property
    def fingerprint(self) -> str:
        """Changes when the same table may say something else."""
        return fingerprint((_RULES_VERSION, self.spell()))


def relation_type(column: str) -> str:
    """Name the relation of a column that holds another row's key: `employer id` is EMPLOYER."""
    word = _NOT_WORD.sub("_", column).strip("_").upper()
    return word.removesuffix(_ID_SUFFIX) or word


def _check_label(label: str) -> None:
    try:
        checked = EntityType(label=label).label
    except ValidationError as error:
        raise TableInvalid(str(error.errors()[0]["msg"]).removeprefix("Value error, ") + ".") from None
    if checked != label:
        raise TableInvalid(f"Spell the label {label!r} as {checked!r}.")
