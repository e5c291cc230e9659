"""Language models by litellm: prices, ways to ask for JSON, one call within a deadline, and what its failure means."""

from pipeline.adapters.chat.library import preload
from pipeline.adapters.chat.model import LitellmChat
from pipeline.adapters.chat.prices import Prices

__all__ = ["LitellmChat", "Prices", "preload"]
