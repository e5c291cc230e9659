"""The parts that settings name (extractor, judge, embedder), without what works with them.

Part of the wiring, so it names adapters. A command checks them before it starts workers: what it loads for that, the
user waits for.
"""

from pipeline.adapters.callables import as_embedder, load_attribute
from pipeline.errors import ModelUnavailable
from pipeline.ports import Embedder
from workers.extractors import check_extractor
from workers.settings import Settings

_BUNDLED = "bundled:minilm-int8"


def build_embedder(settings: Settings) -> Embedder:
    """Make the configured embedder."""
    uri = settings.embed.embedder
    kind, _, rest = uri.partition(":")
    if uri == _BUNDLED:
        from pipeline.adapters.minilm import MiniLmEmbedder

        return MiniLmEmbedder()
    if kind == "python":
        return as_embedder(load_attribute(rest), uri)
    raise ModelUnavailable(
        f"There is no embedder {uri!r}. Set GRAPHMILL_EMBED__EMBEDDER to {_BUNDLED} or python:module:attribute."
    )


def check_parts(settings: Settings) -> None:
    """Raise what is wrong with the configured parts (extractor, ontology, judge, embedder), before they are used."""
    check_extractor(settings, settings.recipe)
    if settings.judge == "llm":
        from workers.judges import check_judge

        check_judge(settings)
    if settings.embed.embedder != _BUNDLED:
        build_embedder(settings)
