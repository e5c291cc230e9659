"""Loads a GLiNER model, once in a process and only when a text is to be read, and asks it."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from pipeline.adapters.gliner.files import FIX, PACKAGE, check_model, find_folder
from pipeline.adapters.gliner.prompts import Prompts
from pipeline.adapters.gliner.windows import Window, Word, cut_windows, pieces
from pipeline.errors import ModelUnavailable, PromptTooLong, is_time_limit

MAX_WORDS = 384
"""Words in one window: as many as gliner2 itself takes of long texts at once."""
MAX_TOKENS = 1_024
"""Tokens in one window, for text that is hardly words: attention takes memory by the square of them."""
LEAST_TOKENS = 64
"""With less room for text beside the types, windows would hold no sentence."""
BATCH_WINDOWS = 1
"""Measured on one thread, a model of base size, words per CPU-second: 108 one by one, 86 by twos, 57 by eights.

So nothing is padded, and a text's result cannot depend on its batch mates, not even in the last digit.
"""

_loaded: dict[str, "GlinerModel"] = {}
_loading = Lock()


class GlinerModel:
    """One model in memory, for one thread at a time; `load_model` makes it."""

    def __init__(self, name: str, model: Any) -> None:
        self._name = name
        self._model = model
        self._lock = Lock()

    def cut(self, texts: Sequence[str], prompts: Prompts) -> list[list[Window]]:
        """Cut passages into what the model reads at once beside the types; none for a blank one.

        Raises `PromptTooLong` where the types leave no room.
        """
        with self._lock:
            max_words = min(MAX_WORDS, self._model.config.max_len or MAX_WORDS)
            room = self._room(prompts)
            return [list(cut_windows(text, list(self._split(text, room)), max_words, room)) for text in texts]

    def read(self, texts: Sequence[str], prompts: Prompts, threshold: float) -> list[Mapping[str, Any]]:
        """Find entities and relations in texts that fit; answers run parallel to `texts`."""
        with self._lock:
            answers: list[Mapping[str, Any]] = self._model.batch_extract(
                list(texts),
                self._schema(prompts),
                batch_size=BATCH_WINDOWS,
                threshold=threshold,
                include_confidence=True,
                include_spans=True,
                # Names must not overlap across types either, so that is settled later, for all types at once.
                overlap_policy="allow",
            )
        return answers

    def _schema(self, prompts: Prompts) -> Any:
        schema = self._model.create_schema().entities(_described(prompts.entities))
        return schema.relations(_described(prompts.relations)) if prompts.relations else schema

    def _room(self, prompts: Prompts) -> int:
        """Tell how many tokens of text the model takes beside the types."""
        limit = self._limit()
        if limit is None:
            return MAX_TOKENS
        # An empty text becomes a full stop, as is put behind each that has none.
        asked = len(self._model.processor.transform_record("", self._schema(prompts)).input_ids)
        if limit - asked < LEAST_TOKENS:
            raise PromptTooLong(
                f"The types of the ontology and their descriptions take {asked} of the {limit} tokens that the GLiNER "
                f"model {self._name!r} reads at once; declare fewer types, shorten descriptions, or use another model."
            )
        return min(MAX_TOKENS, limit - asked)

    def _limit(self) -> int | None:
        """Tell how many tokens the encoder takes at once; None where it knows distances only, no positions."""
        config = self._model.encoder.config
        positions = getattr(config, "max_position_embeddings", None)
        if positions is None or getattr(config, "position_biased_input", True) is False:
            return None
        # Some encoders keep two positions to themselves.
        return int(min(positions - 2, self._model.processor.tokenizer.model_max_length))

    def _split(self, text: str, room: int) -> Iterator[Word]:
        tokenize = self._model.processor.tokenizer.tokenize
        for token, start, end in self._model.processor.word_splitter(text, lower=True):
            count = len(tokenize(token))
            if count <= room:
                yield Word(start, end, count)
                continue
            for piece in pieces(start, end, room):
                yield Word(*piece, len(tokenize(text[slice(*piece)].lower())))


def load_model(name: str) -> GlinerModel:
    """Give the process's model of that name; raises `ModelUnavailable` with the fix.

    Several seconds of work and a gigabyte or two, so nothing is imported before the first call.
    """
    with _loading:
        if name not in _loaded:
            _loaded[name] = GlinerModel(name, _load(name))
        return _loaded[name]


def _load(name: str) -> Any:
    check_model(name)
    try:
        # One thread: workers scale by processes, and sums come out the same on every host.
        import_module("torch").set_num_threads(1)
        return import_module(PACKAGE).AutoExtractor.from_pretrained(str(find_folder(name) or name))
    except Exception as error:
        # Whatever a hub's client, a file or a package raises: without a model nothing can be read.
        if is_time_limit(error) or isinstance(error, MemoryError):
            raise
        raise ModelUnavailable(f"GLiNER model {name!r} cannot be loaded ({_say(error)}); {FIX}") from error


def _described(words: Mapping[str, str]) -> dict[str, Any]:
    return {word: description or {} for word, description in words.items()}


def _say(error: Exception) -> str:
    """Shorten an error to one line: those of hubs are pages long."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
