"""Makes extractors and embedders of a user's own functions and classes, named as `module:attribute`."""

import hashlib
import importlib
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from numbers import Integral, Real
from pathlib import Path
from typing import Any, cast

from pipeline.adapters.services import calling_service
from pipeline.embed import check_vectors, check_width
from pipeline.errors import EmbeddingInvalid, ModelOutputInvalid, ModelUnavailable, TransientError
from pipeline.extract import Drop
from pipeline.ids import fingerprint
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import Ontology
from pipeline.ports import CallingExtractor, Embedder, Extractor, Vectors

type ExtractFunction = Callable[[str], tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]
"""Gives entities (`name`, and `type`, `description`, `start`, `end`, `score`, `properties`) and relations (`source`,
`target`, `type`, and `source_type`, `target_type`, `description`, `span_start`, `span_end`)."""

type EmbedFunction = Callable[[list[str]], Sequence[Sequence[float]]]

# The usual type first: an abstract one is asked several times as long.
_MAPPING = (dict, Mapping)
_WHOLE = (int, Integral)
_NUMBER = (float, Real)
_NOWHERE = -1
_PROBE = "A sentence that is embedded to learn the width of the vectors."


class CallableExtractor:
    """An extractor around a function of one text; what it names is grounded later by `pipeline.extract`."""

    def __init__(self, function: ExtractFunction, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._function = function

    def extract(self, texts: Sequence[str], ontology: Ontology) -> list[Extraction]:  # noqa: ARG002 - the port's
        """Call the function once for each text.

        Raises `ModelOutputInvalid` for another kind of answer, and `ModelBusy` where a service behind it is.
        """
        return [self._extract_one(text) for text in texts]

    def _extract_one(self, text: str) -> Extraction:
        with calling_service("the extract function"):
            answer = self._function(text)
        match answer:
            case (list() | tuple() as entities, list() | tuple() as relations):
                pass
            case other:
                raise ModelOutputInvalid(
                    f"an extract function must return (entities, relations), two lists of mappings, not {_kind(other)}"
                )
        mentions = tuple(mention for item in entities if (mention := _mention(item)) is not None)
        joined = tuple(relation for item in relations if (relation := _relation(item)) is not None)
        invalid = len(entities) + len(relations) - len(mentions) - len(joined)
        return Extraction(mentions, joined, {Drop.INVALID_ITEM.value: invalid} if invalid else {})


class CallableEmbedder:
    """An embedder around a function of a list of texts; vectors are scaled to length 1.

    Calls the function once to learn the dimension. Raises `EmbeddingInvalid` for vectors that
    cannot be used, and `ModelBusy` where a service behind it is.
    """

    def __init__(self, function: EmbedFunction, model_id: str) -> None:
        self.model_id = model_id
        self._function = function
        self.dimension = 0
        self.dimension = int(self.embed([_PROBE]).shape[1])
        check_width(self)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: float32, shape (len(texts), dimension), L2 norm 1."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = _ask(self._function, texts, self.model_id)
        if vectors.ndim != 2 or vectors.shape[0] != len(texts) or vectors.shape[1] == 0:  # noqa: PLR2004 - a table
            raise EmbeddingInvalid(f"{self.model_id} gave an array of shape {vectors.shape} for {len(texts)} texts")
        if self.dimension and vectors.shape[1] != self.dimension:
            raise EmbeddingInvalid(
                f"{self.model_id} gave vectors of width {vectors.shape[1]}, but {self.dimension} before"
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingInvalid(f"{self.model_id} gave vectors with NaN or infinite numbers")
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not lengths.all():
            nth = int(np.flatnonzero(lengths == 0)[0])
            raise EmbeddingInvalid(f"{self.model_id} gave a zero vector for {texts[nth][:60]!r}")
        return (vectors / lengths).astype(np.float32)


def load_attribute(name: str) -> object:
    """Import what `module:attribute` names; raises `ModelUnavailable` that says what to change."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ModelUnavailable(f"{name!r} does not name an object; write it as module:attribute")
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ModelUnavailable(
            f"{name!r} needs the module {error.name!r}, which is not installed; "
            "install it, or put its folder on PYTHONPATH for every worker"
        ) from error
    except ImportError as error:
        raise ModelUnavailable(f"the module of {name!r} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        # Whatever it does when it is imported, it is the user's to mend.
        reason = f"{type(error).__name__}: {error}"
        raise ModelUnavailable(f"the module of {name!r} cannot be imported, correct it: {reason}") from error
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise ModelUnavailable(f"the module {module_name!r} has no {attribute!r}; correct {name!r}") from error
    return found


def as_extractor(found: object, name: str) -> Extractor | CallingExtractor:
    """Give an extractor of either port: the object itself, an instance of the class, or a wrapped function.

    `name` is the object's `module:attribute`. Raises `ModelUnavailable` for anything else.
    """
    built = found() if inspect.isclass(found) else found
    can_extract = any(callable(getattr(built, way, None)) for way in ("extract", "extract_each"))
    if can_extract and isinstance(getattr(built, "fingerprint", None), str):
        return cast("Extractor | CallingExtractor", built)
    if callable(built):
        return CallableExtractor(built, source_fingerprint(name))
    raise ModelUnavailable(
        f"{name!r} is {_kind(built)}; an extractor is a function extract(text), "
        "or an object with a fingerprint and extract(texts, ontology) or extract_each(texts, ontology)"
    )


def as_embedder(found: object, name: str) -> Embedder:
    """Give an `Embedder`: the object itself, an instance of the class, or a wrapped function.

    `name` is the object's `module:attribute`. Raises `ModelUnavailable` for anything else, and `EmbeddingInvalid`
    for one whose vectors cannot be stored: it is asked for one, lest that shows after everything has been written.
    """
    built = found() if inspect.isclass(found) else found
    if callable(getattr(built, "embed", None)) and all(hasattr(built, given) for given in ("model_id", "dimension")):
        embedder = cast("Embedder", built)
        # A service that is away now may be there when it is needed.
        with suppress(TransientError):
            check_vectors(_ask(embedder.embed, [_PROBE], embedder.model_id), 1, embedder)
        return embedder
    if callable(built):
        return CallableEmbedder(built, f"python:{name}@{source_fingerprint(name)[:12]}")
    raise ModelUnavailable(
        f"{name!r} is {_kind(built)}; an embedder is a function embed(texts), "
        "or an object with embed(texts), model_id and dimension"
    )


def _ask(embed: Callable[[list[str]], Any], texts: Sequence[str], model_id: str) -> Vectors:
    import numpy as np

    try:
        with calling_service(model_id):
            return np.asarray(embed(list(texts)), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingInvalid(f"{model_id} gave no table of numbers: {error}") from error


def source_fingerprint(name: str) -> str:
    """Fingerprint what `module:attribute` names: the name, and the bytes of the module's file if it has one.

    The place of the file stays out: hosts may keep it in different folders.
    """
    file = getattr(sys.modules.get(name.partition(":")[0]), "__file__", None)
    source = Path(file) if file else None
    digest = hashlib.sha256(source.read_bytes()).hexdigest() if source and source.is_file() else ""
    return fingerprint(("python", name, digest))


def _mention(item: object) -> Mention | None:
    if not isinstance(item, _MAPPING):
        return None
    get = item.get
    if not isinstance(name := get("name"), str):
        return None
    return Mention(
        name=name,
        type=_text(get("type")),
        start=_offset(get("start")),
        end=_offset(get("end")),
        description=_text(get("description")),
        score=_score(get("score", 1.0)),
        properties=_properties(get("properties")),
    )


def _relation(item: object) -> Relation | None:
    if not isinstance(item, _MAPPING):
        return None
    get = item.get
    source, target, rel_type = get("source"), get("target"), get("type")
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(rel_type, str)):
        return None
    return Relation(
        source=source,
        source_type=_text(get("source_type")),
        target=target,
        target_type=_text(get("target_type")),
        type=rel_type,
        description=_text(get("description")),
        start=_offset(get("span_start")),
        end=_offset(get("span_end")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _offset(value: object) -> int:
    return int(value) if isinstance(value, _WHOLE) else _NOWHERE


def _score(value: object) -> float:
    return float(value) if isinstance(value, _NUMBER) and math.isfinite(value) else 1.0


def _properties(given: object) -> str:
    """Spell properties as JSON; which of them are declared, and what they mean, is seen to in grounding."""
    if given is None or not isinstance(given, _MAPPING):
        return ""
    named = {name: value for name, value in given.items() if isinstance(name, str)}
    try:
        return json.dumps(named, sort_keys=True, skipkeys=True, default=_as_json) if named else ""
    except (TypeError, ValueError, RecursionError):
        return ""


def _as_json(value: object) -> object:
    """Give a date or a number of an array as JSON has it; anything else is no value."""
    import numpy as np

    if isinstance(value, date):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else None


def _kind(value: object) -> str:
    return f"an object of type {type(value).__name__}"
