"""Which extractor reads the passages of a run: part of the wiring, so it names adapters."""

import gc
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from operator import itemgetter
from typing import TYPE_CHECKING

from pipeline.adapters.callables import as_extractor, load_attribute
from pipeline.config import RecipeConfig
from pipeline.errors import ModelUnavailable
from pipeline.ports import ArtifactStore, CallingExtractor, ChatModel, Extractor
from workers.settings import Settings

if TYPE_CHECKING:
    from pipeline.llm import LlmExtractor

# What one extractor alone needs is loaded with it: a command that starts workers checks which one is set.

EXTRACTOR_GROUP = "graphmill.extractors"
_MOST_THREADS = 256
"""Calls that one process has under way at most: each takes a thread."""

type Gate = Callable[[Sequence[ChatModel]], ChatModel]
"""Makes one model of the first choice and its fallbacks, which may be called as the limits allow."""


def list_extractors(settings: Settings) -> list[str]:
    """Name the extractors that runs may ask this process for: those installed, and the one configured here.

    Any other `module:attribute` is refused: a run must not choose what code a worker imports.
    """
    from pipeline.adapters.gliner import is_installed

    of_gliner = {"gliner", "hybrid"} if is_installed() else set()
    named = {point.name for point in entry_points(group=EXTRACTOR_GROUP)}
    return sorted({"llm", *of_gliner, *named, settings.extractor})


def build_extractor(
    settings: Settings, config: RecipeConfig, gate: Gate, store: ArtifactStore | None = None
) -> Extractor | CallingExtractor:
    """Make the extractor of a recipe: one of ours, an entry point, or `module:attribute` if it is the configured one.

    `store` keeps what was answered of passages that take several calls. Models are loaded on first use.
    Raises `ModelUnavailable` with what to change.
    """
    match config.extractor:
        case "llm":
            return _build_llm(settings, config, gate, store)
        case "gliner":
            from pipeline.adapters.gliner import GlinerExtractor

            return GlinerExtractor(config.gliner)
        case "hybrid":
            from pipeline.adapters.gliner import GlinerExtractor
            from pipeline.llm.hybrid import HybridExtractor

            model = _build_llm(settings, config, gate, store)
            return HybridExtractor(GlinerExtractor(config.gliner), model, config.gliner.unsure_below)
        case name:
            return _build_named(settings, name)


def check_extractor(settings: Settings, config: RecipeConfig) -> None:
    """Raise what is wrong with the extractor of a recipe, before anything relies on it."""
    build_extractor(settings, config, itemgetter(0))


def price_tokens(settings: Settings, config: RecipeConfig) -> Callable[[int, int], float | None]:
    """Give what tells the price of prompt and answered tokens in US dollars, None where it is unknown."""
    from pipeline.adapters.chat import Prices

    return Prices(config.llm.model, settings.calls).usd


def preload_models() -> None:
    """Import what language models need, seconds and megabytes, before the pool forks: its processes share it."""
    from pipeline.adapters.chat import preload

    preload()
    gc.collect()
    gc.freeze()


def open_models(settings: Settings, config: RecipeConfig) -> list[ChatModel]:
    """Give the language models of a recipe, the first choice first; nothing is called or imported by that."""
    from pipeline.adapters.chat import LitellmChat

    if not config.llm.model:
        raise ModelUnavailable(
            f"The extractor {config.extractor} needs a language model: set GRAPHMILL_LLM__MODEL, as "
            "openai/gpt-4o-mini, or openai/NAME with GRAPHMILL_CALLS__API_BASE for a server of your own."
        )
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    names = config.llm.models
    # Another provider must not be told it; its own variable has its own.
    keys = [key if _provider(name) == _provider(config.llm.model) else "" for name in names]
    return [
        LitellmChat(name, settings.calls, config.llm.temperature, own) for name, own in zip(names, keys, strict=True)
    ]


def _provider(model: str) -> str:
    return model.partition("/")[0] if "/" in model else ""


def _build_llm(settings: Settings, config: RecipeConfig, gate: Gate, store: ArtifactStore | None) -> "LlmExtractor":
    from pipeline.llm import LlmExtractor

    threads = min(settings.calls.in_flight, _MOST_THREADS)
    return LlmExtractor(gate(open_models(settings, config)), config.llm, threads, store)


def _build_named(settings: Settings, name: str) -> Extractor | CallingExtractor:
    if ":" in name and name == settings.extractor:
        return _load_own(name)
    found = entry_points(group=EXTRACTOR_GROUP, name=name)
    if not found:
        raise ModelUnavailable(
            f"There is no extractor {name!r} here. Set GRAPHMILL_EXTRACTOR, also of the workers, to one of "
            f"{', '.join(one for one in list_extractors(settings) if one != name)}, or to module:attribute."
        )
    return _load_installed(name)


@cache
def _load_own(name: str) -> Extractor | CallingExtractor:
    return as_extractor(load_attribute(name), name)


@cache
def _load_installed(name: str) -> Extractor | CallingExtractor:
    return as_extractor(next(iter(entry_points(group=EXTRACTOR_GROUP, name=name))).load(), name)
