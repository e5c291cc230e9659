"""Composes windows, a model and its answers to an `Extractor`."""

from collections.abc import Sequence
from functools import cached_property

from pipeline import ids
from pipeline.adapters.gliner.answers import compose
from pipeline.adapters.gliner.files import check_model, identify_model, installed_version
from pipeline.adapters.gliner.model import load_model
from pipeline.adapters.gliner.prompts import write_prompts
from pipeline.config import GlinerConfig
from pipeline.models import Extraction
from pipeline.ontology import Ontology

READING_VERSION = "1"
"""Raised with every change here that may change a result."""


class GlinerExtractor:
    """Finds the ontology's types in passages by a GLiNER2 model on this machine, without a service or a key.

    Relations are found only where the ontology declares types for them. Built cheaply; the model is loaded when the
    first passage is read, once in a process. Raises `ModelUnavailable` where packages or the model's folder are
    missing.
    """

    def __init__(self, config: GlinerConfig) -> None:
        check_model(config.model)
        self._config = config

    def _tell_apart(self) -> str:
        """Hash the model's files, the threshold and the package."""
        identity = identify_model(self._config.model)
        parts = (READING_VERSION, installed_version(), identity, f"threshold={self._config.threshold}")
        return ids.fingerprint(("gliner", *parts))

    # Only when asked for, as weights are large.
    fingerprint = cached_property(_tell_apart)

    def extract(self, texts: Sequence[str], ontology: Ontology) -> list[Extraction]:
        """Read passages, long ones in overlapping windows; the result runs parallel to `texts`.

        Raises `ModelUnavailable` where the model cannot be loaded, and `PromptTooLong` where the ontology's types
        leave no room for text.
        """
        if not any(text.strip() for text in texts):
            return [Extraction() for _ in texts]
        model, prompts = load_model(self._config.model), write_prompts(ontology)
        windows = model.cut(texts, prompts)
        stretches = [
            text[window.start : window.end] for text, cut in zip(texts, windows, strict=True) for window in cut
        ]
        answers = iter(model.read(stretches, prompts, self._config.threshold))
        return [
            compose(text, [(window, next(answers)) for window in cut], prompts)
            for text, cut in zip(texts, windows, strict=True)
        ]
